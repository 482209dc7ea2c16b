"""Queue documents: what each rule accepts and rejects, where it says so, and the queues that come out."""

import textwrap

import pytest

from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Limit, Resource
from extender.queueconfig.load import DEFAULT_DOCUMENT, check_document, load_document
from extender.queueconfig.problems import ConfigError

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


def document(queues: str, partition: str = "") -> str:
    """A document whose root has the queues written in ``queues`` (a YAML list), first at line 7."""
    body = textwrap.indent(textwrap.dedent(queues).strip("\n"), " " * 10)
    above = textwrap.indent(partition, " " * 4)
    return (
        f"partitions:\n  - name: default\n{above}\n    queues:\n      - name: root\n        queues:\n{body}\n"
    )


def found(text: str | bytes) -> list[tuple[str, str]]:
    """Rule and path of every problem, the path without the way to the root's children."""
    return [
        (problem.rule, problem.path.removeprefix("partitions[0].queues[0].queues"))
        for problem in check_document(text)
    ]


def by_path(text: str) -> dict[str, QueueSpec]:
    return {spec.path: spec for spec in load_document(text).queues}


def test_every_key_of_the_schema_parses() -> None:
    spec = load_document(FULL_DOCUMENT)
    assert [queue.path for queue in spec.queues] == ["root", "root.users"]
    assert spec.queues[0].admin_acl == "admin ops"


@pytest.mark.rule("SRC-8")
def test_the_built_in_document_is_one_open_root() -> None:
    (root,) = load_document(DEFAULT_DOCUMENT).queues
    assert (root.path, root.submit_acl, root.is_leaf, root.parent) == ("root", "*", False, None)


@pytest.mark.rule("CFG-1")
@pytest.mark.parametrize(
    ("text", "path", "hint"),
    [
        ("statedumpfilepath: /tmp/x", "statedumpfilepath", "known here: checksum, partitions"),
        ("partitions: [{Name: a, queues: []}]", "partitions[0].Name", "did you mean name"),
        (
            document("- {name: a, maxaplications: 1}"),
            "partitions[0].queues[0].queues[0].maxaplications",
            "did you mean maxapplications",
        ),
        (
            document("- {name: a, resources: {maximum: {}}}"),
            "partitions[0].queues[0].queues[0].resources.maximum",
            "did you mean max",
        ),
        (
            "partitions: [{queues: [], placementrules: [{name: user, parent: {nam: x, name: user}}]}]",
            "partitions[0].placementrules[0].parent.nam",
            "did you mean name",
        ),
    ],
)
def test_an_unknown_key_anywhere_rejects(text: str, path: str, hint: str) -> None:
    (problem,) = check_document(text)
    assert (problem.rule, problem.path) == ("CFG-1", path)
    assert hint in problem.message


@pytest.mark.rule("CFG-1")
def test_one_unknown_key_does_not_hide_the_other_problems() -> None:
    text = document("- {name: a b, colour: red}\n- {name: c, resources: {max: {vcore: -1}}}")
    assert found(text) == [
        ("CFG-1", "[0].colour"),
        ("CFG-9", "[0].name"),
        ("CFG-22", "[1].resources.max.vcore"),
    ]


@pytest.mark.rule("CFG-2")
@pytest.mark.parametrize("spelling", ["true", "True", "TRUE", "yes", "on", "y", '"yes"'])
def test_a_switch_takes_every_spelling_of_true(spelling: str) -> None:
    assert not by_path(document(f"- {{name: a, parent: {spelling}}}"))["root.a"].is_leaf


@pytest.mark.rule("CFG-2")
@pytest.mark.parametrize("spelling", ["false", "FALSE", "No", "off", "n", "~", ""])
def test_a_switch_takes_every_spelling_of_false(spelling: str) -> None:
    assert by_path(document(f"- {{name: a, parent: {spelling}}}"))["root.a"].is_leaf


@pytest.mark.rule("CFG-2")
@pytest.mark.parametrize(
    ("count", "value"),
    [
        ("7", 7),
        ("0x10", 16),
        ("0o17", 15),
        ("017", 15),
        ("1_000", 1000),
        (str(2**64 - 1), 2**64 - 1),
        ("~", 0),
    ],
)
def test_a_count_is_an_unsigned_64_bit_number(count: str, value: int) -> None:
    assert by_path(document(f"- {{name: a, maxapplications: {count}}}"))["root.a"].max_applications == value


