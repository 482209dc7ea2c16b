"""Laws of queue documents that are nearly valid: an error anywhere gets a verdict.

The fast checks of resources and limits agree with the plain ones of the specification.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.queues.spec import PartitionSpec
from extender.queueconfig.load import check_document
from tests.properties.configuration.test_queueconfig_properties import TREES, assert_is_a_tree, verdict

WITHIN = 1000
"""Milliseconds for a verdict."""

SCALARS = st.sampled_from(
    [
        "",
        "a",
        "b",
        "*",
        "root",
        "root.a",
        "ROOT",
        "a b",
        "a b c",
        "  ",
        "a.b",
        "9x",
        "é",
        "^a$",
        "a[b",
        "{2}",
        "x" * 70,
    ]
)
NAMES = st.sampled_from(["a", "b", "A", "root", "*", "a b", "", "9", "c$"])
AMOUNTS = st.sampled_from(
    ["0", "1", 2, "500m", "5G", "5x", "-1", "", None, 1.5, "9E", "9" * 30, "\u0663", "1\n"]
)
WRONG = TREES | st.sampled_from([0, -1, 2**70, "true", "yes", [None], {"a": None}])


def section(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any of the fields, each mostly of the right kind."""
    return st.fixed_dictionaries({}, optional=fields)


def mostly(right: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 79).flatmap(lambda dice: WRONG if dice == 0 else right)


def several(entry: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(mostly(entry), max_size=3)


QUEUE_NAMES = st.sampled_from(["a", "b", "c", "d", "E"]) | mostly(SCALARS)
COUNTS = mostly(st.integers(0, 3))
MAPS = mostly(st.dictionaries(st.sampled_from(["vcore", "memory", "gpu", "\x07"]), AMOUNTS, max_size=2))
TEXTS = mostly(st.dictionaries(SCALARS, SCALARS, max_size=2))
RESOURCES = mostly(section(max=MAPS, guaranteed=MAPS))
LIMITS = several(
    section(users=several(NAMES), groups=several(NAMES), maxresources=MAPS, maxapplications=COUNTS)
)
FILTERS = mostly(section(type=SCALARS, users=several(SCALARS), groups=several(SCALARS)))
RULES = st.deferred(
    lambda: section(
        name=mostly(st.sampled_from(["user", "tag", "fixed", "provided", "Fixed", "test"])),
        create=mostly(st.booleans()),
        value=SCALARS,
        filter=FILTERS,
        parent=mostly(RULES),
    )
)
QUEUES = st.deferred(
    lambda: section(
        name=QUEUE_NAMES,
        parent=mostly(st.booleans()),
        queues=several(QUEUES),
        resources=RESOURCES,
        maxapplications=COUNTS,
        properties=TEXTS,
        submitacl=SCALARS,
        adminacl=SCALARS,
        limits=LIMITS,
        childtemplate=mostly(section(maxapplications=COUNTS, properties=TEXTS, resources=RESOURCES)),
    )
)
PARTITIONS = section(
    name=st.sampled_from(["default", "default", "gpu"]),
    queues=several(QUEUES),
    placementrules=several(RULES),
    limits=LIMITS,
    preemption=mostly(section(enabled=mostly(st.booleans()))),
    nodesortpolicy=mostly(section(type=SCALARS, resourceweights=MAPS)),
    usergroupresolver=mostly(section(type=SCALARS)),
)


@given(several(PARTITIONS))
@settings(deadline=WITHIN)
def test_a_document_with_mistakes_in_every_section_gets_a_verdict(partitions: list[Any]) -> None:
    spec = verdict(json.dumps({"partitions": partitions}, ensure_ascii=False))
    if spec is not None:
        assert isinstance(spec, PartitionSpec)
        assert_is_a_tree(spec)


@given(several(PARTITIONS), st.binary(min_size=1, max_size=3), st.integers(0, 10_000))
@settings(max_examples=50, deadline=WITHIN)
def test_bytes_in_the_middle_of_a_document_get_a_verdict(
    partitions: list[Any], put: bytes, place: int
) -> None:
    text = json.dumps({"partitions": partitions}).encode()
    place %= len(text)
    verdict(text[:place] + put + text[place:])


ALIASED = st.lists(
    st.sampled_from(
        [
            "- &x {name: a, limits: &l [{users: [u], maxapplications: 1}]}",
            "- {<<: *x, name: b}",
            "- *x",
            "- {name: c, limits: *l}",
            "- {name: d, queues: [*x, *y]}",
            "- &y {name: e, queues: [*x]}",
            "- {<<: [*x, *y], name: f}",
            "- &x {name: g, queues: &q []}",
            "- {name: h, queues: *q}",
            "- &z {name: i, queues: [*z]}",
            "- {name: *l}",
            "-",
        ]
    ),
    max_size=8,
)


@given(ALIASED)
@settings(deadline=WITHIN)
def test_a_document_of_aliases_gets_a_verdict(lines: list[str]) -> None:
    verdict("partitions:\n- queues:\n" + "\n".join(f"  {line}" for line in lines))


# -- the plain reading of CFG-24 to CFG-27 and CFG-41 to CFG-46 ----------------------------------------------

SMALL = st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 4), max_size=2)
ENTRY = st.fixed_dictionaries(
    {"users": st.lists(st.sampled_from(["u", "*"]), max_size=2), "maxresources": SMALL},
    optional={"maxapplications": st.integers(0, 3)},
)
LEVEL = st.fixed_dictionaries(
    {
        "resources": st.fixed_dictionaries({}, optional={"max": SMALL, "guaranteed": SMALL}),
        "limits": st.lists(ENTRY, min_size=1, max_size=2),
    }
)
TREE = st.builds(
    lambda top, middle, bottom: {**top, "queues": [{**each, "queues": bottom} for each in middle]},
    LEVEL,
    st.lists(LEVEL, min_size=1, max_size=2),
    st.lists(LEVEL, min_size=1, max_size=2),
)
Amounts = Mapping[str, int]


