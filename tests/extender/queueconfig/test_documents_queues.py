"""Names, access lists, resources and application counts of queues, with the numbers of the specification.

CFG-9 to CFG-12, CFG-22 to CFG-27, CFG-39, CFG-40, APPLY-2, APPLY-3, RES-1 and RES-2.
"""

import pytest

from core.queues.spec import PartitionSpec
from core.resource import Limit, Resource
from tests.extender.queueconfig.documents import (
    View,
    accepts,
    chain,
    check_accepted,
    check_rejected,
    found,
    of_partition,
    of_queues,
    of_tree,
    paths,
    queue,
    rejects,
)

FIRST = "queues[0].queues[0]"
SECOND = f"{FIRST}.queues[0]"
THIRD = f"{SECOND}.queues[0]"


def one(entry: str) -> str:
    return of_tree(f"{{name: a, {entry}}}")


def capped(texts: str) -> str:
    return one(f"resources: {{max: {{{texts}}}}}")


def cap(spec: PartitionSpec) -> Limit | None:
    return queue("root.a")(spec).max


# -- names and access lists --------------------------------------------------------------------------------

NAMES = [
    *[
        accepts("CFG-9", name[:9], of_tree(f"{{name: {name}}}"), paths, ["root", f"root.{name.lower()}"])
        for name in ("a", "A_b:c#d/e@f-9", "x" * 64, "007", "true")
    ],
    accepts(
        "CFG-10",
        "equal names at different places",
        of_tree("{name: a, queues: [{name: a}, {name: b}]}", "{name: b}"),
        paths,
        ["root", "root.a", "root.a.a", "root.a.b", "root.b"],
    ),
    accepts(
        "CFG-11",
        "names are folded, recommended also for paths",
        of_tree("{name: Tenants, queues: [{name: BLUE}]}"),
        paths,
        ["root", "root.tenants", "root.tenants.blue"],
    ),
    *[
        accepts(
            "CFG-12", repr(text), one(f"submitacl: '{text}'"), lambda s: queue("root.a")(s).submit_acl, text
        )
        for text in ("", "*", "a", "a b", "a,b c,d", " *")
    ],
    *[
        accepts(
            "APPLY-2", repr(text), one(f"adminacl: '{text}'"), lambda s: queue("root.a")(s).admin_acl, text
        )
        for text in ("a b", " b", "a ")
    ],
]

BAD_NAMES = [
    *[
        rejects(
            "CFG-9", name[:9], of_tree(f"{{name: {name}}}"), f"{FIRST}.name", "is not allowed; use 1 to 64"
        )
        for name in ('""', "~", "a.b", "a b", "x" * 65, "é", '"a\\n"', "$x")
    ],
    rejects(
        "CFG-10",
        "siblings in another case",
        of_tree("{name: a}", "{name: b}", "{name: A}"),
        "queues[0].queues[2].name",
        'name "A" is taken by its sibling "a"; use another',
    ),
    rejects(
        "CFG-11",
        "a rule finds the folded name",
        of_partition(
            "placementrules: [{name: fixed, value: root.TENANTS}], "
            + of_queues("{name: Tenants, parent: true}")
        ),
        "placementrules[0]",
        "is a parent queue",
        by="CFG-32",
    ),
    *[
        rejects(
            "CFG-12", repr(text), one(f"submitacl: '{text}'"), f"{FIRST}.submitacl", "more than users and"
        )
        for text in ("a b c", " a  b c ", "* * *")
    ],
    *[
        rejects(
            "APPLY-2",
            repr(text),
            one(f"{key}: '{text}'"),
            f"{FIRST}.{key}",
            "has more than one blank; write users, one blank, groups",
        )
        for text in ("  ", " a b", "a  b")
        for key in ("adminacl", "submitacl")
    ],
]

# -- quantities --------------------------------------------------------------------------------------------

QUANTITIES = [
    *[
        accepts(rule, text, capped(text), cap, Limit({text.partition(":")[0]: amount}))
        for rule, text, amount in (
            ("RES-2", "vcore: 10", 10_000),
            ("RES-2", "vcore: 500m", 500),
            ("RES-2", "vcore: 2Ki", 2_048_000),
            ("RES-2", "vcore: 1k", 1_000_000),
            ("RES-2", "cpu: 10", 10),
            ("RES-2", "vcores: 10", 10),
            ("RES-1", "memory: 25 k", 25_000),
            ("RES-1", "memory: 7", 7),
            *[("RES-1", f"memory: 1{unit}", 1000**power) for power, unit in enumerate("kMGTPE", 1)],
            *[("RES-1", f"memory: 1{unit}i", 1024**power) for power, unit in enumerate("KMGTPE", 1)],
            ("RES-1", "memory: '  7Mi '", 7 * 2**20),
            ("RES-1", f"memory: {2**63 - 1}", 2**63 - 1),
            ("CFG-22", "memory: 7Ei", 7 * 2**60),
        )
    ],
    accepts("CFG-22", "any name", capped("nvidia.com/gpu: 2"), cap, Limit({"nvidia.com/gpu": 2})),
    accepts(
        "APPLY-3",
        "of a template",
        one("parent: true, childtemplate: {resources: {max: {vcore: 1}}}"),
        lambda spec: queue("root.a")(spec).template.max,
        Limit({"vcore": 1000}),
    ),
]

