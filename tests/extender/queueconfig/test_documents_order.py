"""The order of problems, their completeness, and the note on a report that was cut (CFG 2.2)."""

import pytest

from extender.queueconfig.load import check_document, load_document
from extender.queueconfig.problems import MAX_REPORTED, ConfigError
from tests.extender.queueconfig.documents import found, of_partition, of_tree

EVERY_STAGE = """
partitions:
- limits: [{users: [u], maxapplications: 9}]
  nodesortpolicy: {type: worst, resourceweights: {vcore: -1}}
  placementrules:
  - {name: fixed, value: root.nowhere}
  - {name: user, filter: {type: "no", users: [9]}, parent: {name: a-b, filter: {groups: [9]}}}
  - {name: fixed, value: root.x, parent: {name: fixed, value: b}}
  - {name: nowhere}
  queues:
  - name: root
    resources: {max: {vcore: 1}}
    submitacl: a b c
    maxapplications: 1
    limits: [{maxapplications: 2}, {users: [u], maxapplications: 1, maxresources: {gpu: 1}}]
    queues:
    - name: a b
      maxapplications: 2
      adminacl: " a b"
      childtemplate: {resources: {max: {vcore: -1}}}
      resources: {max: {vcore: 1}, guaranteed: {vcore: 2}}
      limits:
      - {users: [u], maxresources: {vcore: 3, gpu: 2}, maxapplications: 2}
      - {users: [9], maxapplications: 1}
      queues: [{name: "", adminacl: a b c, maxapplications: 1}]
    - {name: b, maxapplications: 1, submitacl: a b c, resources: {max: {vcore: x}}}
"""


def test_the_order_of_one_partition() -> None:
    first, second = "queues[0].queues[0]", "queues[0].queues[1]"
    assert found(EVERY_STAGE) == [
        ("CFG-7", "queues[0].resources.max"),
        ("CFG-8", "limits"),
        ("CFG-12", "queues[0].submitacl"),
        ("CFG-13", "queues[0].limits[0]"),
        ("CFG-20", "queues[0].limits[0].maxapplications"),
        ("CFG-9", f"{first}.name"),
        ("CFG-21", f"{first}.limits[0].maxresources.vcore"),
        ("CFG-14", f"{first}.limits[1].users[0]"),
        ("CFG-9", f"{first}.queues[0].name"),
        ("CFG-12", f"{first}.queues[0].adminacl"),
        ("CFG-12", f"{second}.submitacl"),
        ("CFG-23", f"{first}.resources.guaranteed.vcore"),
        ("CFG-22", f"{second}.resources.max.vcore"),
        ("CFG-28", "placementrules[1].parent.name"),
        ("CFG-30", "placementrules[1].parent.filter.groups[0]"),
        ("CFG-29", "placementrules[1].filter.type"),
        ("CFG-30", "placementrules[1].filter.users[0]"),
        ("CFG-31", "placementrules[2].value"),
        ("CFG-34", "placementrules[0]"),
        ("CFG-37", "nodesortpolicy.type"),
        ("CFG-38", "nodesortpolicy.resourceweights.vcore"),
        ("CFG-39", f"{first}.maxapplications"),
        ("CFG-41", f"{first}.limits[0].maxresources.gpu"),
        ("CFG-44", f"{first}.limits[0].maxapplications"),
        ("APPLY-4", "placementrules[2].parent"),
        ("APPLY-4", "placementrules[3].name"),
        ("APPLY-3", f"{first}.childtemplate.resources.max.vcore"),
        ("APPLY-2", f"{first}.adminacl"),
    ]


@pytest.mark.rule("CFG-4", verdict="rejected")
def test_a_partition_is_checked_whole_before_the_name_of_the_next() -> None:
    text = "partitions: [{queues: [{name: a b, adminacl: ' a b'}]}, {queues: [{name: c d}]}]"
    assert [(each.rule, each.path) for each in check_document(text)] == [
        ("CFG-9", "partitions[0].queues[0].name"),
        ("CFG-4", "partitions[1].name"),
        ("CFG-9", "partitions[1].queues[0].name"),
        ("APPLY-2", "partitions[0].queues[0].adminacl"),
    ]


