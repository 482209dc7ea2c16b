"""Shapes of documents, partitions and roots: CFG-1 to CFG-8 and APPLY-1, with their examples."""

import pytest

from core.queues.spec import NodeSortSpec, PartitionSpec
from core.resource import Limit
from extender.queueconfig.load import check_document, load_document
from tests.extender.queueconfig.documents import (
    View,
    accepts,
    chain,
    check_accepted,
    check_rejected,
    found,
    of_partition,
    of_tree,
    paths,
    queue,
    rejects,
)

FULL_DOCUMENT = """
checksum: ABC
partitions:
  - name: default
    preemption: {enabled: true, quotapreemptionenabled: off}
    nodesortpolicy: {type: binpacking, resourceweights: {vcore: 2.5, memory: 1}}
    usergroupresolver: {type: os}
    limits:
      - {limit: everyone, users: ["*"], maxapplications: 5}
    placementrules:
      - name: user
        create: yes
        filter: {type: deny, users: [bob], groups: []}
        parent: {name: fixed, value: root.users}
    queues:
      - name: root
        submitacl: "*"
        adminacl: admin ops
        properties: {application.sort.policy: fair}
        childtemplate:
          maxapplications: 3
          properties: {priority.offset: 5}
          resources: {max: {vcore: 2}, guaranteed: {}}
        queues:
          - name: users
            parent: true
            limits:
              - {groups: [dev], maxresources: {memory: 10G}}
"""
FIRST = "queues[0].queues[0]"
LIMIT = "limits: [{users: [u], maxapplications: 1}]"


def one(entry: str) -> str:
    return of_tree(f"{{name: a, {entry}}}")


def is_leaf(spec: PartitionSpec) -> bool:
    return queue("root.a")(spec).is_leaf


def count(spec: PartitionSpec) -> int:
    return queue("root.a")(spec).max_applications


ACCEPTED = [
    accepts("CFG-1", "every known key", FULL_DOCUMENT, paths, ["root", "root.users"]),
    accepts("CFG-1", "values under known keys", FULL_DOCUMENT, lambda spec: spec.resolver, "os"),
    *[
        accepts("CFG-2", f"parent: {text} is true", one(f"parent: {text}"), is_leaf, False)
        for text in ("true", "True", "TRUE", "yes", "on", "y", '"yes"')
    ],
    *[
        accepts("CFG-2", f"parent: {text} is false", one(f"parent: {text}"), is_leaf, True)
        for text in ("false", "FALSE", "No", "off", "n", "~", "")
    ],
    *[
        accepts("CFG-2", f"maxapplications: {text}", one(f"maxapplications: {text}"), count, value)
        for text, value in (
            ("7", 7),
            ("0x10", 16),
            ("0o17", 15),
            ("017", 15),
            ("018", 18),
            ("1_000", 1000),
            ("5.0", 5),
            ("1e3", 1000),
            (str(2**64 - 1), 2**64 - 1),
            ("~", 0),
        )
    ],
    *[
        accepts("CFG-2", f"empty text {text!r}", text, lambda spec: spec, PartitionSpec("default", ()))
        for text in ("", " \n\n", "# nothing\n", "---\n", "{}", "partitions:\n", "partitions: []\n")
    ],
    accepts(
        "CFG-2", "only the first document", of_tree("{name: a}") + "\n---\n--- [", paths, ["root", "root.a"]
    ),
    accepts("CFG-2", "a dash alone adds nothing", of_tree("~", "{name: a}", "~"), paths, ["root", "root.a"]),
    accepts(
        "CFG-2",
        "a policy as a mapping",
        of_partition("queues: [], nodesortpolicy: {type: fair}"),
        lambda spec: spec.node_sort,
        NodeSortSpec("fair", {}, named=True),
    ),
    accepts(
        "CFG-2",
        "preemption is on and quota preemption off",
        of_partition("queues: []"),
        lambda spec: (spec.preemption, spec.quota_preemption),
        (True, False),
    ),
    accepts(
        "CFG-3",
        "integers are their text",
        one("resources: {max: {vcore: 10, memory: 010, pods: 5}}"),
        lambda spec: queue("root.a")(spec).max,
        Limit({"vcore": 10_000, "memory": 10, "pods": 5}),
    ),
    *[
        accepts(
            "CFG-4",
            f"{name} is default",
            f"partitions: [{{name: gpu, queues: [{{name: g}}]}}, {{name: {name}, queues: [{{name: a}}]}}]",
            paths,
            ["root", "root.a"],
        )
        for name in ("default", "DEFAULT", '""', "~")
    ],
    accepts("CFG-4", "another name", "partitions: [{name: gpu, queues: [{name: g}]}]", paths, []),
    accepts("CFG-5", "an empty list is just a root", of_partition("queues: []"), paths, ["root"]),
    *[
        accepts(
            "CFG-6",
            f"a closed root above {queues}",
            of_partition(f"queues: {queues}"),
            lambda spec: (
                spec.queues[0].submit_acl,
                spec.queues[0].is_leaf,
                {q.parent for q in spec.queues[1:]},
            ),
            ("", False, {"root"}),
        )
        for queues in ("[{name: a}, {name: b}]", "[{name: a}]", "[{name: root}, {name: a}]")
    ],
    accepts(
        "CFG-6",
        "a lone root is a parent",
        of_partition("queues: [{name: root, submitacl: '*', parent: false}]"),
        lambda spec: [(q.path, q.submit_acl, q.is_leaf) for q in spec.queues],
        [("root", "*", False)],
    ),
    *[
        accepts("CFG-7", text, chain(f"resources: {text}"), lambda spec: spec.queues[0].max, None)
        for text in ("{}", "~", "{max: ~, guaranteed: }")
    ],
    accepts(
        "CFG-8",
        "the same limits twice",
        of_partition(f"{LIMIT}, queues: [{{name: root, {LIMIT}}}]"),
        lambda spec: len(spec.queues[0].limits),
        1,
    ),
    accepts(
        "CFG-8",
        "limits of the partition are the root's",
        of_partition(f"{LIMIT}, queues: [{{name: root}}]"),
        lambda spec: spec.queues[0].limits[0].users,
        ("u",),
    ),
    accepts("APPLY-1", "folded, so ROOT is root", of_partition("queues: [{name: ROOT}]"), paths, ["root"]),
]