@pytest.mark.rule("CFG-2")
@pytest.mark.parametrize(
    "entry",
    [
        "maxapplications: -1",
        'maxapplications: "5"',
        "maxapplications: many",
        "maxapplications: 1.5",
        f"maxapplications: {2**64}",
        "maxapplications: [1]",
        'parent: "true"',
        "parent: 1",
        "parent: {}",
        "submitacl: [a]",
        "properties: text",
        "queues: {name: b}",
        "limits: 5",
    ],
)
def test_a_value_of_another_type_rejects(entry: str) -> None:
    key = entry.partition(":")[0]
    assert found(document(f"- {{name: a, {entry}}}")) == [("CFG-2", f"[0].{key}")]


@pytest.mark.rule("CFG-2")
def test_a_scalar_node_sort_policy_is_a_type_error() -> None:
    (problem,) = check_document("partitions: [{queues: [], nodesortpolicy: fair}]")
    assert str(problem) == 'partitions[0].nodesortpolicy (line 1): must be a mapping, not "fair" [CFG-2]'


@pytest.mark.rule("CFG-2")
def test_the_empty_document_has_no_partitions_and_is_valid() -> None:
    for text in ("", " \n\n", "# nothing\n", "---\n", "{}", "partitions:\n", "partitions: []\n"):
        assert load_document(text) == PartitionSpec("default", ())


@pytest.mark.rule("CFG-3")
def test_numbers_in_resources_are_their_text() -> None:
    queues = by_path(document("- {name: a, resources: {max: {vcore: 10, memory: 010, pods: 5}}}"))
    assert queues["root.a"].max == Limit({"vcore": 10_000, "memory": 10, "pods": 5})


@pytest.mark.rule("CFG-3")
@pytest.mark.parametrize("value", ["true", "1.5", "1e3", "0x10", "~", '""', "null"])
def test_other_scalars_in_resources_are_no_quantities(value: str) -> None:
    text = document(f"- {{name: a, resources: {{max: {{memory: {value}}}}}}}")
    assert found(text) == [("CFG-22", "[0].resources.max.memory")]


@pytest.mark.rule("CFG-3")
def test_a_list_in_resources_is_no_text() -> None:
    assert found(document("- {name: a, resources: {max: {memory: [1]}}}")) == [
        ("CFG-3", "[0].resources.max.memory")
    ]


@pytest.mark.rule("CFG-4")
@pytest.mark.parametrize("name", ["default", "DEFAULT", '""', "~"])
def test_no_name_and_any_case_of_default_are_the_partition_default(name: str) -> None:
    text = f"partitions: [{{name: gpu, queues: [{{name: g}}]}}, {{name: {name}, queues: [{{name: a}}]}}]"
    assert [queue.path for queue in load_document(text).queues] == ["root", "root.a"]


@pytest.mark.rule("CFG-4")
@pytest.mark.parametrize("names", [("gpu", "GPU"), ('""', "Default")])
def test_a_partition_that_occurs_twice_rejects(names: tuple[str, str]) -> None:
    text = f"partitions: [{{name: {names[0]}, queues: []}}, {{name: {names[1]}, queues: []}}]"
    assert found(text) == [("CFG-4", "partitions[1].name")]


@pytest.mark.rule("CFG-4")
def test_other_partitions_are_checked_and_a_document_without_default_has_no_queues() -> None:
    assert load_document("partitions: [{name: gpu, queues: []}]").queues == ()
    text = "partitions: [{queues: []}, {name: gpu, queues: [{name: a b}]}]"
    assert found(text) == [("CFG-9", "partitions[1].queues[0].name")]


@pytest.mark.rule("CFG-5")
@pytest.mark.parametrize("partition", ["{name: default}", "{queues: ~}", "~", "{}"])
def test_a_partition_without_queues_rejects(partition: str) -> None:
    problems = check_document(f"partitions: [{partition}]")
    assert [problem.path.startswith("partitions[0]") for problem in problems] == [True]


@pytest.mark.rule("CFG-5")
def test_an_empty_list_of_queues_is_just_a_root() -> None:
    (root,) = load_document("partitions: [{queues: []}]").queues
    assert (root.path, root.submit_acl, root.is_leaf) == ("root", "", False)
    assert found("partitions: [{name: x}]") == [("CFG-5", "partitions[0].queues")]


@pytest.mark.rule("CFG-6")
@pytest.mark.parametrize("queues", ["[{name: a}, {name: b}]", "[{name: a}]", "[{name: root}, {name: a}]"])
def test_a_root_without_submit_acl_is_inserted_unless_the_top_is_exactly_one_root(queues: str) -> None:
    specs = load_document(f"partitions: [{{queues: {queues}}}]").queues
    assert (specs[0].path, specs[0].submit_acl, specs[0].is_leaf) == ("root", "", False)
    assert {spec.parent for spec in specs[1:]} == {"root"}