def fits(amounts: Amounts, cap: Amounts) -> bool:
    return all(amount <= cap[name] for name, amount in amounts.items() if name in cap)


def smallest(left: Amounts, right: Amounts) -> dict[str, int]:
    common = {name: min(left[name], right[name]) for name in left.keys() & right.keys()}
    return {**left, **right, **common}


def resource_breaches(queue: dict[str, Any], above: Amounts) -> tuple[set[str], Amounts]:
    """Rules of CFG-23 to CFG-27 that a tree breaks, and its contribution."""
    own, guaranteed = queue["resources"].get("max", {}), queue["resources"].get("guaranteed", {})
    broken = {"CFG-23"} - ({"CFG-23"} if fits(guaranteed, own) else set())
    broken |= set() if fits(own, above) else {"CFG-24"}
    effective, below = smallest(own, above), dict[str, int]()
    for child in queue.get("queues", []):
        more, contribution = resource_breaches(child, effective)
        broken |= more
        below = {name: below.get(name, 0) + contribution.get(name, 0) for name in {**below, **contribution}}
    broken |= set() if fits(below, guaranteed) else {"CFG-25"}
    broken |= set() if fits(below, effective) else {"CFG-26"}
    return broken, guaranteed if any(guaranteed.values()) else below


def limit_breaches(
    queue: dict[str, Any], resources: Mapping[str, Amounts], counts: Mapping[str, int]
) -> Iterator[str]:
    """Rules of CFG-41 to CFG-46 that the limits of a tree break."""
    own, own_counts = dict(resources), dict(counts)
    for entry in queue["limits"]:
        amounts, wanted = entry["maxresources"], entry.get("maxapplications", 0)
        for name in entry["users"]:
            same = name in resources
            rule = "CFG-43" if name == "*" else "CFG-41" if same else "CFG-42"
            inherited = resources.get(name, resources.get("*", {}))
            if not fits(amounts, inherited):
                yield rule
            own[name] = smallest(amounts, inherited) if same else amounts
            most = counts.get(name, counts.get("*", 0))
            if most and (wanted > most or wanted == 0):
                yield "CFG-44" if same or name == "*" else "CFG-45"
                own_counts[name] = most
            else:
                own_counts[name] = wanted
    for child in queue.get("queues", []):
        yield from limit_breaches(child, own, own_counts)


def named(queue: dict[str, Any], name: str) -> dict[str, Any]:
    below = [named(child, f"q{place}") for place, child in enumerate(queue.get("queues", []))]
    return {**queue, "name": name, "queues": below}


@given(TREE)
@settings(deadline=WITHIN, max_examples=300)
def test_resources_and_limits_are_judged_as_the_specification_says(tree: dict[str, Any]) -> None:
    document = {"partitions": [{"queues": [{"name": "root", "queues": [named(tree, "a")]}]}]}
    rules = {problem.rule for problem in check_document(json.dumps(document))}
    broken = resource_breaches(tree, {})[0] | set(limit_breaches(tree, {}, {}))
    assert rules & {f"CFG-{number}" for number in (23, 24, 25, 26, 41, 42, 43, 44, 45)} == broken