REJECTED = [
    rejects("CFG-1", "no dump path", "statedumpfilepath: x", "statedumpfilepath", "known here: checksum"),
    rejects(
        "CFG-1",
        "nor one of a partition",
        of_partition("queues: [], statedumpfilepath: x"),
        "statedumpfilepath",
        "unknown key",
    ),
    rejects("CFG-1", "keys are lower case", of_partition("Name: a, queues: []"), "Name", "did you mean name"),
    rejects(
        "CFG-1", "in a queue", one("maxaplications: 1"), f"{FIRST}.maxaplications", "did you mean maxappl"
    ),
    rejects(
        "CFG-1", "deeper", one("resources: {maximum: {}}"), f"{FIRST}.resources.maximum", "did you mean max"
    ),
    rejects(
        "CFG-1",
        "in a nested rule",
        of_partition("queues: [], placementrules: [{name: user, parent: {nam: x, name: user}}]"),
        "placementrules[0].parent.nam",
        "did you mean name",
    ),
    *[
        rejects("CFG-2", entry[:30], one(entry), f"{FIRST}.{entry.partition(':')[0]}", says)
        for entry, says in (
            ("maxapplications: -1", '"-1" is not a count; write a whole number'),
            ('maxapplications: "5"', 'the quoted text "5" is not a count'),
            ("maxapplications: many", '"many" is not a count'),
            ("maxapplications: 1.5", '"1.5" is not a count'),
            (f"maxapplications: {2**64}", "is not a count"),
            (f"maxapplications: 1e{'9' * 399}", "is not a count"),
            ("maxapplications: _1", "is not a count"),
            ("maxapplications: [1]", "a list is not a count"),
            ('parent: "true"', 'the quoted text "true" is not a switch; write true or false'),
            ("parent: 1", '"1" is not a switch'),
            ("parent: {}", "a mapping is not a switch"),
            ("submitacl: [a]", "must be text, not a list; write one value"),
            ("properties: text", 'must be a mapping, not "text"; write {key: value}'),
            ("queues: {name: b}", "must be a list, not a mapping; write [a, b]"),
            ("limits: 5", 'must be a list, not "5"'),
            ("submitacl: x, submitacl: y", 'key "submitacl" occurs twice; keep one'),
        )
    ],
    rejects(
        "CFG-2",
        "create is a switch",
        of_partition("queues: [], placementrules: [{name: user, create: sure}]"),
        "placementrules[0].create",
        "not a switch",
    ),
    *[
        rejects(
            "CFG-2",
            f"{key} is a switch",
            of_partition(f"queues: [], preemption: {{{key}: 1}}"),
            f"preemption.{key}",
            "not a switch",
        )
        for key in ("enabled", "quotapreemptionenabled")
    ],
    rejects(
        "CFG-2",
        "the documented scalar policy",
        of_partition("queues: [], nodesortpolicy: fair"),
        "nodesortpolicy",
        'must be a mapping, not "fair"; write nodesortpolicy: {type: fair}',
    ),
    rejects("CFG-2", "text instead of a document", "invalid", "", "must be a mapping"),
    *[
        rejects(
            "CFG-3",
            f"{value} is no quantity",
            one(f"resources: {{max: {{memory: {value}}}}}"),
            f"{FIRST}.resources.max.memory",
            "must be a whole number",
            by="CFG-22",
        )
        for value in ("~", '""', "null", "true", "1.5", "1e3", "0x10")
    ],
    rejects(
        "CFG-3",
        "a list is no text",
        one("resources: {max: {memory: [1]}}"),
        f"{FIRST}.resources.max.memory",
        "must be text, not a list",
    ),
    *[
        rejects(
            "CFG-4",
            f"{first} and {second}",
            f"partitions: [{{name: {first}, queues: []}}, {{name: {second}, queues: []}}]",
            "partitions[1].name",
            "occurs twice; give each its own name",
        )
        for first, second in (("gpu", "GPU"), ('""', "Default"))
    ],
    *[
        rejects("CFG-5", text, of_partition(text), "queues", "queue config is not set; give a list")
        for text in ("name: default", "queues: ~", "")
    ],
    rejects(
        "CFG-6",
        "two roots are children of an inserted one",
        of_partition("queues: [{name: root}, {name: Root}]"),
        "queues[1].name",
        "taken by its sibling",
        by="CFG-10",
    ),
    *[
        rejects(
            "CFG-7",
            f"{key}: {amounts}",
            chain(f"resources: {{{key}: {amounts}}}"),
            f"queues[0].resources.{key}",
            f"the root cannot have {key}: its size is that of its nodes; remove the key",
        )
        for key in ("guaranteed", "max")
        for amounts in ("{}", "{vcore: 1}")
    ],
    rejects(
        "CFG-8",
        "other limits than the root's",
        of_partition(f"{LIMIT}, queues: [{{name: root, limits: [{{users: [v], maxapplications: 1}}]}}]"),
        "limits",
        "limits of the partition and of the root differ; keep those of the root",
    ),
    rejects(
        "CFG-8",
        "limits copied to the root are checked there",
        of_partition("limits: [{maxapplications: 1}], queues: [{name: a}]"),
        "limits[0]",
        "names neither",
        by="CFG-13",
    ),
]