@pytest.mark.rule("CFG-6")
def test_paths_below_an_inserted_root_are_those_of_the_document() -> None:
    text = "partitions: [{queues: [{name: a}, {name: b}, {name: c, resources: {max: {vcore: x}}}]}]"
    assert found(text) == [("CFG-22", "partitions[0].queues[2].resources.max.vcore")]


@pytest.mark.rule("CFG-6", "CFG-11")
def test_a_lone_root_of_any_case_stays_and_is_a_parent() -> None:
    (root,) = load_document("partitions: [{queues: [{name: ROOT, submitacl: '*', parent: false}]}]").queues
    assert (root.path, root.submit_acl, root.is_leaf) == ("root", "*", False)


@pytest.mark.rule("CFG-7")
@pytest.mark.parametrize("amounts", ["{}", "{vcore: 1}"])
@pytest.mark.parametrize("key", ["max", "guaranteed"])
def test_root_resources_reject_even_when_empty(key: str, amounts: str) -> None:
    text = f"partitions: [{{queues: [{{name: root, resources: {{{key}: {amounts}}}}}]}}]"
    assert found(text) == [("CFG-7", f"partitions[0].queues[0].resources.{key}")]


@pytest.mark.rule("CFG-7")
def test_an_absent_or_null_root_resource_is_fine() -> None:
    for resources in ("{}", "~", "{max: ~, guaranteed: }"):
        assert not check_document(f"partitions: [{{queues: [{{name: root, resources: {resources}}}]}}]")


@pytest.mark.rule("CFG-9")
@pytest.mark.parametrize("name", ["a", "A_b:c#d/e@f-9", "x" * 64, "007", "true"])
def test_an_allowed_queue_name(name: str) -> None:
    assert f"root.{name.lower()}" in by_path(document(f"- {{name: {name}}}"))


@pytest.mark.rule("CFG-9")
@pytest.mark.parametrize("name", ['""', "~", "a.b", "a b", "x" * 65, "é", '"a\\n"', "$x"])
def test_a_forbidden_queue_name(name: str) -> None:
    assert found(document(f"- {{name: {name}}}")) == [("CFG-9", "[0].name")]


@pytest.mark.rule("CFG-10")
def test_siblings_differ_whatever_the_case() -> None:
    assert found(document("- {name: a}\n- {name: b}\n- {name: A}\n- {name: a}")) == [
        ("CFG-10", "[2].name"),
        ("CFG-10", "[3].name"),
    ]
    assert not check_document(document("- {name: a, queues: [{name: a}, {name: b}]}\n- {name: b}"))


@pytest.mark.rule("CFG-11")
def test_names_are_folded_to_lower_case() -> None:
    queues = by_path(document("- {name: Tenants, queues: [{name: BLUE}]}"))
    assert queues["root.tenants.blue"].parent == "root.tenants"
    assert "root.Tenants" not in queues


@pytest.mark.rule("CFG-22")
@pytest.mark.parametrize("text", ["-1", "1.5", "10K", "5ki", "1m", "9223372036854775808", "9E1"])
def test_a_value_that_is_no_quantity(text: str) -> None:
    for key in ("max", "guaranteed"):
        problems = found(document(f"- {{name: a, resources: {{{key}: {{memory: {text}}}}}}}"))
        assert problems == [("CFG-22", f"[0].resources.{key}.memory")]


@pytest.mark.rule("CFG-22")
def test_a_value_that_is_a_quantity() -> None:
    text = document("- {name: a, resources: {max: {vcore: 500m, memory: 25 k, nvidia.com/gpu: 2}}}")
    assert by_path(text)["root.a"].max == Limit({"vcore": 500, "memory": 25_000, "nvidia.com/gpu": 2})
    assert found(text.replace("gpu: 2", "gpu: 2m")) == [("CFG-22", '[0].resources.max["nvidia.com/gpu"]')]


@pytest.mark.rule("CFG-23")
def test_guaranteed_is_within_the_queues_own_max() -> None:
    queue = "- {name: a, resources: {max: {vcore: 2, gpu: %d}, guaranteed: {vcore: 2, gpu: 1, memory: 9}}}"
    assert found(document(queue % 0)) == [("CFG-23", "[0].resources.guaranteed.gpu")]
    assert not check_document(document(queue % 1))


