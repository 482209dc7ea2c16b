"""The page of the REST interface: routes, and the members of every answer."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec

from extender.rest.model.answer import Answer, Fault
from extender.rest.openapi import ANSWERS, QUERIES
from tests.documents.reference.markdown import code, codes, page, table

_INTRO = """\
# REST interface

YuniKorn's REST interface, as Paddock serves it on its admin port.
The [specification](../specification/rest.md) has the rules.
[The differences](differences.md#the-rest-interface) say where answers differ.
`/openapi.json` describes the interface for programs.

Until the cluster was read, and on an instance that does not lead, every route answers 503 with a `Fault`.
A member that is not always there is left out while it is empty."""

_ROUTES = """\
## Routes

Each is read with GET. `POST /ws/v1/validate-conf` gives a verdict on the document in its body.
`POST /ws/v1/compare-conf` also says what that document would change.
`/debug/fullstatedump` has all answers in one object, and `/debug/stack` the stacks of threads and tasks.
`/ws/v1/events/stream` writes one record a line after its first line, until the client goes."""

_KINDS = {
    "Amounts": "amounts",
    "Percentages": "percentages",
    "Texts": "texts by name",
    "Nanoseconds": "nanoseconds since 1970",
    "NanosecondSpan": "nanoseconds",
    "Milliseconds": "milliseconds since 1970",
    "Moment": "RFC 3339",
    "Duration": "duration such as `1m0s`",
    "Priority": "number as text",
    "Count": "number as text",
    "Usage": "amounts times seconds by instance type",
    "str": "text",
    "int": "number",
    "bool": "true or false",
}


def rest_page() -> str:
    """Every route with its answer, then every kind of answer with its members."""
    routes = [
        (code(path), f"list of {_link(struct)}" if many else _link(struct), codes(QUERIES.get(path, ())))
        for path, (struct, many) in sorted(ANSWERS.items())
    ]
    parts = [_INTRO, _ROUTES, table(("path", "answer", "query"), routes)]
    for struct in sorted(_structs(), key=lambda each: each.__name__):
        parts += [
            f"## {struct.__name__}",
            _described(struct),
            table(("member", "kind", "always", "meaning"), _rows(struct)),
        ]
    return page(*parts)


def _structs() -> set[type[Answer]]:
    found: set[type[Answer]] = set()
    wanted = [Fault, *(struct for struct, _ in ANSWERS.values())]
    while wanted:
        struct = wanted.pop()
        if struct not in found:
            found.add(struct)
            wanted += [each for hint in get_type_hints(struct).values() for each in _inside(hint)]
    return found


def _inside(hint: Any) -> Iterator[type[Answer]]:
    if isinstance(hint, type) and issubclass(hint, Answer):
        yield hint
    for each in get_args(hint):
        yield from _inside(each)


def _link(struct: type[Answer]) -> str:
    return f"[{struct.__name__}](#{struct.__name__.lower()})"


def _described(struct: type[Answer]) -> str:
    return re.sub(r"`([A-Za-z]+)`", r"`\1`", inspect.cleandoc(struct.__doc__ or "").partition("\n\n")[0])


def _rows(struct: type[Answer]) -> Iterator[tuple[str, str, str, str]]:
    source = textwrap.dedent(inspect.getsource(struct))
    comments = _comments(source)
    kinds = _annotations(source)
    for each in msgspec.structs.fields(struct):
        yield (
            code(each.encode_name),
            _kind(kinds[each.name]),
            "yes" if each.required else "",
            comments.get(each.name, ""),
        )


def _comments(source: str) -> dict[str, str]:
    """Text of the comment above each field."""
    found, text = {}, ""
    for line in source.splitlines():
        plain = line.strip()
        if plain.startswith("#:"):
            text = f"{text} {plain[2:].strip()}".strip()
        elif text and ":" in plain:
            found[plain.partition(":")[0]] = text
            text = ""
    return found


def _annotations(source: str) -> dict[str, str]:
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.ClassDef)
    return {
        each.target.id: ast.unparse(each.annotation)
        for each in made.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }


def _kind(annotation: str) -> str:
    plain = annotation.strip("'\"").removesuffix(" | None").strip("'\"")
    if plain in _KINDS:
        return _KINDS[plain]
    if plain.startswith("tuple["):
        inside = plain.removeprefix("tuple[").removesuffix(", ...]")
        return f"list of {_kind(inside)}{' or null' if inside.endswith(' | None') else ''}"
    if plain.startswith("dict["):
        return f"{_kind(plain.removesuffix(']').partition(', ')[2])} by name"
    if plain == "float":
        return "number"
    return f"[{plain}](#{plain.lower()})"
