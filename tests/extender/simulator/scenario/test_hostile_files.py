"""Hostile and unlucky files: they are answered with errors, quickly and with little memory."""

import contextlib
import os
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.queueconfig.document import ListValue, MapValue, QuotedText, Value, read_document
from extender.queueconfig.problems import ConfigError
from extender.simulator.scenario.fields import MOST_MISTAKES
from extender.simulator.scenario.model import Scenario, ScenarioError
from extender.simulator.scenario.reader import read_scenario, scenario_from, yaml_of
from extender.simulator.scenario.scalars import milliseconds_of, plain
from tests.effort import assert_linear, effort
from tests.extender.simulator.scenario.yaml_values import list_of, mapping_of

HEAD = "apiVersion: paddock.dev/v1\nkind: Scenario\nname: s\nconfig: {partitions: []}\n"
NOWHERE = Path("/nowhere")


def read(text: str) -> Scenario:
    return scenario_from(HEAD + text, file="s.yaml", folder=NOWHERE)


def refused(text: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        read(text)
    return caught.value


def submitting(entries: str) -> str:
    return "steps:\n  - at: 0s\n    submit:\n" + entries


# -- too much of it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("above", ["steps:\n  - at: 0s\n    submit:\n", "steps: []\ncluster:\n    nodes:\n"])
def test_a_short_file_cannot_ask_for_millions_of_objects(above: str) -> None:
    def asked(count: int) -> None:
        entries = "".join(f"      - {{name: w{at}, count: 100000}}\n" for at in range(count))
        (mistake,) = refused(above + entries).mistakes
        assert mistake.message == "more than 100000 pods or nodes in one scenario"

    # Those of the first entry are allowed, and made.
    assert effort(lambda: asked(100)) < 2 * effort(lambda: asked(2))
    asked(1000)


def test_added_nodes_count_with_those_of_the_cluster() -> None:
    cluster = "cluster: {nodes: [{name: a, count: 60000}]}\n"
    error = refused(cluster + "steps: [{at: 0s, addNodes: [{name: b, count: 60000}]}]\n")
    assert str(error) == ("s.yaml:6: steps[0].addNodes[0]: more than 100000 pods or nodes in one scenario")


def test_the_number_of_mistakes_is_bounded() -> None:
    def mistaken(keys: int) -> None:
        error = refused("steps: []\n" + "".join(f"unknown{at}: 1\n" for at in range(keys)))
        assert len(error.mistakes) == MOST_MISTAKES

    assert effort(lambda: mistaken(3000)) - effort(lambda: mistaken(1000)) < 2000 * 300
    mistaken(60_000)


def test_a_megabyte_of_a_name_is_cut_in_the_message() -> None:
    name = "x" * 2**20
    for text in (f"{name}: 1\nsteps: []\n", submitting(f"      - {{name: p, priorityClass: {name}}}\n")):
        assert len(str(refused(text))) < 1500


def test_a_pod_among_many_is_no_more_effort_to_read() -> None:
    line = "      - {name: web-%d, app: app-1, queue: root.a, cpu: 1, memory: 1Gi}\n"

    def pods(count: int) -> str:
        return submitting("".join(line % at for at in range(count)))

    assert_linear(read, pods, 200)
    assert len(read(pods(10_000)).steps[0].submit) == 10_000


# -- files that are none -------------------------------------------------------------------------------------


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ScenarioError, match=r"pipe: cannot be read: not a regular file"):
        read_scenario(tmp_path / "pipe")
    text = HEAD.replace("{partitions: []}", "pipe") + "steps: []\n"
    with pytest.raises(ScenarioError, match=r"s\.yaml:4: config: there is no file pipe"):
        scenario_from(text, file="s.yaml", folder=tmp_path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "nul\0l", "."])
def test_what_is_no_file_is_not_read(path: str) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: not a regular file"):
        read_scenario(Path(path))


def test_a_path_that_no_system_takes() -> None:
    with pytest.raises(ScenarioError, match="cannot be read: File name too long"):
        read_scenario(Path("x" * 5000))


# -- values --------------------------------------------------------------------------------------------------


