"""Scenario files as values: every key, and input that is no scenario at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.queueconfig.document import ListValue, MapValue, QuotedText, Value, read_document
from extender.simulator.scenario.fields import Named
from extender.simulator.scenario.model import Kill, PodGroup, Scenario, ScenarioError
from extender.simulator.scenario.reader import read_scenario, scenario_from, yaml_of
from tests.extender.simulator.scenario.yaml_values import list_of, mapping_of

FULL = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: everything
why: because
config: {partitions: [{name: default, queues: [{name: root}]}]}
settings: {paddock.turn.lease: 5s, number: 4}
delays: {watch: 250ms, bind: 1m30s}
gates: true
scheduler: {percentageOfNodesToScore: 0, podMaxBackoffSeconds: 1}
cluster:
  nodes:
    - {name: n1, cpu: 4, memory: 16Gi}
    - name: w
      count: 2
      pods: 20
      nvidia.com/gpu: 8
      labels: {zone: 1}
      taints: [{key: a, value: b, effect: NoSchedule}]
      unschedulable: true
  priorityClasses: [{name: high, value: 1000, preemptionPolicy: Never, annotations: {x: "false"}}]
  namespaces: [{name: dev, annotations: {y: z}}]
  podDisruptionBudgets: [{name: x, matchLabels: {a: b}, minAvailable: 50%}]
steps:
  - at: 0
    submit:
      - {name: web, count: 2, app: app-1, queue: root.a, cpu: 1, resources: {a.b/gpu: 1}, priority: -5}
      - name: one
        namespace: dev
        user: alice
        groups: [dev, ops]
        priorityClass: high
        labels: {version: 1.10}
        annotations: {a: "b"}
        taskGroups: [{name: t, minMember: 3, minResource: {cpu: "1"}}]
        taskGroup: t
        schedulingPolicy: placeholderTimeoutInSeconds=60
        podGroup: {name: g, minAvailable: 2}
        node: n1
        age: 1h
        nodeSelector: {disk: ssd}
        tolerations: [{key: a, operator: Exists, tolerationSeconds: 5}]
        daemonSet: true
        requiredNode: n1
        runFor: 10s
        recreate: true
        grace: 5s
        schedulerName: default-scheduler
        preemptionPolicy: Never
        spec: {hostNetwork: true, containers: [{name: c, ports: [{hostPort: 80}]}]}
  - at: 1.5s
    config: {partitions: []}
    settings: {a: b}
    addNodes: [{name: n9}]
    removeNodes: [w-0]
    cordon: [w-1]
    uncordon: [n1]
    resize: {web-0: {cpu: 2}}
    complete: [one]
    fail: [web-1]
    delete: [dev/one]
    ungate: [one]
    restart: true
    stopScheduler: true
    restartScheduler: true
    kill: {after: WakePod}
    expect:
      placed: [web-0]
      placedAnyOrder: []
      evicted: [one]
      running: {web: 2}
      pending: {web: 0}
      pods: {web-0: {node: n1, phase: Running, reason: "", nominatedNode: n2, message: "a.*b"}}
      queues: {root.a: {allocatedResource: {vcore: 500, memory: 16Gi}, isLeaf: true}}
      applications: {app-1: {applicationState: Running, placeholderData: [{count: 3}]}}
      users: {alice: {queues: {queuePath: root}}}
      groups: {dev: {groupName: dev}}
      exists: {root.a: false}
      placeholders: {app-1: 3}
      configRejected: true
      message: refused
"""


@pytest.fixture
def full() -> Scenario:
    return scenario_from(FULL, file="full.yaml", folder=Path("/nowhere"))


def test_what_stands_above_the_steps(full: Scenario) -> None:
    assert (full.name, full.why, full.gates) == ("everything", "because", True)
    assert (full.delays.watch, full.delays.bind) == (250, 90_000)
    assert (full.scheduler.percentage_of_nodes_to_score, full.scheduler.pod_max_backoff_seconds) == (0, 1)
    assert full.settings == {"paddock.turn.lease": "5s", "number": "4"}
    assert read_document(full.config.text).top == {
        "partitions": [{"name": "default", "queues": [{"name": "root"}]}]
    }


def test_the_cluster(full: Scenario) -> None:
    n1, w = full.cluster.nodes
    assert (n1.names, n1.allocatable) == (("n1",), {"cpu": "4", "memory": "16Gi", "pods": "110"})
    assert w.names == ("w-0", "w-1")
    assert w.allocatable == {"cpu": "0", "memory": "0", "pods": "20", "nvidia.com/gpu": "8"}
    assert (w.labels, w.unschedulable) == ({"zone": "1"}, True)
    assert w.taints == ({"key": "a", "value": "b", "effect": "NoSchedule"},)
    (high,), (dev,), (x,) = (
        full.cluster.priority_classes,
        full.cluster.namespaces,
        full.cluster.pod_disruption_budgets,
    )
    assert (high.value, high.preemption_policy, high.annotations) == (1000, "Never", {"x": "false"})
    assert dev.annotations == {"y": "z"}
    assert (x.namespace, x.match_labels, x.min_available, x.max_unavailable) == (
        "default",
        {"a": "b"},
        "50%",
        None,
    )


