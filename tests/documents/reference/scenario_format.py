"""The page of the scenario format."""

from collections.abc import Iterator

from tests.documents.reference.markdown import code, codes, page, sentence, table
from tests.documents.reference.scenario_keys import (
    CLASSES,
    TOP,
    Key,
    Kind,
    levels,
    required,
    takes_resources,
)

_INTRO = """\
# Scenario format

Every key of a scenario file. [Write policy tests](../how-to/policy-tests.md) has an example, and [scenario
rules](../specification/scenario-rules.md)
the order in which things happen.

[`scenario.schema.json`](scenario.schema.json) is the same as a JSON schema, for editors. The reader checks
more than the schema can say:
names that must exist, keys that need each other, and the order of steps.

- A *duration* is written as in Go: `0s`, `1500ms`, `1m30s`.
- A *quantity* is written as in Kubernetes: `2`, `500m`, `16Gi`.
- A *text* may also be a plain number or a plain `true`.
- `[]` stands for an entry of a list, and `*` for any name."""

_MEMBERS = """\
Members that a subset may name, read as in [FORMAT-11](../specification/scenario-rules.md#format-11):"""


def scenario_page() -> str:
    return page(_INTRO, *(part for level in _ordered() for part in _section(level)))


def _ordered() -> list[str]:
    """The levels, each before those below it."""
    return [*CLASSES, *(level for level in levels() if level not in CLASSES)]


def _section(level: str) -> Iterator[str]:
    yield f"## {level.replace('*', 'NAME') or 'The file'}"
    before = next(each for each in _ordered() if CLASSES.get(each) is CLASSES.get(level))
    if level not in CLASSES:
        yield f"{_MEMBERS}\n\n{codes(key.name for key in levels()[level])}"
    elif before != level:
        yield f"Keys are those of {code(before)}."
    else:
        rows = [
            (code(key.name), _taken(key), _needed(level, key), sentence(key.meaning))
            for key in levels()[level]
        ]
        yield table(("key", "value", "required", "meaning"), rows)
        if level != TOP and takes_resources(level):
            yield "Any other resource is a key, too, such as `nvidia.com/gpu`."


def _taken(key: Key) -> str:
    if key.kind is Kind.CHOICE:
        return codes(word for word in key.choices if word) + (", or empty" if "" in key.choices else "")
    return key.kind.value


def _needed(level: str, key: Key) -> str:
    return "yes" if key.name in required(level) else ""