def test_a_pattern_that_python_warns_of_is_taken_as_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read("steps: [{at: 0s, expect: {pods: {a: {message: '[[a]'}}}}]\n")


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("1.5s", 1500),
        ("2m30s", 150_000),
        ("250ms", 250),
        ("1000us", 1),
        ("277777h0.001s", 999_997_200_001),
        ("1ms1ns", None),
        ("0.1ms", None),
        ("277778h", None),
        ("5", None),
        ("-1s", None),
        ("", None),
    ],
)
def test_durations_are_exact(text: str, milliseconds: int | None) -> None:
    assert milliseconds_of(text) == milliseconds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("007", 7),
        ("-5", -5),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", float(2**63)),
        ("9" * 5000, "9" * 5000),
        ("1e999", "1e999"),
        ("True", True),
        ("yes", "yes"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_plain_scalars_are_what_a_manifest_takes_them_for(text: str, value: object) -> None:
    found = plain(text)
    assert (found, type(found)) == (value, type(value))
    assert plain(QuotedText(text)) == text


# -- queue documents in place --------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
awkward = st.text(st.sampled_from("ab5 :#-?*&!|>'\"%@`{}[],~=\n\t\\<"), min_size=1, max_size=6)
plains = st.one_of(texts, awkward).filter(lambda text: text not in ("", "~", "null", "Null", "NULL"))
leaves = st.one_of(st.none(), st.one_of(texts, awkward).map(QuotedText), plains)
keys = st.one_of(st.one_of(texts, awkward).map(QuotedText), plains.filter(lambda text: text != "<<"))


nested = st.recursive(
    leaves,
    lambda below: st.one_of(
        st.lists(below, max_size=3).map(list_of), st.dictionaries(keys, below, max_size=3).map(mapping_of)
    ),
    max_leaves=10,
)


def _typed(value: Value) -> object:
    if isinstance(value, MapValue):
        return [(_typed(key), _typed(below)) for key, below in value.items()]
    if isinstance(value, ListValue):
        return [_typed(below) for below in value]
    return value if value is None else (isinstance(value, QuotedText), str(value))


@given(st.dictionaries(keys, nested, min_size=1, max_size=3).map(mapping_of))
def test_any_document_in_place_reaches_the_loader_unchanged(value: MapValue) -> None:
    """Including plain texts that cannot be written plain, from tags or folded lines."""
    assert _typed(read_document(yaml_of(value)).top) == _typed(value)


@pytest.mark.parametrize("text", ["a: x\n\n  y", "a: !!int ' 5'", "'<<': {b: 1}", "a: &x {b: [1]}\nc: *x"])
def test_a_document_means_the_same_when_written_out(text: str) -> None:
    value = read_document(text).top
    assert isinstance(value, MapValue)
    assert _typed(read_document(yaml_of(value)).top) == _typed(value)


def test_a_queue_among_many_is_no_more_effort_to_write_out() -> None:
    line = "  - {name: q%d, resources: {max: {vcore: 4, memory: 4Gi}}, properties: {a: fifo}}\n"

    def queues(count: int) -> MapValue:
        value = read_document("queues:\n" + "".join(line % at for at in range(count))).top
        assert isinstance(value, MapValue)
        return value

    assert_linear(yaml_of, queues, 200)
    assert yaml_of(queues(10_000))


# -- anything at all -----------------------------------------------------------------------------------------

KEYS = (
    *(
        "name",
        "config",
        "steps",
        "settings",
        "delays",
        "scheduler",
        "cluster",
        "nodes",
        "at",
        "submit",
        "count",
    ),
    *("resize", "kill", "after", "expect", "pods", "running", "message", "queues", "taints", "tolerations"),
    *("spec", "priority", "podGroup", "taskGroups", "podDisruptionBudgets", "namespaces", "exists", "reason"),
)
SCALARS = (
    "",
    "~",
    "0",
    "-1",
    "1e99",
    "99999999999",
    "true",
    "a",
    "'5'",
    "0s",
    "1.5s",
    "'['",
    "!!int x",
    "1Gi",
)

flow = st.recursive(
    st.sampled_from(SCALARS),
    lambda below: st.one_of(
        st.lists(below, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(st.sampled_from(KEYS), below, max_size=4).map(
            lambda entries: "{" + ", ".join(f"{key}: {value}" for key, value in entries.items()) + "}"
        ),
    ),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(KEYS), flow, max_size=4), flow)
def test_keys_of_the_format_in_any_place(top: dict[str, str], step: str) -> None:
    """A scenario or its mistakes, and never another exception."""
    rest = "".join(
        f"{key}: {value}\n" for key, value in top.items() if key not in ("name", "config", "steps")
    )
    with contextlib.suppress(ScenarioError):
        assert isinstance(read(rest + f"steps:\n  - {step}\n"), Scenario)


def test_an_alias_that_multiplies_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 9)]
    assert "when aliases are written out" in str(refused("\n".join(lines)))
    with pytest.raises(ConfigError):
        read_document("\n".join(lines))
