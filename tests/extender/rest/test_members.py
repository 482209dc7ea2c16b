"""Each member of each answer: its name, its unit, and when it is left out."""

import importlib
import json
import pkgutil
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from extender.rest import model
from extender.rest.members import encoded
from extender.rest.model import answer as units
from extender.rest.model.answer import Answer, Fault, fault
from extender.rest.model.applications import Usage
from tests.extender.rest.specified import MEMBERS, specified

for _each in pkgutil.iter_modules(model.__path__):
    importlib.import_module(f"{model.__name__}.{_each.name}")


RULES = {
    "Fault": "REST-2",
    "Partition": "REST-5",
    "Queue": "REST-6",
    "App": "REST-7",
    "Node": "REST-8",
    "UserUsage": "REST-9",
    "GroupUsage": "REST-9",
    "Health": "REST-11",
    "EventBatch": "REST-12",
    "Cluster": "REST-26",
    "Config": "REST-27",
    "Rule": "REST-30",
    "Request": "REST-34",
    "Allocation": "REST-35",
    "ForeignAllocation": "REST-36",
    "NodeUtilizations": "REST-37",
    "EventRecord": "REST-38",
    "QueuePast": "REST-50",
}
"""The rule that lists the members of a Struct."""


def ruled() -> list[Any]:
    """Every Struct's name, marked with its rule where one is known."""
    return [
        pytest.param(name, marks=pytest.mark.rule(RULES[name])) if name in RULES else name
        for name in sorted(MEMBERS)
    ]


PADDOCKS_OWN = ("explanations",)
"""Modules with answers that YuniKorn lacks, so the table does not list them."""


def _is_specified(module: str) -> bool:
    package, _, name = module.rpartition(".")
    return package.startswith("extender.") and name not in PADDOCKS_OWN


def structs(base: type[Answer] = Answer) -> dict[str, type[Answer]]:
    """Every kind of answer, by name."""
    found = {each.__name__: each for each in base.__subclasses__() if _is_specified(each.__module__)}
    return {
        name: each for one in found.values() for name, each in {**structs(one), one.__name__: one}.items()
    }


STRUCTS = structs()

KINDS: list[tuple[Any, str]] = [
    *((units.Amounts, "amounts"), (units.Percentages, "percentages"), (units.Texts, "texts")),
    *((units.Nanoseconds, "nanoseconds"), (units.NanosecondSpan, "span"), (units.Moment, "moment")),
    *((units.Milliseconds, "milliseconds"), (units.Duration, "duration"), (units.Priority, "priority")),
    *((units.Count, "count"), (Usage, "sums"), (dict[str, float], "weights"), (dict[str, int], "counts")),
    *((str, "text"), (int, "integer"), (bool, "switch"), (bool | None, "choice")),
]

SAMPLES: dict[str, Any] = {
    **dict.fromkeys(("text", "moment", "duration", "priority", "count"), ("", "x")),
    **dict.fromkeys(("integer", "nanoseconds", "milliseconds", "span"), (0, 5)),
    **dict.fromkeys(("amounts", "percentages", "counts"), ({}, {"vcore": 0})),
    "switch": (False, True),
    "choice": (None, False),
    "weights": ({}, {"vcore": 1.0}),
    "texts": ({}, {"a": ""}),
    "sums": ({}, {"small": {"vcore": 1}}),
}
"""An empty and another value of each kind that is no list and no object."""


def kind_of(hint: Any) -> str:
    """Kind of a member by its annotation; null stands for an object that is left out."""
    found = next((kind for known, kind in KINDS if hint == known), None)
    if found is not None:
        return found
    arguments = [each for each in get_args(hint) if each is not type(None) and each is not ...]
    if get_origin(hint) is tuple:
        return f"list of {kind_of(arguments[0])}"
    if get_origin(hint) is dict:
        return f"map of {kind_of(arguments[1])}"
    if isinstance(hint, type):
        return hint.__name__
    (only,) = arguments
    return kind_of(only)


def made(struct: type[Answer], *, full: bool) -> Answer:
    """Answer with every member empty, or with one level of them filled."""
    values = {}
    for field in msgspec.structs.fields(struct):
        kind, _ = specified(struct.__name__)[field.encode_name]
        values[field.name] = _value(kind, full=full)
    return struct(**values)


def _value(kind: str, *, full: bool) -> Any:
    first = kind.split()[-1]
    if kind.startswith("list of"):
        return (_value(first, full=False),) if full else ()
    if kind.startswith("map of"):
        return {"x": _value(first, full=False)} if full else {}
    if kind in SAMPLES:
        return SAMPLES[kind][full]
    return made(STRUCTS[kind], full=False) if full or not _may_lack(kind) else None


def _may_lack(kind: str) -> bool:
    """True if an object may be absent; one that is always there has to be made."""
    optional = {"QueueClosure", "QueueTemplate", "RuleFilter", "Rule", "QueueUsage", "ConfigRule"}
    return kind in {*optional, "ConfigTarget"}


def test_the_table_names_every_struct_and_no_other() -> None:
    assert set(MEMBERS) == set(STRUCTS)


@pytest.mark.rule("REST-3", "REST-24")
@pytest.mark.parametrize("name", ruled())
def test_members_are_those_of_the_specification(name: str) -> None:
    struct = STRUCTS[name]
    hints = get_type_hints(struct, include_extras=True)
    found = {
        each.encode_name: (kind_of(hints[each.name]), each.required)
        for each in msgspec.structs.fields(struct)
    }
    assert found == specified(name)


@pytest.mark.rule("REST-24")
@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_an_empty_answer_has_only_what_is_always_there(name: str) -> None:
    written = json.loads(encoded(made(STRUCTS[name], full=False)))
    assert set(written) == {member for member, (_, always) in specified(name).items() if always}
    assert None not in written.values()


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_a_full_answer_has_every_member(name: str) -> None:
    assert set(json.loads(encoded(made(STRUCTS[name], full=True)))) == set(specified(name))


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_every_struct_has_a_schema(name: str) -> None:
    schemas, _ = msgspec.json.schema_components([STRUCTS[name]])
    assert schemas


class Planted(Answer, frozen=True, kw_only=True):
    """Struct that is at odds with any table."""

    node_id: str = ""
    created: int = 0


def test_a_member_at_odds_with_the_table_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEMBERS, "Planted", "nodeID text, created nanoseconds")
    monkeypatch.setitem(STRUCTS, "Planted", Planted)
    with pytest.raises(AssertionError):
        test_members_are_those_of_the_specification("Planted")


@pytest.mark.rule("REST-1", "REST-2")
def test_a_fault() -> None:
    assert encoded(fault(404, "Queue not found")) == (
        b'{"status_code":404,"message":"Queue not found","description":"Queue not found"}\n'
    )
    assert fault(400, "x", cause="y") == Fault(status_code=400, message="x", description="y")


@pytest.mark.rule("REST-24")
def test_an_empty_list_is_a_list() -> None:
    assert encoded(()) == b"[]\n"