BAD_QUANTITIES = [
    *[
        rejects(
            rule, text, capped(text), f"{FIRST}.resources.max.{text.partition(':')[0]}", says, by="CFG-22"
        )
        for rule, text, says in (
            ("RES-1", "memory: 10K", "unknown suffix 'K'; write it like 10, 500m"),
            ("RES-1", "memory: 5ki", "unknown suffix"),
            ("RES-1", "memory: 5mi", "unknown suffix"),
            ("RES-1", "memory: +1", "whole number"),
            ("RES-1", f"memory: {2**63}", "larger than a signed 64-bit"),
            ("RES-1", "memory: 8Ei", "larger than a signed 64-bit"),
            ("RES-2", "memory: 1m", "for vcore only"),
            ("RES-2", "cpu: 500m", "for vcore only"),
            ("RES-2", "vcores: 500m", "for vcore only"),
            ("RES-2", f"vcore: {2**63 - 1}", "larger than a signed 64-bit"),
            ("CFG-22", "memory: -1", "whole number"),
            ("CFG-22", "memory: 1.5", "whole number"),
        )
    ],
    rejects(
        "CFG-22",
        "guaranteed",
        one("resources: {guaranteed: {memory: 9E1}}"),
        f"{FIRST}.resources.guaranteed.memory",
        "whole number",
    ),
    *[
        rejects(
            "APPLY-3",
            key,
            one(f"parent: true, childtemplate: {{resources: {{{key}: {{vcore: -1}}}}}}"),
            f"{FIRST}.childtemplate.resources.{key}.vcore",
            "; write it like",
        )
        for key in ("guaranteed", "max")
    ],
]

# -- resources along the tree ------------------------------------------------------------------------------


def family(cores: int, guaranteed: str) -> str:
    """The parent of the worked example of CFG-27, whose children's max sum up to more than its own."""
    child = "{name: %s, resources: {guaranteed: {memory: 50, vcore: 50}, max: {memory: 80}}}"
    own = f"resources: {{max: {{memory: 100, vcore: {cores}}}, guaranteed: {{{guaranteed}}}}}"
    return of_tree(f"{{name: a, {own}, queues: [{child % 'x'}, {child % 'y'}]}}")


def guaranteed(path: str) -> View:
    return lambda spec: queue(path)(spec).guaranteed


BANNED = "resources: {max: {vcore: 2, gpu: %d}, guaranteed: {vcore: 2, gpu: 1, memory: 9}}"
G_AND_V = "resources: {guaranteed: {memory: 6, vcore: 10}}"
V11 = "resources: {guaranteed: {vcore: 11}}"

FITTING = [
    accepts(
        "CFG-23",
        "gpu 1 of 1",
        one(BANNED % 1),
        guaranteed("root.a"),
        Resource({"vcore": 2000, "gpu": 1, "memory": 9}),
    ),
    *[
        accepts(
            "CFG-24",
            f"100, none, {leaf}",
            chain(
                "", "resources: {max: {vcore: 100}}", "", f"resources: {{max: {{vcore: {leaf}, memory: 5}}}}"
            ),
            lambda spec: queue("root.a.a.a")(spec).max.get("vcore"),
            leaf * 1000,
        )
        for leaf in (100, 1)
    ],
    accepts(
        "CFG-25",
        "50 and 50 of 100",
        family(100, "memory: 100"),
        guaranteed("root.a"),
        Resource({"memory": 100}),
    ),
    accepts("CFG-25", "of nothing guaranteed", family(100, ""), guaranteed("root.a"), None),
    accepts(
        "CFG-26",
        "50 and 50 of at most 100",
        family(100, ""),
        guaranteed("root.a.y"),
        Resource({"memory": 50, "vcore": 50_000}),
    ),
    accepts("CFG-27", "the worked example", family(100, "memory: 100"), lambda spec: len(spec.queues), 4),
    accepts(
        "CFG-27",
        "own memory hides the children's vcore",
        chain("", G_AND_V, "resources: {guaranteed: {memory: 5}}", V11),
        guaranteed("root.a.a.a"),
        Resource({"vcore": 11_000}),
    ),
]

