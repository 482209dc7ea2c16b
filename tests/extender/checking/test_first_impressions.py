"""E6: messages of `paddock check` for users with a document for YuniKorn."""

import pytest

from extender.checking.verdict import Verdict, check_text

DOCUMENT = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            resources: {max: {vcore: 10, memory: 10G}}
"""
HELM = "yunikornDefaults:\n  service.policyGroup: queues\n  queues.yaml: |\n"
BARE = "log.level: INFO\nqueues.yaml: |\n"


def indented(text: str, by: int) -> str:
    return "".join(" " * by + line for line in text.splitlines(keepends=True))


def checked(text: str) -> Verdict:
    return check_text(text.encode(), name="x")


def places(verdict: Verdict) -> list[tuple[str, str, int | None]]:
    return [(each.rule, each.path, each.line) for each in verdict.problems]


def warned(text: str) -> list[tuple[str, str]]:
    front = "partitions[0].queues[0].queues[0]."
    return [(each.rule, each.path.removeprefix(front)) for each in checked(text).warnings]


@pytest.mark.rule("RES-2")
@pytest.mark.parametrize("name", ["cpu", "CPU", "vcores", "vCore"])
@pytest.mark.parametrize("key", ["max", "guaranteed"])
def test_e6_names_for_cpu_that_no_pod_asks_for(name: str, key: str) -> None:
    text = DOCUMENT.replace("max: {vcore: 10,", f"{key}: {{{name}: 10,")
    assert warned(text) == [("RES-2", f"resources.{key}.{name}")]
    assert checked(text).right
    assert "write vcore" in checked(text).warnings[0].message


@pytest.mark.rule("RES-2")
@pytest.mark.parametrize(("memory", "tiny"), [("10", True), ("1000k", True), ("0", False), ("1Mi", False)])
def test_e6_memory_in_which_no_pod_runs(memory: str, tiny: bool) -> None:
    text = DOCUMENT.replace("10G", memory)
    assert warned(text) == ([("RES-2", "resources.max.memory")] if tiny else [])
    assert checked(text).right


@pytest.mark.rule("RES-2")
def test_e6_templates_and_limits_are_checked_too() -> None:
    text = DOCUMENT.replace(
        "            resources: {max: {vcore: 10, memory: 10G}}\n",
        "            parent: true\n"
        "            childtemplate: {resources: {max: {cpu: 1}}}\n"
        "            limits: [{users: [u], maxresources: {memory: 5}}]\n",
    )
    assert warned(text) == [
        ("RES-2", "childtemplate.resources.max.cpu"),
        ("RES-2", "limits[0].maxresources.memory"),
    ]


@pytest.mark.rule("CFG-1")
def test_e6_no_mistake_hides_another() -> None:
    text = (
        DOCUMENT.replace("name: default", "colour: red")
        .replace("name: a", 'name: a b\n            maxapplications: "5"')
        .replace("vcore: 10", "vcore: much")
    )
    at = "partitions[0].queues[0].queues[0]"
    assert places(checked(text)) == [
        ("CFG-2", f"{at}.maxapplications", 8),
        ("CFG-1", "partitions[0].colour", 2),
        ("CFG-9", f"{at}.name", 7),
        ("CFG-22", f"{at}.resources.max.vcore", 9),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        "name: [a]",
        "name: a, parent: 'true'",
        "name: a, resources: {max: [1]}",
        "name: a, maxapplications: -1",
    ],
)
def test_e6_a_value_that_was_left_out_makes_no_further_problem(wrong: str) -> None:
    text = f"partitions: [{{queues: [{{name: root, maxapplications: 3, queues: [{{{wrong}}}]}}]}}]"
    found = checked(text).problems
    expected = ["CFG-2"] if "maxapplications: -1" in wrong else ["CFG-2", "CFG-40"]
    assert [each.rule for each in found] == expected


@pytest.mark.rule("SRC-1")
def test_e6_values_of_the_helm_chart() -> None:
    assert checked(HELM + indented(DOCUMENT, 4)) == Verdict("x", ())
    wrong = checked(HELM + indented(DOCUMENT.replace("vcore: 10", "vcore: x"), 4))
    assert places(wrong) == [("CFG-22", "partitions[0].queues[0].queues[0].resources.max.vcore", 11)]
    number = checked("replicaCount: 2\n" + HELM.replace("queues\n", "5\n") + indented(DOCUMENT, 4))
    assert places(number) == [("SRC-1", 'yunikornDefaults["service.policyGroup"]', 3)]


@pytest.mark.rule("SRC-1")
def test_e6_entries_without_a_config_map_around_them() -> None:
    right = checked(BARE + indented(DOCUMENT, 2))
    assert (right.problems, [each.path for each in right.warnings]) == ((), ['["log.level"]'])
    wrong = checked(BARE + indented(DOCUMENT.replace("vcore: 10", "vcore: x"), 2))
    assert places(wrong) == [("CFG-22", "partitions[0].queues[0].queues[0].resources.max.vcore", 10)]