def chain(*maxima: str) -> str:
    """A chain of queues under the root, each with the resources given."""
    nested = "[]"
    for resources in reversed(maxima):
        nested = f"[{{name: a, resources: {{{resources}}}, queues: {nested}}}]"
    return f"partitions: [{{queues: [{{name: root, queues: {nested}}}]}}]"


@pytest.mark.rule("CFG-24")
@pytest.mark.parametrize(("leaf", "accepted"), [(150, False), (101, False), (100, True), (1, True)])
def test_max_is_within_the_smallest_max_above_also_over_a_level_without(leaf: int, accepted: bool) -> None:
    text = chain("max: {vcore: 100}", "", f"max: {{vcore: {leaf}, memory: 5}}")
    expected = [] if accepted else [("CFG-24", "[0].queues[0].queues[0].resources.max.vcore")]
    assert found(text) == expected


@pytest.mark.rule("CFG-24")
def test_every_level_tightens_the_max_per_resource() -> None:
    text = chain("max: {vcore: 100, memory: 5}", "max: {vcore: 50}", "max: {vcore: 60, memory: 6}")
    assert found(text) == [
        ("CFG-24", "[0].queues[0].queues[0].resources.max.memory"),
        ("CFG-24", "[0].queues[0].queues[0].resources.max.vcore"),
    ]


PARENT_OF_TWO = """
- name: p
  resources: {max: {memory: 100, vcore: %s}, guaranteed: {%s}}
  queues:
    - {name: a, resources: {guaranteed: {memory: 50, vcore: 50}, max: {memory: 80}}}
    - {name: b, resources: {guaranteed: {memory: 50, vcore: 50}, max: {memory: 80}}}
"""


@pytest.mark.rule("CFG-25")
@pytest.mark.parametrize(
    ("guaranteed", "accepted"), [("memory: 100", True), ("memory: 99", False), ("", True)]
)
def test_children_are_guaranteed_no_more_than_their_parent(guaranteed: str, accepted: bool) -> None:
    expected = [] if accepted else [("CFG-25", "[0].resources.guaranteed.memory")]
    assert found(document(PARENT_OF_TWO % (100, guaranteed))) == expected


@pytest.mark.rule("CFG-26")
@pytest.mark.parametrize(("cores", "accepted"), [(100, True), (99, False)])
def test_children_are_guaranteed_no_more_than_the_max(cores: int, accepted: bool) -> None:
    expected = [] if accepted else [("CFG-26", "[0].resources.max.vcore")]
    assert found(document(PARENT_OF_TWO % (cores, "memory: 100"))) == expected


@pytest.mark.rule("CFG-26")
def test_the_effective_max_may_be_an_ancestors() -> None:
    text = chain("max: {vcore: 10}, guaranteed: {memory: 1}", "", "guaranteed: {vcore: 11}")
    assert found(text) == [("CFG-26", "[0].queues[0]"), ("CFG-26", "[0].resources.max.vcore")]


@pytest.mark.rule("CFG-27")
def test_the_worked_example_of_contributions_is_accepted() -> None:
    assert not check_document(document(PARENT_OF_TWO % (100, "memory: 100")))


@pytest.mark.rule("CFG-27")
@pytest.mark.parametrize(
    ("middle", "leaf", "places"),
    [
        ("guaranteed: {memory: 5}", "guaranteed: {vcore: 11}", []),
        ("guaranteed: {memory: 0}", "guaranteed: {vcore: 11}", ["[0].resources.guaranteed.vcore"]),
        ("", "guaranteed: {vcore: 11}", ["[0].resources.guaranteed.vcore"]),
        ("guaranteed: {memory: 7}", "guaranteed: {memory: 1}", ["[0].resources.guaranteed.memory"]),
    ],
    ids=["own hides the children's vcore", "all zero counts as none", "none", "own counts"],
)
def test_a_queue_passes_up_its_own_guarantee_else_its_childrens(
    middle: str, leaf: str, places: list[str]
) -> None:
    text = chain("guaranteed: {memory: 6, vcore: 10}", middle, leaf)
    assert found(text) == [("CFG-25", place) for place in places]


def applications(*counts: int) -> str:
    nested = "[]"
    for place, count in reversed(list(enumerate(counts))):
        name = "a" if place else "root"
        nested = f"[{{name: {name}, maxapplications: {count}, queues: {nested}}}]"
    return f"partitions: [{{queues: {nested}}}]"


@pytest.mark.rule("CFG-39")
@pytest.mark.parametrize("counts", [(4, 3, 2, 1), (0, 3, 2, 1), (1, 1), (0, 0, 0)])
def test_max_applications_may_shrink_downwards(counts: tuple[int, ...]) -> None:
    assert not check_document(applications(*counts))