TOO_MUCH = [
    rejects(
        "CFG-23",
        "gpu 1 of a max of 0",
        one(BANNED % 0),
        f"{FIRST}.resources.guaranteed.gpu",
        "gpu 1 is above the queue's own max, gpu 0; lower the first or raise the second",
    ),
    *[
        rejects(
            "CFG-24",
            f"100, none, {leaf}",
            chain("", "resources: {max: {vcore: 100}}", "", f"resources: {{max: {{vcore: {leaf}}}}}"),
            f"{THIRD}.resources.max.vcore",
            f"vcore {leaf} is above the smallest max above, vcore 100",
        )
        for leaf in ("150", "100001m")
    ],
    rejects(
        "CFG-24",
        "each resource has its own smallest",
        chain(
            "",
            "resources: {max: {vcore: 100, memory: 5}}",
            "resources: {max: {vcore: 50}}",
            "resources: {max: {memory: 6, vcore: 50}}",
        ),
        f"{THIRD}.resources.max.memory",
        "memory 6 is above the smallest max above, memory 5",
    ),
    rejects(
        "CFG-25",
        "50 and 50 of 99",
        family(100, "memory: 99"),
        f"{FIRST}.resources.guaranteed.memory",
        "the children's guaranteed together, memory 100 is above this queue's guaranteed, memory 99",
    ),
    rejects(
        "CFG-26",
        "50 and 50 of at most 99",
        family(99, "memory: 100"),
        f"{FIRST}.resources.max.vcore",
        "the children's guaranteed together, vcore 100 is above the smallest max down to here, vcore 99",
    ),
    rejects(
        "CFG-26",
        "of an ancestor's max",
        chain("", "resources: {max: {vcore: 10}, guaranteed: {memory: 1}}", "", V11),
        SECOND,
        "vcore 11 is above",
    ),
    *[
        rejects(
            "CFG-27",
            case,
            chain("", G_AND_V, middle, V11),
            f"{FIRST}.resources.guaranteed.vcore",
            "vcore 11 is above this queue's guaranteed, vcore 10",
            by="CFG-25",
        )
        for case, middle in (("all zero is none", "resources: {guaranteed: {memory: 0}}"), ("none", ""))
    ],
]

# -- numbers of applications -------------------------------------------------------------------------------


def applications(*counts: int) -> str:
    return chain(*[f"maxapplications: {count}" for count in counts])


def counts_of(spec: PartitionSpec) -> list[int]:
    return [each.max_applications for each in spec.queues]


SUM_ABOVE = of_partition("queues: [{name: root, maxapplications: 4, queues: [%s, %s]}]")
NOT_MORE = [
    accepts("CFG-39", "4,3,2,1", applications(4, 3, 2, 1), counts_of, [4, 3, 2, 1]),
    accepts("CFG-39", "1,1: one is legal", applications(1, 1), counts_of, [1, 1]),
    accepts("CFG-40", "0,3,2,1", applications(0, 3, 2, 1), counts_of, [0, 3, 2, 1]),
    accepts("CFG-40", "0,0,0: zero is unlimited", applications(0, 0, 0), counts_of, [0, 0, 0]),
    accepts(
        "CFG-40",
        "children may sum up to more",
        SUM_ABOVE % ("{name: a, maxapplications: 4}", "{name: b, maxapplications: 4}"),
        counts_of,
        [4, 4, 4],
    ),
]
MORE = [
    rejects(
        "CFG-39",
        "1,2,3,4",
        applications(1, 2, 3, 4),
        f"{FIRST}.maxapplications",
        "2 is above the parent's 1; use 1 to 1",
    ),
    rejects(
        "CFG-40",
        "4,3,2,0",
        applications(4, 3, 2, 0),
        f"{THIRD}.maxapplications",
        "unlimited, but the parent allows 2; use 1 to 2",
    ),
    rejects(
        "CFG-40",
        "absent below the root",
        SUM_ABOVE % ("{name: a}", "{name: b}"),
        f"{FIRST}.maxapplications",
        "the parent allows 4",
    ),
]


@pytest.mark.parametrize(("text", "see", "value"), [*NAMES, *QUANTITIES, *FITTING, *NOT_MORE])
def test_accepted(text: str, see: View, value: object) -> None:
    check_accepted(text, see, value)


@pytest.mark.parametrize(("text", "rule", "path", "says"), [*BAD_NAMES, *BAD_QUANTITIES, *TOO_MUCH, *MORE])
def test_rejected(text: str, rule: str, path: str, says: str) -> None:
    check_rejected(text, rule, path, says)


def test_every_step_of_a_growing_chain_is_reported() -> None:
    assert found(applications(1, 2, 3, 4)) == [
        ("CFG-39", f"{FIRST}.maxapplications"),
        ("CFG-39", f"{SECOND}.maxapplications"),
        ("CFG-39", f"{THIRD}.maxapplications"),
    ]


def test_a_list_that_is_refused_is_not_refused_twice() -> None:
    assert found(one("submitacl: 'a b c'")) == [("CFG-12", f"{FIRST}.submitacl")]