@pytest.mark.parametrize(("text", "see", "value"), ACCEPTED)
def test_accepted(text: str, see: View, value: object) -> None:
    check_accepted(text, see, value)


@pytest.mark.parametrize(("text", "rule", "path", "says"), REJECTED)
def test_rejected(text: str, rule: str, path: str, says: str) -> None:
    check_rejected(text, rule, path, says)


def test_paths_below_an_inserted_root_are_those_of_the_document() -> None:
    text = of_partition("queues: [{name: a}, {name: b}, {name: c, resources: {max: {vcore: x}}}]")
    assert found(text) == [("CFG-22", "queues[2].resources.max.vcore")]


def test_other_partitions_are_checked_too() -> None:
    text = "partitions: [{queues: []}, {name: gpu, queues: [{name: a b}]}]"
    assert found(text) == [("CFG-9", "partitions[1].queues[0].name")]


def test_one_unknown_key_does_not_hide_the_other_problems() -> None:
    text = of_tree("{name: a b, colour: red}", "{name: c, resources: {max: {vcore: -1}}}")
    assert found(text) == [
        ("CFG-1", f"{FIRST}.colour"),
        ("CFG-9", f"{FIRST}.name"),
        ("CFG-22", "queues[0].queues[1].resources.max.vcore"),
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("fair", "fair", id="the documented scalar"),
        pytest.param("binpacking", "binpacking", id="the other policy"),
        pytest.param("'binpacking'", "binpacking", id="in quotes"),
        pytest.param("BinPacking", "fair", id="no policy"),
        pytest.param("[binpacking]", "fair", id="a list"),
    ],
)
@pytest.mark.rule("NODE-4")
def test_a_node_policy_that_is_no_mapping_gets_an_example(written: str, meant: str) -> None:
    text = f"partitions:\n- queues: []\n  nodesortpolicy: {written}\n"
    (problem,) = check_document(text)
    assert (problem.rule, problem.path, problem.line) == ("CFG-2", "partitions[0].nodesortpolicy", 3)
    said, _, remedy = problem.message.partition("; write ")
    assert said.startswith("must be a mapping, not ")
    assert remedy == f"nodesortpolicy: {{type: {meant}}}"
    followed = text.replace(f"nodesortpolicy: {written}", remedy)
    assert load_document(followed).node_sort == NodeSortSpec(meant, {}, named=True)


def test_more_mistakes_of_shape_than_can_be_distinguished() -> None:
    (problem,) = check_document("{" + ", ".join(f"k{number}: 1" for number in range(20_001)) + "}")
    assert problem.message == (
        "20001 keys that are unknown or values of another kind than expected; give a queue document"
    )