def test_an_entry_of_limits_is_checked_whole_before_the_next() -> None:
    entries = "{users: ['9', u], maxapplications: 9}, {groups: ['*']}, {users: [u], maxresources: {vcore: x}}"
    text = of_tree(f"{{name: a, maxapplications: 1, limits: [{entries}]}}")
    assert [rule for rule, _ in found(text)] == ["CFG-14", "CFG-20", "CFG-17", "CFG-19", "CFG-15", "CFG-18"]


@pytest.mark.rule("APPLY-5")
def test_what_shows_when_a_document_is_applied_refuses_all_of_it_and_comes_last() -> None:
    text = of_partition(
        "placementrules: [{name: nowhere}], queues: [{name: a, adminacl: '  ', queues: [{name: c d}], "
        "childtemplate: {resources: {max: {vcore: x}}}}]"
    )
    with pytest.raises(ConfigError) as raised:
        load_document(text)
    rules = [problem.rule for problem in raised.value.problems]
    assert rules == ["CFG-9", "APPLY-4", "APPLY-3", "APPLY-2"]


MANY_MISTAKES = """
partitions:
  - queues:
      - name: "a b"
        resources: {max: {vcore: -1, memory: 5}, guaranteed: {memory: 6}}
      - name: c
        maxapplications: 1
        queues:
          - name: d
          - name: D
            maxapplications: 2
"""


def test_every_problem_is_reported_with_its_line() -> None:
    with pytest.raises(ConfigError) as raised:
        load_document(MANY_MISTAKES)
    at = "partitions[0].queues"
    assert [(problem.rule, problem.path, problem.line) for problem in raised.value.problems] == [
        ("CFG-9", f"{at}[0].name", 4),
        ("CFG-10", f"{at}[1].queues[1].name", 10),
        ("CFG-22", f"{at}[0].resources.max.vcore", 5),
        ("CFG-23", f"{at}[0].resources.guaranteed.memory", 5),
        ("CFG-40", f"{at}[1].queues[0].maxapplications", 9),
        ("CFG-39", f"{at}[1].queues[1].maxapplications", 11),
    ]
    assert str(raised.value).startswith(f'{at}[0].name (line 4): name "a b" is not allowed')
    assert str(raised.value).endswith("[CFG-9]; and 5 more")


MANY = MAX_REPORTED + 5
CUT = f"more than {MAX_REPORTED} problems, the others are not listed; solve these and check again"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param(of_tree(*["{name: a b}"] * MANY), "CFG-9", id="of a rule"),
        pytest.param("\n".join(f"key{n}: 1" for n in range(MANY)), "CFG-1", id="unknown keys"),
        pytest.param("a: 1\n" * (MANY + 1), "CFG-2", id="repeated keys"),
        pytest.param(of_tree(*["{parent: 1}"] * MANY), "CFG-2", id="wrong values"),
        pytest.param(
            of_tree(*[f"{{name: a{n}, x: 1}}" for n in range(900)], *["{name: a b}"] * 200),
            "CFG-9",
            id="of two kinds",
        ),
        pytest.param(
            of_tree(*[f"{{name: a{n}, submitacl: '  '}}" for n in range(MANY)]),
            "APPLY-2",
            id="found when applied",
        ),
    ],
)
def test_a_report_that_was_cut_says_so(text: str, rule: str) -> None:
    """The last entry has the rule of the entry before, so it is left out together with APPLY."""
    problems = check_document(text)
    assert len(problems) == MAX_REPORTED + 1
    assert (problems[-1].path, problems[-1].rule, problems[-1].message) == ("", rule, CUT)
    with pytest.raises(ConfigError) as raised:
        load_document(text)
    assert raised.value.problems == problems


@pytest.mark.parametrize("count", [1, MAX_REPORTED])
def test_a_report_that_was_not_cut_does_not_say_so(count: int) -> None:
    problems = check_document(of_tree(*["{name: a b}"] * count))
    assert len(problems) == count
    assert problems[-1].message != CUT


def test_problems_found_when_applied_do_not_push_out_those_of_a_check() -> None:
    """An answer that leaves APPLY out (SRC-11) must not allow a document because its report was cut."""
    queues = [
        f"{{name: a{n}, parent: true, childtemplate: {{resources: {{max: {{vcore: x}}}}}}}}"
        for n in range(MANY)
    ]
    text = of_tree(*queues, "{name: b, limits: [{users: [u]}]}")
    assert check_document(text)[0].rule == "CFG-19"