def test_the_pods(full: Scenario) -> None:
    web, one = full.steps[0].submit
    assert web.names == ("web-0", "web-1")
    assert (web.requests, web.priority) == ({"a.b/gpu": "1", "cpu": "1"}, -5)
    assert (one.namespace, one.user, one.groups, one.priority_class) == (
        "dev",
        "alice",
        ("dev", "ops"),
        "high",
    )
    assert (one.labels, one.annotations) == ({"version": "1.10"}, {"a": "b"})
    assert one.task_groups == ({"name": "t", "minMember": 3, "minResource": {"cpu": "1"}},)
    assert (one.task_group, one.scheduling_policy) == ("t", "placeholderTimeoutInSeconds=60")
    assert one.pod_group == PodGroup("g", 2)
    assert (one.node, one.age, one.run_for, one.grace) == ("n1", 3_600_000, 10_000, 5_000)
    assert one.tolerations == ({"key": "a", "operator": "Exists", "tolerationSeconds": 5},)
    assert (one.daemon_set, one.required_node, one.recreate) == (True, "n1", True)
    assert (one.scheduler_name, one.preemption_policy) == ("default-scheduler", "Never")
    assert one.spec == {"hostNetwork": True, "containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}


def test_the_actions_of_a_step(full: Scenario) -> None:
    step = full.steps[1]
    assert step.at == 1500
    assert step.config is not None
    assert step.settings == {"a": "b"}
    assert [node.names for node in step.add_nodes] == [("n9",)]
    assert (step.remove_nodes, step.cordon) == ((Named("w-0", 54),), (Named("w-1", 55),))
    assert step.uncordon == (Named("n1", 56),)
    assert [(each.pod.name, each.requests) for each in step.resize] == [("web-0", {"cpu": "2"})]
    assert [name for name, _ in (*step.complete, *step.fail, *step.delete)] == ["one", "web-1", "dev/one"]
    assert (step.restart, step.restart_scheduler, step.kill) == (True, True, Kill("WakePod", 1))


def test_what_is_expected(full: Scenario) -> None:
    expect = full.steps[1].expect
    assert expect is not None
    assert (expect.placed, expect.placed_any_order, expect.evicted) == (("web-0",), (), ("one",))
    assert (expect.running, expect.pending, expect.placeholders) == ({"web": 2}, {"web": 0}, {"app-1": 3})
    assert expect.pods is not None
    assert expect.pods["web-0"]["reason"] == ""
    assert expect.queues == {
        "root.a": {"allocatedResource": {"vcore": 500, "memory": "16Gi"}, "isLeaf": True}
    }
    assert (expect.exists, expect.config_rejected, expect.message) == ({"root.a": False}, True, "refused")
    assert expect.lines["running.web"] == expect.lines["running"] == 70
    assert full.steps[0].expect is None


def test_a_configuration_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "queues.yaml").write_text("partitions: []\n")
    path = tmp_path / "s.yaml"
    path.write_text(FULL.replace("{partitions: [{name: default, queues: [{name: root}]}]}", "queues.yaml"))
    assert read_scenario(path).config.text == "partitions: []\n"


# -- documents in place ------------------------------------------------------------------------------------

NULLS = ("null", "Null", "NULL")

# Plain scalars as people write them; any text may stand in quotes.
scalars = st.one_of(
    st.none(),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12).map(QuotedText),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_./]{0,11}", fullmatch=True).filter(lambda text: text not in NULLS),
)


values = st.recursive(
    scalars,
    lambda below: st.one_of(
        st.lists(below, max_size=4).map(list_of),
        st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), below, max_size=4).map(mapping_of),
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.from_regex(r"[a-z]{2,6}", fullmatch=True), values, min_size=1).map(mapping_of))
def test_a_document_in_place_reaches_the_loader_unchanged(value: MapValue) -> None:
    text = yaml_of(value)
    again = read_document(text).top
    assert _typed(again) == _typed(value), text


def _typed(value: Value) -> object:
    if isinstance(value, MapValue):
        return {str(key): _typed(below) for key, below in value.items()}
    if isinstance(value, ListValue):
        return [_typed(below) for below in value]
    return value if value is None else (isinstance(value, QuotedText), str(value))


# -- no scenario ---------------------------------------------------------------------------------------------


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode())))
def test_anything_else_is_refused_and_nothing_worse(text: bytes) -> None:
    with pytest.raises(ScenarioError):
        scenario_from(text, file="x", folder=Path("/nowhere"))


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n" * 1 + "d: [*c, *c, *c]\n",
        "{" * 5000,
        "[" * 200 + "]" * 200,
        "steps: " + "[{at: 0s}, " * 50,
        FULL.replace("count: 2", "count: 99999999999999999999"),
        FULL.replace("at: 0\n", "at: " + "9" * 400 + "s\n"),
        FULL.replace("cpu: 1,", "cpu: " + "9" * 5000 + ","),
    ],
)
def test_hostile_files_are_refused(text: str) -> None:
    with pytest.raises(ScenarioError):
        scenario_from(text, file="x", folder=Path("/nowhere"))
