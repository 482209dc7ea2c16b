"""Types of the values in a scenario file: how pydantic reads each, and the message for a wrong one.

Only YAML values and Kubernetes' names and amounts are known here, not the meaning of a scenario.
"""

import difflib
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

from pydantic import PlainValidator, TypeAdapter, ValidationError, WrapValidator
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError

from core.errors import QuantityError
from core.quantity import kubernetes_amount
from extender.queueconfig.document import ListValue, MapValue, QuotedText, Value
from extender.queueconfig.problems import Location, cut, shown
from extender.simulator.scenario.scalars import (
    LONGEST_NAME,
    RESOURCE,
    SWITCHES,
    is_label,
    is_name,
    is_slip,
    milliseconds_of,
    plain,
    whole_number,
)
from extender.wire.placeholder import is_label_value

T = TypeVar("T")
Found = tuple[Location, str]
"""A mistake: its place below the value that is read, and the message."""

MOST_MISTAKES = 200
LONGEST_PATTERN = 1000

OF_WHOLE = object()
"""The mark of a field whose validator gets the whole mapping."""

Given = Mapping[str, Any]
"""An entry that stays a mapping: the keys of the file, in the order of its class."""


class Named(NamedTuple):
    """Name that a step mentions."""

    #: The name.
    name: str
    #: Line of the name in the file.
    line: int


class Placed(MapValue):
    """A mapping with its line in the file. ``names``: those that the entry gives its objects."""

    __slots__ = ("line", "names")

    def __init__(self, value: MapValue, line: int) -> None:
        super().__init__()
        self.update({key: placed(below, value.lines[key]) for key, below in value.items()})
        self.lines, self.line = value.lines, line
        self.names: tuple[str, ...] = ()


def placed(value: Value, line: int) -> Value:
    """A copy of a value in which every mapping has its line."""
    if isinstance(value, MapValue):
        return Placed(value, line)
    if isinstance(value, ListValue):
        made = ListValue()
        made.extend(placed(below, at) for below, at in zip(value, value.lines, strict=True))
        made.lines = value.lines
        return made
    return value


def wrong(message: str) -> PydanticCustomError:
    """Error for a validator to raise."""
    return PydanticCustomError("wrong", "{message}", {"message": message})


def refuse(found: Iterable[Found]) -> None:
    """Raise ValidationError if anything was found."""
    errors = [InitErrorDetails(type=wrong(message), loc=at, input=None) for at, message in found]
    if errors:
        raise ValidationError.from_exception_data("", errors)


_SHAPES = {"dict_type": "must be a mapping", "tuple_type": "must be a list"}


def collected(
    read: Callable[[Any], T], value: Any, keys: Mapping[str, str] = MappingProxyType({})
) -> tuple[T | None, list[Found]]:
    """The result of ``read``, with its mistakes collected, so that others can be added."""
    try:
        return read(value), []
    except ValidationError as error:
        return None, list(found_in(error, keys))


def found_in(error: ValidationError, keys: Mapping[str, str] = MappingProxyType({})) -> Iterator[Found]:
    """Mistakes that pydantic found, in the terms of this format.

    ``keys``: the key in the file for each field of an entry, "" for a field read from the whole.
    """
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        at = each["loc"]
        if at and at[0] in keys:
            key = keys[str(at[0])]
            at = (key, *at[1:]) if key else at[1:]
        if each["type"] == "missing":
            yield at[:-1], f"{at[-1]} is missing"
        else:
            yield at, _SHAPES.get(each["type"], each["msg"])


Check = Callable[[Placed], Iterable[Found]]


def entry(
    kind: type,
    *more: str,
    also: Callable[[str], bool] = lambda _: False,
    check: Check = lambda _: (),
    last: Check = lambda _: (),
) -> WrapValidator:
    """A validator of a mapping with the keys of ``kind``, ``more``, and those for which ``also`` is true.

    ``check``, ``last``: find further mistakes, reported before and after unknown keys.
    """
    hints = get_type_hints(kind, include_extras=True)
    whole = {name for name, hint in hints.items() if OF_WHOLE in getattr(hint, "__metadata__", ())}
    keys = {name: "" if name in whole else to_camel(name) for name in hints}
    known = {*more, *keys.values()} - {""}

    def read(value: Any, handler: Callable[[Any], Any]) -> Any:
        below = {
            name: value if name in whole else value[key]
            for name, key in keys.items()
            if not key or key in a_mapping(value)
        }
        made, found = collected(handler, below, keys)
        refuse([*found, *check(value), *unknown_keys(value, known | set(filter(also, value))), *last(value)])
        return made

    return WrapValidator(read)


