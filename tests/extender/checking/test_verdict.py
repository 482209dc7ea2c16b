"""The verdict of `paddock check` on a plain document: its output, its bounds, and validate-conf."""

import json
from textwrap import indent

import pytest

from extender.checking.verdict import Verdict, check_text, json_of, lines_of, validation_of
from extender.queueconfig.problems import MAX_REPORTED
from tests.effort import assert_linear, effort

RIGHT = b"""
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: a, resources: {max: {vcore: 2}}}
"""
SURPRISING = RIGHT.replace(b"vcore: 2", b"vcore: 0")
WRONG = SURPRISING + b"          - {name: b c, maxapps: 1, resources: {max: {vcore: x}}}\n"


def test_a_right_document() -> None:
    verdict = check_text(RIGHT, name="queues.yaml")
    assert verdict == Verdict("queues.yaml", ())
    assert list(lines_of(verdict)) == ["queues.yaml: no problems"]


def test_a_warning_is_no_problem() -> None:
    verdict = check_text(SURPRISING, name="q")
    assert verdict.right
    warning, last = lines_of(verdict)
    assert warning.startswith("q: warning: partitions[0].queues[0].queues[0].resources.max (line 8): all ")
    assert warning.endswith(" [Q-2]")
    assert last == "q: no problems, 1 warning"


def test_every_problem_comes_before_the_warnings() -> None:
    verdict = check_text(WRONG, name="q")
    assert not verdict.right
    assert [(each.rule, each.line) for each in verdict.problems] == [
        ("CFG-1", 9),
        ("CFG-9", 9),
        ("CFG-22", 9),
    ]
    assert [each.rule for each in verdict.warnings] == ["Q-2"]
    assert [line.startswith("q: warning: ") for line in lines_of(verdict)] == [False, False, False, True]


def test_a_document_that_cannot_be_parsed_has_no_warnings() -> None:
    verdict = check_text(SURPRISING + b"  x: {", name="q")
    assert ([each.rule for each in verdict.problems], verdict.warnings) == (["CFG-2"], ())


def test_as_data() -> None:
    shown = json.loads(json_of([check_text(WRONG, name="q")]))
    assert list(shown) == ["name", "problems", "warnings"]
    (warning,) = shown["warnings"]
    assert {key: warning[key] for key in ("path", "rule", "line")} == {
        "path": "partitions[0].queues[0].queues[0].resources.max",
        "rule": "Q-2",
        "line": 8,
    }
    assert [set(each) for each in shown["problems"]] == [{"path", "rule", "message", "line"}] * 3


def test_several_files_as_data_are_a_list() -> None:
    verdicts = [check_text(RIGHT, name="a"), check_text(WRONG, name="b")]
    assert [each["name"] for each in json.loads(json_of(verdicts))] == ["a", "b"]


@pytest.mark.parametrize("in_config_map", [False, True])
@pytest.mark.parametrize("what", ["problems", "warnings"])
def test_what_is_too_much_is_cut_and_said(what: str, in_config_map: bool) -> None:
    bad = {"problems": "{vcore: x}", "warnings": "{vcore: 0}"}[what]
    children = "".join(f"\n          - {{name: q{n}, resources: {{max: {bad}}}}}" for n in range(1_500))
    text = RIGHT.decode() + children
    if in_config_map:
        text = "kind: ConfigMap\ndata:\n  service.clusterId: x\n  queues.yaml: |\n" + indent(text, "    ")
    shown = json.loads(json_of([check_text(text.encode(), name="q")]))
    assert len(shown[what]) == MAX_REPORTED + 1
    assert sum("resources.max" in each["path"] for each in shown[what]) == MAX_REPORTED
    last = shown[what][-1]
    assert (last["path"], last["line"]) == ("", None)
    assert last["message"].startswith(f"more than {MAX_REPORTED} {what}, the others are not listed")


def test_a_thousand_wrong_keys_are_cut_too() -> None:
    """Similar keys are searched only for reported keys, since that is most of the effort.

    Each of those is compared with every known key, so the bound grows with the number of settings.
    """

    def checked(count: int) -> None:
        text = b"kind: ConfigMap\ndata:\n" + b"".join(b"  key%d: x\n" % n for n in range(count))
        assert len(check_text(text, name="q").warnings) == MAX_REPORTED + 1

    assert effort(lambda: checked(4_000)) < 4_000 * 930
    checked(50_000)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"\x00",
        b"kind: ",
        b"kind: ConfigMap\n---\n---\n",
        b"{" * 5_000,
        b"kind: [\n",
        b"- kind: ConfigMap",
        b"partitions: [{queues: [{name: root, properties: {'': ''}, childtemplate: {properties: {'': x}}}]}]",
        b"partitions: [{queues: [{submitacl: ' , '}], placementrules: [{filter: {users: ['']}}]}]",
        b"partitions: [{placementrules: [{name: fixed, create: true, value: ..., parent: {name: fixed}}]}]",
        b"partitions: [{queues: [{name: root, queues: [{name: '', properties: {priority.offset: '9'}}]}]}]",
        b"a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]",
        b"--- " * 1_000 + b"\n---\n" * 100_000,
    ],
)
def test_any_text_gets_a_verdict(text: bytes) -> None:
    assert list(lines_of(check_text(text, name="q")))
    assert effort(lambda: check_text(text, name="q")) < 100_000


def queues(count: int) -> bytes:
    child = "resources: {guaranteed: {vcore: 1}, max: {vcore: 5}}, submitacl: 'ann,bob staff'"
    limits = "limits: [{users: [bob], maxapplications: 5}], properties: {application.sort.policy: fair}"
    entries = "".join(f"\n          - {{name: q{n}, {child}, {limits}}}" for n in range(count))
    return RIGHT + entries.encode()


def test_a_queue_among_many_is_no_more_effort() -> None:
    assert_linear(lambda text: check_text(text, name="q"), queues, 100)
    assert check_text(queues(5_000), name="q").right


# -- validate-conf -------------------------------------------------------------------------------------------


@pytest.mark.rule("SRC-11")
@pytest.mark.parametrize(
    "text",
    [
        RIGHT.replace(b'"*"', b'" a b"'),
        RIGHT.replace(b"{name: a", b"{name: a, parent: true, childtemplate: {resources: {max: {vcore: x}}}"),
        RIGHT + b"    placementrules: [{name: frobnicate}]\n",
        SURPRISING,
    ],
    ids=["APPLY-2", "APPLY-3", "APPLY-4", "a warning"],
)
def test_validation_does_not_see_what_shows_when_a_document_is_applied(text: bytes) -> None:
    assert validation_of(text, active="")["allowed"] is True


@pytest.mark.rule("SRC-11")
def test_validation_names_the_first_problem() -> None:
    answer = validation_of(RIGHT.replace(b"name: a", b"name: a b"), active="")
    assert answer["allowed"] is False
    assert '"a b"' in answer["reason"]
