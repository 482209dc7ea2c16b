"""Documents that Paddock formerly read differently from YuniKorn, by the ids C1 to C9 and V1.

C6 and C7 are in ``tests/core/queues/test_properties.py``.
P1 and P2 are in ``tests/core/queues/placement/test_rules.py``.
"""

import pytest

from core.queues.users.access import acl_from
from core.resource import Limit
from extender.queueconfig.load import check_document, load_document
from extender.queueconfig.surprises.warnings import warnings_of
from tests.architecture.reading.sources import ROOT
from tests.extender.queueconfig.documents import found, of_partition, of_queues, of_tree, queue

PARENTS = of_queues("{name: said, parent: true}", "{name: unsaid, queues: [{name: leaf}]}")
RIGHT = "partitions:\n- name: default\n  queues: [{name: root, submitacl: '*'}]\n"


def warned(text: str) -> list[tuple[str, str]]:
    return [(each.rule, each.path.removeprefix("partitions[0].")) for each in warnings_of(text)]


@pytest.mark.rule("CFG-32")
def test_c1_a_fixed_rule_may_end_at_a_parent_that_the_document_does_not_call_one() -> None:
    rule = "placementrules: [{{name: fixed, value: root.{}}}], " + PARENTS.replace("{", "{{").replace(
        "}", "}}"
    )
    unsaid, said = (of_partition(rule.format(name)) for name in ("unsaid", "said"))
    assert check_document(unsaid) == ()
    assert warned(unsaid) == [("CFG-32", "placementrules[0]")]
    assert found(said) == [("CFG-32", "placementrules[0]")]


@pytest.mark.rule("TPL-2")
def test_c2_a_template_on_a_leaf_is_never_read() -> None:
    text = of_tree("{name: a, childtemplate: {resources: {max: {vcore: much}}}}")
    assert check_document(text) == ()
    assert queue("root.a")(load_document(text)).template is None
    assert warned(text) == [("TPL-2", "queues[0].queues[0].childtemplate")]


@pytest.mark.rule("TPL-1")
def test_c3_a_template_of_zeros_is_one_and_hides_that_of_the_parent() -> None:
    text = of_tree("{name: a, parent: true, childtemplate: {resources: {max: {vcore: 0}}}}")
    template = queue("root.a")(load_document(text)).template
    assert template is not None
    assert (template.max, template.guaranteed, template.max_applications) == (None, None, 0)


@pytest.mark.rule("TPL-1")
@pytest.mark.parametrize("inside", ["", "properties: {a: ''}", "resources: {max: {vcore: ''}}"])
def test_c3_a_template_that_says_nothing_is_none(inside: str) -> None:
    text = of_tree(f"{{name: a, parent: true, childtemplate: {{{inside}}}}}")
    assert check_document(text) == ()
    assert queue("root.a")(load_document(text)).template is None


def test_c4_a_queue_named_root_below_another_keeps_its_settings() -> None:
    spec = load_document(of_tree("{name: root, resources: {max: {vcore: 1}}}"))
    assert queue("root.root")(spec).max == Limit({"vcore": 1000})


def test_c5_a_configured_recovery_queue_keeps_its_settings() -> None:
    spec = load_document(of_tree("{name: '@recovery@', resources: {max: {vcore: 1}}}"))
    assert queue("root.@recovery@")(spec).max == Limit({"vcore": 1000})


@pytest.mark.parametrize(
    "difference",
    [
        pytest.param("a queue named `root` below another", id="C4"),
        pytest.param("a configured `@recovery@`", id="C5"),
        pytest.param("its pods that have a node count in `root.@recovery@`", id="forced applications"),
    ],
)
def test_c4_c5_a_difference_that_stays_is_in_the_table(difference: str) -> None:
    page = (ROOT / "docs" / "reference" / "differences.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and difference in line]
    assert len(rows) == 1


@pytest.mark.rule("CFG-12", "ACL-2")
def test_c8_access_lists_are_not_split_at_separators() -> None:
    assert check_document(of_tree('{name: a, submitacl: "a\\x1cb c"}')) == ()
    assert found(of_tree('{name: a, submitacl: "a\\x85b c"}')) == [
        ("CFG-12", "queues[0].queues[0].submitacl")
    ]
    assert not acl_from("\x1c*").everybody
    assert acl_from("\x0b*").everybody


@pytest.mark.rule("RES-1")
@pytest.mark.parametrize(("sign", "trims"), [("x1c", False), ("x1f", False), ("x85", True), ("u2003", True)])
def test_v1_quantities_are_not_trimmed_of_separators(sign: str, trims: bool) -> None:
    text = of_tree(f'{{name: a, resources: {{max: {{memory: "5\\{sign}"}}}}}}')
    assert found(text) == ([] if trims else [("CFG-22", "queues[0].queues[0].resources.max.memory")])


@pytest.mark.rule("CFG-2")
@pytest.mark.parametrize("directive", ["%YAML 1.1", "%TAG ! tag:x,2000:"])
def test_c9_a_directive_that_cuts_the_document_off_is_refused(directive: str) -> None:
    cut = check_document(f"{RIGHT}{directive}\n  limits: []\n")
    assert [(each.rule, each.path, each.line) for each in cut] == [("CFG-2", "", 4)]
    assert "what follows would not be read" in cut[0].message


@pytest.mark.rule("CFG-2")
@pytest.mark.parametrize(
    "mark", ["%YAML 1.1\n---\n", "---\n", "...\n%YAML 1.1\n", "...\n{broken", "---\n{broken"]
)
def test_c9_separators_end_the_document_on_purpose(mark: str) -> None:
    assert check_document(RIGHT + mark) == ()