def as_given(kind: Any, last: Check = lambda _: ()) -> PlainValidator:
    """A validator like `entry`, for an entry that stays a mapping."""
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[kind, entry(kind, last=last)])

    def read(value: Any) -> Given:
        made = asdict(adapter.validate_python(value))
        return {to_camel(name): each for name, each in made.items() if each is not None}

    return PlainValidator(read)


def entries(check: Callable[[ListValue], Iterable[Found]]) -> WrapValidator:
    """A validator of a list whose items are also compared with each other."""

    def read(value: Any, handler: Callable[[Any], Any]) -> Any:
        made, found = collected(handler, value)
        beside = check(value) if isinstance(value, ListValue) else ()
        refuse(sorted([*found, *beside], key=lambda each: each[0][:1]))
        return made

    return WrapValidator(read)


def unknown_keys(value: MapValue, known: Collection[str]) -> Iterator[Found]:
    """A mistake for each key that is not known, with the nearest known one."""
    names = sorted(known)
    unknown = (key for key in value if key not in known)
    for key in islice(unknown, MOST_MISTAKES):
        near = difflib.get_close_matches(cut(key, LONGEST_NAME), names, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; known here: {', '.join(names)}"
        yield (key,), f"unknown key {shown(key)}{hint}"


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong("must be text")
    return str(value)


def required(value: Any) -> str:
    """A text that is not empty."""
    if value == "":
        raise wrong("must not be empty")
    return text(value)


def object_name(value: Any) -> str:
    """The name of a Kubernetes object."""
    found = required(value)
    if not is_name(found):
        raise wrong(f"{shown(found)} is not a name: small letters, digits, - and . only, 253 at most")
    return found


def _namespace(value: Any) -> str:
    found = text(value)
    if not is_label(found):
        raise wrong(f"{shown(found)} is not a name")
    return found


def _node(value: Any) -> str:
    found = text(value)
    if not is_name(found):
        raise wrong(f"{shown(found)} is not the name of a node")
    return found


def _label(value: Any) -> str:
    found = text(value)
    if not is_label_value(found):
        raise wrong("must be a label value: letters, digits, -, _ and . only, 63 at most")
    return found


def in_range(least: int, most: int) -> Callable[[Any], int]:
    """A reader of a whole number within two bounds."""

    def read(value: Any) -> int:
        found = whole_number(value)
        if found is None or not least <= found <= most:
            raise wrong(f"must be a whole number from {least} to {most}")
        return found

    return read


def number(least: int, most: int) -> PlainValidator:
    """A validator of a whole number within two bounds."""
    return PlainValidator(in_range(least, most))


def switch(value: Any) -> bool:
    """A switch: ``true`` or ``false``."""
    if not isinstance(value, str) or isinstance(value, QuotedText) or value not in SWITCHES:
        raise wrong("must be true or false")
    return SWITCHES[value]


def is_true(value: Any) -> bool:
    """True if a value is a switch that is on."""
    return isinstance(value, str) and not isinstance(value, QuotedText) and SWITCHES.get(value, False)


def _duration(value: Any) -> int:
    milliseconds = milliseconds_of(value) if isinstance(value, str) else None
    if milliseconds is None:
        raise wrong("must be a duration in whole milliseconds such as 30s, 1m30s or 250ms")
    return milliseconds


def choice(*choices: str) -> PlainValidator:
    """A validator of one text among several."""

    def read(value: Any) -> str:
        found = text(value)
        if found not in choices:
            raise wrong(f"must be one of {', '.join(choice for choice in choices if choice)}")
        return found

    return PlainValidator(read)


def _pattern(value: Any) -> str:
    found = text(value)
    if len(found) > LONGEST_PATTERN:
        raise wrong(f"a regular expression has at most {LONGEST_PATTERN} characters")
    try:
        # Python warns of patterns that it may read differently one day. Their meaning today counts.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(found)
    except (re.error, RecursionError, OverflowError) as error:
        raise wrong(f"not a regular expression: {error}") from error
    return found


def tried(read: Callable[[Any], T], value: Any, at: str, found: list[Found]) -> T | None:
    """The result of ``read``, or None with one more mistake in ``found``."""
    try:
        return read(value)
    except PydanticCustomError as error:
        found.append(((at,), error.message()))
    except ValidationError as error:
        found += (((at, *below), message) for below, message in found_in(error))
    return None


def mapping(read: Callable[[Any], Any]) -> PlainValidator:
    """A mapping whose values are read alike."""

    def every(value: Any) -> dict[str, Any]:
        found: list[Found] = []
        made = {key: tried(read, below, key, found) for key, below in a_mapping(value).items()}
        refuse(found)
        return made

    return PlainValidator(every)


def _names(value: Any) -> tuple[Named, ...]:
    if not isinstance(value, ListValue):
        raise wrong("must be a list")
    refuse(((at,), "must be a name") for at, each in enumerate(value) if not (isinstance(each, str) and each))
    return tuple(Named(str(each), line) for each, line in zip(value, value.lines, strict=True))


def a_mapping(value: Any) -> Any:
    """A mapping."""
    if not isinstance(value, MapValue):
        raise wrong("must be a mapping")
    return value


def amount(value: Any) -> str:
    """A quantity as Kubernetes writes it."""
    try:
        kubernetes_amount("", str(value) if isinstance(value, str) else "")
    except QuantityError as error:
        raise wrong(f"not a quantity: {error}") from error
    return str(value)


def amounts(value: Any) -> dict[str, str]:
    """A mapping of resource names to quantities."""
    found: list[Found] = []
    known = {name for name in a_mapping(value) if RESOURCE.fullmatch(name) or not is_slip(name)}
    made = {name: tried(amount, below, name, found) or "" for name, below in value.items() if name in known}
    refuse([*found, *unknown_keys(value, known | {"cpu", "memory", "ephemeral-storage"})])
    return made


def _free_mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    """A list of mappings whose meaning only kube-scheduler or Paddock knows."""
    if not isinstance(value, ListValue):
        raise wrong("must be a list")
    refuse(((at,), "must be a mapping") for at, each in enumerate(value) if not isinstance(each, MapValue))
    return tuple(plain(each) for each in value)


Text = Annotated[str, PlainValidator(text)]
MaybeText = Annotated[str | None, PlainValidator(text)]
RequiredText = Annotated[str, PlainValidator(required)]
ObjectName = Annotated[str, PlainValidator(object_name)]
Namespace = Annotated[str, PlainValidator(_namespace)]
NodeRef = Annotated[str | None, PlainValidator(_node)]
Label = Annotated[str | None, PlainValidator(_label)]
Switch = Annotated[bool, PlainValidator(switch)]
MaybeSwitch = Annotated[bool | None, PlainValidator(switch)]
Duration = Annotated[int, PlainValidator(_duration)]
MaybeDuration = Annotated[int | None, PlainValidator(_duration)]
Pattern = Annotated[str | None, PlainValidator(_pattern)]
Names = Annotated[tuple[Named, ...], PlainValidator(_names)]
Texts = Annotated[Mapping[str, str], mapping(text)]
MaybeTexts = Annotated[Mapping[str, str] | None, mapping(text)]
FreeMappings = Annotated[tuple[Mapping[str, Any], ...] | None, PlainValidator(_free_mappings)]
Line = Annotated[int, PlainValidator(lambda value: value.line), OF_WHOLE]


def _plain_names(value: Any) -> tuple[str, ...]:
    return tuple(name for name, _ in _names(value))


def _names_or_counts(value: Any) -> tuple[str, ...] | Mapping[str, int]:
    """A list of names, or a number for each name."""
    if isinstance(value, ListValue):
        return _plain_names(value)
    if not isinstance(value, MapValue):
        raise wrong("must be a list of names, or a mapping of names to numbers")
    found: list[Found] = []
    read = in_range(0, MOST_COUNTED)
    made = {key: tried(read, below, key, found) or 0 for key, below in value.items()}
    refuse(found)
    return made


MOST_COUNTED = 10**9
"""Largest number that a scenario may expect."""

PlainNames = Annotated[tuple[str, ...], PlainValidator(_plain_names)]
MaybeNames = Annotated[tuple[str, ...] | None, PlainValidator(_plain_names)]
MaybeNamesOrCounts = Annotated[tuple[str, ...] | Mapping[str, int] | None, PlainValidator(_names_or_counts)]