@pytest.mark.rule("CFG-39")
def test_max_applications_may_not_grow_downwards() -> None:
    assert found(applications(1, 2, 3, 4)) == [
        ("CFG-39", "[0].maxapplications"),
        ("CFG-39", "[0].queues[0].maxapplications"),
        ("CFG-39", "[0].queues[0].queues[0].maxapplications"),
    ]


@pytest.mark.rule("CFG-40")
def test_below_a_cap_on_applications_every_queue_has_one() -> None:
    assert found(applications(4, 3, 2, 0)) == [("CFG-40", "[0].queues[0].queues[0].maxapplications")]
    text = "partitions: [{queues: [{name: root, maxapplications: 4, queues: [{name: a}, {name: b}]}]}]"
    assert [rule for rule, _ in found(text)] == ["CFG-40", "CFG-40"]


@pytest.mark.rule("CFG-40")
def test_childrens_max_applications_may_sum_to_more_than_the_parents() -> None:
    assert not check_document(
        "partitions: [{queues: [{name: root, maxapplications: 4, queues: ["
        "{name: a, maxapplications: 4}, {name: b, maxapplications: 4}]}]}]"
    )


@pytest.mark.rule("Q-1")
def test_leaf_or_parent() -> None:
    queues = by_path(
        document("- {name: a}\n- {name: b, parent: true}\n- {name: c, parent: false, queues: [{name: d}]}")
    )
    assert {path: spec.is_leaf for path, spec in queues.items()} == {
        "root": False,
        "root.a": True,
        "root.b": False,
        "root.c": False,
        "root.c.d": True,
    }


@pytest.mark.rule("Q-2")
@pytest.mark.parametrize(
    ("amounts", "kept"),
    [
        ("{memory: 0}", None),
        ("{}", None),
        ("~", None),
        ("{memory: 0, vcore: 10}", {"memory": 0, "vcore": 10_000}),
    ],
)
def test_amounts_without_a_value_above_zero_are_undefined(amounts: str, kept: dict[str, int] | None) -> None:
    text = document(
        f"- {{name: a, resources: {{max: {amounts}}}}}\n- {{name: b, resources: {{guaranteed: {amounts}}}}}"
    )
    queues = by_path(text)
    assert queues["root.a"].max == (None if kept is None else Limit(kept))
    assert queues["root.b"].guaranteed == (None if kept is None else Resource(kept))


@pytest.mark.rule("Q-4")
def test_properties_are_kept_as_written_and_not_inherited() -> None:
    queues = by_path(
        document(
            """
            - name: a
              properties: {application.sort.policy: fair, Own.Key: 007, flag: true, none: ~}
              queues: [{name: b}]
            """
        )
    )
    expected = {"application.sort.policy": "fair", "Own.Key": "007", "flag": "true", "none": ""}
    assert dict(queues["root.a"].properties) == expected
    assert dict(queues["root.a.b"].properties) == {}


def test_queues_come_root_first_parents_before_children_in_document_order() -> None:
    text = document("- {name: b, queues: [{name: z}, {name: y}]}\n- {name: a, queues: [{name: x}]}")
    assert [spec.path for spec in load_document(text).queues] == [
        "root",
        "root.b",
        "root.b.z",
        "root.b.y",
        "root.a",
        "root.a.x",
    ]


MANY_MISTAKES = """
- name: "a b"
  resources: {max: {vcore: -1, memory: 5}, guaranteed: {memory: 6}}
- name: c
  maxapplications: 1
  queues:
    - name: d
    - name: D
      maxapplications: 2
"""


def test_every_problem_is_reported_with_its_line_in_yunikorns_order() -> None:
    with pytest.raises(ConfigError) as raised:
        load_document(document(MANY_MISTAKES))
    at = "partitions[0].queues[0].queues"
    assert [(problem.rule, problem.path, problem.line) for problem in raised.value.problems] == [
        ("CFG-9", f"{at}[0].name", 7),
        ("CFG-10", f"{at}[1].queues[1].name", 13),
        ("CFG-22", f"{at}[0].resources.max.vcore", 8),
        ("CFG-23", f"{at}[0].resources.guaranteed.memory", 8),
        ("CFG-40", f"{at}[1].queues[0].maxapplications", 12),
        ("CFG-39", f"{at}[1].queues[1].maxapplications", 14),
    ]
    assert str(raised.value).startswith(f'{at}[0].name (line 7): name "a b" must be')
    assert str(raised.value).endswith("[CFG-9]; and 5 more")
