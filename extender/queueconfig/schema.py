"""Schema of a queue document (CFG 2.1), as strict models. Rules between values are elsewhere.

All keys of YuniKorn are included, even those without effect, so that every valid document parses. Scalars
arrive as text. They are decoded by the type of their field, with the spellings of YuniKorn's parser:

- text: any scalar as written, so ``name: 007`` is "007". Null is empty.
- switch: ``true``, ``false`` and the words ``yes no on off y n`` of YAML 1.1. Null is false.
- count: an unsigned 64-bit integer, such as ``0x10``, ``0o17``, ``1_000``, ``5.0`` or ``1e3``. A leading 0
  means octal, but 018 is eighteen. Null is 0.
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
_YES = frozenset(case(text) for text in ("y", "yes", "on") for case in _CASES)
_NO = frozenset(case(text) for text in ("n", "no", "off") for case in _CASES)
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
"""Quantities by resource, as text (CFG-3). CFG-22 checks that they are quantities."""


class Section(BaseModel):
    """A mapping with fixed keys. An unknown key is an error (CFG-1). Null counts as an empty section."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Resources(Section):
    """Resources of a queue. None for an absent map, which differs from an empty one (CFG-7)."""

    guaranteed: Amounts | None = None
    max: Amounts | None = None


class LimitEntry(Section):
    """Limits of some users and user groups."""

    limit: Text = ""
    users: Texts = Field(default_factory=list)
    groups: Texts = Field(default_factory=list)
    maxresources: Annotated[Amounts, BeforeValidator(_mapping)] = Field(default_factory=dict)
    maxapplications: Count = 0


class ChildTemplate(Section):
    """Template for dynamic queues."""

    maxapplications: Count = 0
    properties: TextMap = Field(default_factory=dict)
    resources: Annotated[Resources, BeforeValidator(_mapping)] = Resources()

    @property
    def is_empty(self) -> bool:
        """True if it says nothing, and so is no template (TPL-1). Zeros are something."""
        maps = (self.properties, self.resources.guaranteed or {}, self.resources.max or {})
        return not self.maxapplications and not any(k and v for each in maps for k, v in each.items())


class QueueSection(Section):
    """A queue.

    ``childtemplate``: None if it is absent, which has the effect of an empty one (TPL-1).
    """

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
    """Filter of a placement rule, by users and user groups."""

    type: Text = ""
    users: Texts = Field(default_factory=list)
    groups: Texts = Field(default_factory=list)


class PlacementRule(Section):
    """A placement rule, with its parent rule."""

    name: Text = ""
    create: Switch = False
    filter: RuleFilter | None = None
    parent: "PlacementRule | None" = None
    value: Text = ""


class PreemptionSection(Section):
    """Switches of preemption. None means the default: preemption on, quota preemption off."""

    enabled: Switch | None = None
    quotapreemptionenabled: Switch | None = None


class NodeSortPolicy(Section):
    """Order of nodes, and weights of resources."""

    type: Text = ""
    resourceweights: Annotated[dict[str, Weight], BeforeValidator(_mapping)] = Field(default_factory=dict)


class UserGroupResolver(Section):
    """Source of a user's groups."""

    type: Text = ""


class PartitionSection(Section):
    """A partition. ``queues``: None for an absent list, which differs from an empty one (CFG-5)."""

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
    """A whole document. ``checksum`` is ignored, since it is computed (SRC-9)."""

    partitions: Annotated[list[PartitionSection], BeforeValidator(_list)] = Field(default_factory=list)
    checksum: Text = ""
