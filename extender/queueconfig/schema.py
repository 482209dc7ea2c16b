"""The shape of a queue document (CFG 2.1): strict models, nothing of what the values mean together.

Every key YuniKorn knows is here, also those that nothing uses yet, so that a full document parses. Scalars
arrive as text and are decoded by the type of their field, with the spellings YuniKorn's parser takes:

- text: any scalar as written (``name: 007`` is "007"), null is "";
- switch: ``true``/``false`` and the YAML 1.1 words ``yes no on off y n``, null is false;
- count: an unsigned 64-bit integer (also ``0x10``, ``0o17``, ``1_000``, ``5.0``, ``1e3``; a leading 0 is
  octal, but 018 is eighteen), null is 0.
"""

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from extender.queueconfig.document import QuotedText

MAX_COUNT = 2**64 - 1
NODE_POLICIES = ("fair", "binpacking")

_CASES = (str.lower, str.capitalize, str.upper)
_TRUE = frozenset(case("true") for case in _CASES)
_FALSE = frozenset(case("false") for case in _CASES)
_YES = frozenset(case(word) for word in ("y", "yes", "on") for case in _CASES)
_NO = frozenset(case(word) for word in ("n", "no", "off") for case in _CASES)
_INTEGER = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))"
)
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MAX_DIGITS = 400


def _text(value: Any) -> Any:
    return "" if value is None else value


def _switch(value: Any) -> bool:
    if value is None:
        return False
    if isinstance(value, str):
        unquoted = not isinstance(value, QuotedText)
        if value in _YES or (unquoted and value in _TRUE):
            return True
        if value in _NO or (unquoted and value in _FALSE):
            return False
    raise PydanticCustomError("switch", "a switch; write true or false, without quotes")


def _count(value: Any) -> int:
    number: float | None = 0 if value is None else _integer(value)
    if number is None:
        number = _decimal(value)
    if number is None or not 0 <= number <= MAX_COUNT or number != int(number):
        raise PydanticCustomError("count", "a count; write a whole number from 0 to 2^64-1, without quotes")
    return int(number)


def _weight(value: Any) -> float:
    if value is None:
        return 0.0
    number: float | None = _integer(value)
    if number is None:
        number = _decimal(value)
    if number is None or abs(number) > MAX_COUNT:
        raise PydanticCustomError("weight", "a weight; write a number such as 1 or 2.5, without quotes")
    return float(number)


def _decimal(value: Any) -> float | None:
    if not _is_plain(value) or not _FLOAT.fullmatch(value.replace("_", "")):
        return None
    return float(value.replace("_", ""))


def _integer(value: Any) -> int | None:
    found = _INTEGER.fullmatch(value.replace("_", "")) if _is_plain(value) else None
    if found is None or found.lastgroup is None:
        return None
    number = int(str(found[found.lastgroup]), _BASES[found.lastgroup])
    return -number if found["sign"] == "-" else number


def _is_plain(value: Any) -> bool:
    if not isinstance(value, str) or isinstance(value, QuotedText):
        return False
    return len(value) <= _MAX_DIGITS and not value.startswith("_")


def _list(value: Any) -> Any:
    return [] if value is None else value


def _mapping(value: Any) -> Any:
    return {} if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Count = Annotated[int, BeforeValidator(_count)]
Weight = Annotated[float, BeforeValidator(_weight)]
Texts = Annotated[list[Text], BeforeValidator(_list)]
TextMap = Annotated[dict[str, Text], BeforeValidator(_mapping)]
Amounts = dict[str, Text]
"""Quantities by resource name, still text (CFG-3); whether they are quantities is CFG-22."""


class Section(BaseModel):
    """A mapping with fixed keys; an unknown key is an error (CFG-1). A null section is an empty one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Resources(Section):
    """None is an absent map, which CFG-7 tells from an empty one."""

    guaranteed: Amounts | None = None
    max: Amounts | None = None


class LimitEntry(Section):
    limit: Text = ""
    users: Texts = Field(default_factory=list)
    groups: Texts = Field(default_factory=list)
    maxresources: Annotated[Amounts, BeforeValidator(_mapping)] = Field(default_factory=dict)
    maxapplications: Count = 0


class ChildTemplate(Section):
    maxapplications: Count = 0
    properties: TextMap = Field(default_factory=dict)
    resources: Annotated[Resources, BeforeValidator(_mapping)] = Resources()

    @property
    def is_empty(self) -> bool:
        """True if it says nothing, and so is no template (TPL-1). Zeros are something."""
        maps = (self.properties, self.resources.guaranteed or {}, self.resources.max or {})
        return not self.maxapplications and not any(k and v for each in maps for k, v in each.items())


class QueueSection(Section):
    """No template and an empty one are the same (TPL-1); None keeps a large document small."""

    name: Text = ""
    parent: Switch = False
    resources: Annotated[Resources, BeforeValidator(_mapping)] = Resources()
    maxapplications: Count = 0
    properties: TextMap = Field(default_factory=dict)
    adminacl: Text = ""
    submitacl: Text = ""
    childtemplate: ChildTemplate | None = None
    queues: Annotated[list["QueueSection"], BeforeValidator(_list)] = Field(default_factory=list)
    limits: Annotated[list[LimitEntry], BeforeValidator(_list)] = Field(default_factory=list)


class RuleFilter(Section):
    type: Text = ""
    users: Texts = Field(default_factory=list)
    groups: Texts = Field(default_factory=list)


class PlacementRule(Section):
    name: Text = ""
    create: Switch = False
    filter: RuleFilter | None = None
    parent: "PlacementRule | None" = None
    value: Text = ""


class PreemptionSection(Section):
    """None means the default: preemption on, quota preemption off."""

    enabled: Switch | None = None
    quotapreemptionenabled: Switch | None = None


class NodeSortPolicy(Section):
    type: Text = ""
    resourceweights: Annotated[dict[str, Weight], BeforeValidator(_mapping)] = Field(default_factory=dict)


class UserGroupResolver(Section):
    type: Text = ""


class PartitionSection(Section):
    """``queues`` None is an absent list, which CFG-5 tells from an empty one."""

    name: Text = ""
    queues: list[QueueSection] | None = None
    placementrules: Annotated[list[PlacementRule], BeforeValidator(_list)] = Field(default_factory=list)
    limits: Annotated[list[LimitEntry], BeforeValidator(_list)] = Field(default_factory=list)
    preemption: Annotated[PreemptionSection, BeforeValidator(_mapping)] = PreemptionSection()
    nodesortpolicy: Annotated[NodeSortPolicy, BeforeValidator(_mapping)] = Field(
        default_factory=NodeSortPolicy
    )
    usergroupresolver: Annotated[UserGroupResolver, BeforeValidator(_mapping)] = Field(
        default_factory=UserGroupResolver
    )


class QueuesDocument(Section):
    """The whole text. ``checksum`` is read over: SRC-9 computes it."""

    partitions: Annotated[list[PartitionSection], BeforeValidator(_list)] = Field(default_factory=list)
    checksum: Text = ""
