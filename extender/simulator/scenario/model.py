"""Entries of a scenario file as values, and how each is read. `run` plays them.

Times are whole milliseconds from the start of the scenario. ``line`` is a line of the file, for messages.
Source: the public scenario format. Objects of the Kubernetes API stay in their own JSON shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator

from core.errors import PaddockError
from core.reasons import Code
from extender.queueconfig.problems import shown
from extender.simulator.scenario import checks
from extender.simulator.scenario.action_entries import CloseEntry, EndEntry, LiftEntry, MoveEntry
from extender.simulator.scenario.checks import ConfigText, Resize
from extender.simulator.scenario.cluster_entries import (
    POLICIES,
    TAINT_EFFECTS,
    ClusterEntry,
    Nodes,
)
from extender.simulator.scenario.fields import (
    MOST_COUNTED,
    OF_WHOLE,
    Duration,
    FreeMappings,
    Given,
    Label,
    Line,
    MaybeDuration,
    MaybeNames,
    MaybeNamesOrCounts,
    MaybeSwitch,
    MaybeText,
    MaybeTexts,
    Names,
    Namespace,
    NodeRef,
    Pattern,
    PlainNames,
    RequiredText,
    Switch,
    Text,
    Texts,
    a_mapping,
    as_given,
    choice,
    entries,
    entry,
    in_range,
    mapping,
    number,
    switch,
    text,
    wrong,
)

EFFECTS = (
    "WakePod",
    "OpenGate",
    "PostBinding",
    "NominateNode",
    "EvictPod",
    "DeletePod",
    "CreatePlaceholder",
    "WriteRecord",
    "SetCondition",
    "MarkFailed",
    "PostEvent",
)
"""Names that ``kill.after`` may hold."""

REASONS = frozenset((*(code.value for code in Code), "Unschedulable", ""))
"""Codes that ``reason`` may hold; none for a bound pod."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a scenario file."""

    #: Line in the file; None for the file as a whole.
    line: int | None
    #: Place, as in ``steps[0].submit[1].cpuu``; empty for the file.
    path: str
    #: Message about the mistake.
    message: str


class ScenarioError(PaddockError):
    """A scenario that cannot be played, with every mistake found, in the order of the file.

    Its text has one line per mistake: ``FILE:LINE: PATH: MESSAGE``.
    """

    def __init__(self, file: str, mistakes: tuple[Mistake, ...]) -> None:
        self.file = file
        self.mistakes = mistakes
        super().__init__("\n".join(_line_of(file, each) for each in mistakes))


def _line_of(file: str, mistake: Mistake) -> str:
    place = f"{file}:{mistake.line}" if mistake.line is not None else file
    return ": ".join(part for part in (place, mistake.path, mistake.message) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class TolerationEntry:
    """Toleration of a pod. What the file does not name is None."""

    #: Key of the taints; None for every key.
    key: MaybeText = None
    #: ``Exists`` or ``Equal``; None for ``Equal``.
    operator: Annotated[str | None, choice("Exists", "Equal")] = None
    #: Value of the taints.
    value: MaybeText = None
    #: Effect of the taints; None or empty for every effect.
    effect: Annotated[str | None, choice(*TAINT_EFFECTS, "")] = None
    #: Seconds for which NoExecute is tolerated; None for ever.
    toleration_seconds: Annotated[int | None, number(-(2**63), 2**63 - 1)] = None


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pod group that a pod names."""

    #: Name of the pod group.
    name: RequiredText
    #: Number of its pods that start together.
    min_available: Annotated[int, number(1, 100_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodEntry:
    """A line of ``submit``."""

    #: Line of the entry in the file.
    line: Line
    #: Names of its pods in the order of their creation.
    names: Annotated[tuple[str, ...], PlainValidator(checks.pod_names), OF_WHOLE]
    #: Name as the file gives it, before ``count`` numbers it.
    name: Text = ""
    #: Namespace of the pods.
    namespace: Namespace = "default"
    #: Application id; None for none.
    app: Label = None
    #: Queue as written on the pods; None for none.
    queue: MaybeText = None
    #: User of the pods; None when the file names none.
    user: MaybeText = None
    #: User groups of that user.
    groups: PlainNames = ()
    #: Quantity by Kubernetes resource name.
    requests: Annotated[Mapping[str, str], PlainValidator(checks.requests_of), OF_WHOLE] = field(
        default_factory=dict
    )
    #: Priority; None for that of the PriorityClass.
    priority: Annotated[int | None, number(-(2**31), 2**31 - 1)] = None
    #: Name of the PriorityClass; None for none.
    priority_class: Annotated[str | None, PlainValidator(checks.priority_class), OF_WHOLE] = None
    #: Policy of the pods; None for that of the PriorityClass.
    preemption_policy: Annotated[str | None, choice(*POLICIES)] = None
    #: Labels of the pods.
    labels: Texts = field(default_factory=dict)
    #: Annotations of the pods.
    annotations: Texts = field(default_factory=dict)
    #: Task groups as in the file; None when absent.
    task_groups: FreeMappings = None
    #: Task group that the pods are members of; None for none.
    task_group: MaybeText = None
    #: Parameters of the gang's scheduling policy; None when absent.
    scheduling_policy: MaybeText = None
    #: Pod group of the pods; None for none.
    pod_group: Annotated[PodGroup | None, entry(PodGroup)] = None
    #: Node to which the pods are bound at once; None if they are to be placed.
    node: NodeRef = None
    #: Time that the pods exist already, in milliseconds.
    age: Duration = 0
    #: Labels that a node must have.
    node_selector: Texts = field(default_factory=dict)
    #: Tolerations of the pods.
    tolerations: tuple[Annotated[Given, as_given(TolerationEntry, last=checks.tolerates_something)], ...] = ()
    #: True if a DaemonSet made the pods.
    daemon_set: Switch = False
    #: Controller that the pods name, as ``Kind.group/name``; None for none.
    controller: MaybeText = None
    #: The only node that the pods may run on; None for any.
    required_node: NodeRef = None
    #: Time from the Binding to Succeeded, in milliseconds; None for ever.
    run_for: MaybeDuration = None
    #: True if a copy is submitted when a pod is evicted, preempted or deleted.
    recreate: Switch = False
    #: Time from an eviction until the pod is gone, in milliseconds.
    grace: Duration = 0
    #: Scheduler that the pods name.
    scheduler_name: Annotated[str, PlainValidator(lambda value: text(value) or "yunikorn")] = "yunikorn"
    #: Mapping that is merged into the spec of the pods.
    spec: Annotated[Mapping[str, Any], PlainValidator(checks.pod_spec)] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kill:
    """Restart of Paddock in the middle of its work."""

    #: Name of the effect after which Paddock restarts.
    after: Annotated[str, choice(*EFFECTS)]
    #: Number of the effect among those of that name, counted from now on.
    nth: Annotated[int, number(1, 1_000_000)] = 1


def _reason(value: Any) -> str:
    found = text(value)
    if found not in REASONS:
        raise wrong(f"{shown(found)} is not a refusal code")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPod:
    """State that a pod must have. None where the file does not name it."""

    #: Node of the pod; empty for none.
    node: MaybeText = None
    #: Phase of the pod; empty when it no longer exists.
    phase: Annotated[str | None, choice("Pending", "Running", "Succeeded", "Failed", "")] = None
    #: Code why it has no node; empty when it is bound.
    reason: Annotated[str | None, PlainValidator(_reason)] = None
    #: Node that it is nominated to; empty for none.
    nominated_node: MaybeText = None
    #: Regular expression for its message.
    message: Pattern = None


Counts = Annotated[Mapping[str, int] | None, mapping(in_range(0, MOST_COUNTED))]
Objects = Mapping[str, Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """Expectations of a step; None where the file names nothing. Mappings stay in the order of the file."""

    #: Line of the entry in the file.
    line: Line
    #: Names of the pods that were placed, in order.
    placed: MaybeNames = None
    #: Names of the pods that were placed, in any order.
    placed_any_order: MaybeNames = None
    #: Names of the pods that were evicted, or their number by name of their ``submit``. No other was evicted.
    evicted: MaybeNamesOrCounts = None
    #: Number of running pods by name of their ``submit``.
    running: Counts = None
    #: Number of pending pods by name of their ``submit``.
    pending: Counts = None
    #: State of each pod, by name.
    pods: Annotated[dict[str, Annotated[Given, as_given(ExpectedPod)]] | None, BeforeValidator(a_mapping)] = (
        None
    )
    #: Subset of the REST object of each queue; numbers and switches are read as YAML does, quoted text stays
    #: text.
    queues: Annotated[Objects, checks.rest_objects("queue")] = None
    #: Subset of the REST object of each application, read alike.
    applications: Annotated[Objects, checks.rest_objects("application")] = None
    #: Subset of the REST object of each user, read alike.
    users: Annotated[Objects, checks.rest_objects("user")] = None
    #: Subset of the REST object of each user group, read alike.
    groups: Annotated[Objects, checks.rest_objects("group")] = None
    #: Existence of each queue, by path: True if it must exist.
    exists: Annotated[Mapping[str, bool] | None, mapping(switch)] = None
    #: Number of placeholders by application.
    placeholders: Counts = None
    #: True if the step's ``config`` must be refused.
    config_rejected: MaybeSwitch = None
    #: Regular expression for the reason of that refusal.
    message: Pattern = None
    #: Line of each key (``running``) and of each name below one (``running.web``).
    lines: Annotated[Mapping[str, int], PlainValidator(checks.lines_of), OF_WHOLE] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Actions at one moment, in the order of the fields, and what must hold afterwards."""

    #: Line of the entry in the file.
    line: Line
    #: Time of the step, in milliseconds from the start.
    at: Duration = 0
    #: New queue document; None when it stays.
    config: Annotated[ConfigText | None, PlainValidator(checks.config_of), OF_WHOLE] = None
    #: New settings of Paddock; None when they stay.
    settings: MaybeTexts = None
    #: Time by which Paddock's clock is ahead of the API server's from now on; None when that stays.
    clock_ahead: MaybeDuration = None
    #: Queues that an administrator closes.
    close: tuple[Annotated[CloseEntry, entry(CloseEntry)], ...] = ()
    #: Queues that an administrator opens.
    open: Names = ()
    #: Applications that an administrator ends.
    end: tuple[Annotated[EndEntry, entry(EndEntry)], ...] = ()
    #: Applications whose bar an administrator lifts.
    lift: tuple[Annotated[LiftEntry, entry(LiftEntry)], ...] = ()
    #: Applications that an administrator moves to another queue.
    move: tuple[Annotated[MoveEntry, entry(MoveEntry)], ...] = ()
    #: Nodes that are added.
    add_nodes: Nodes = ()
    #: Nodes that are removed.
    remove_nodes: Names = ()
    #: Nodes that become unschedulable.
    cordon: Names = ()
    #: Nodes that become schedulable.
    uncordon: Names = ()
    #: Pods that are created.
    submit: Annotated[
        tuple[
            Annotated[PodEntry, entry(PodEntry, *checks.POD_KEYS, check=checks.daemon_set)],
            ...,
        ],
        entries(checks.once("pod {} is submitted twice in this step", by_namespace=True)),
    ] = ()
    #: Pods whose requests change.
    resize: Annotated[tuple[Resize, ...], PlainValidator(checks.resized)] = ()
    #: Pods that succeed.
    complete: Names = ()
    #: Pods that fail.
    fail: Names = ()
    #: Pods that are deleted.
    delete: Names = ()
    #: Pods whose Paddock gate is opened by others.
    ungate: Names = ()
    #: True if Paddock restarts.
    restart: Switch = False
    #: True if kube-scheduler stops.
    stop_scheduler: Switch = False
    #: True if kube-scheduler starts again.
    restart_scheduler: Switch = False
    #: Restart of Paddock after an effect; None for none.
    kill: Annotated[Kill | None, entry(Kill)] = None
    #: Expectations at the end of the step; None for nothing.
    expect: Annotated[Expect | None, entry(Expect, check=checks.rejection)] = None


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays of the played cluster."""

    #: Time after which Paddock sees a change of the API, in milliseconds.
    watch: Duration = 0
    #: Time that a Binding takes, in milliseconds.
    bind: Duration = 0


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """Settings of the played kube-scheduler."""

    #: Percentage of nodes to score; 0 for the scheduler's own rule.
    percentage_of_nodes_to_score: Annotated[int, number(0, 100)] = 100
    #: Longest back-off of a pod, in seconds.
    pod_max_backoff_seconds: Annotated[int, number(1, 86_400)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole scenario file."""

    #: Name of the file.
    file: Annotated[str, PlainValidator(checks.file_of), OF_WHOLE]
    #: Name of the scenario.
    name: RequiredText
    #: Purpose of the scenario; empty if the file does not say.
    why: Text = ""
    #: Queue document at the start.
    config: Annotated[ConfigText, PlainValidator(checks.required_config), OF_WHOLE]
    #: Cluster at the start.
    cluster: Annotated[ClusterEntry, entry(ClusterEntry)] = field(default_factory=ClusterEntry)
    #: Settings of Paddock at the start.
    settings: Texts = field(default_factory=dict)
    #: Delays of the played cluster.
    delays: Annotated[Delays, entry(Delays)] = field(default_factory=Delays)
    #: True if pods are created with Paddock's gate.
    gates: Switch = False
    #: Settings of the played kube-scheduler.
    scheduler: Annotated[SchedulerSettings, entry(SchedulerSettings)] = field(
        default_factory=SchedulerSettings
    )
    #: Steps in the order of time.
    steps: Annotated[tuple[Annotated[Step, entry(Step, "config")], ...], entries(checks.in_order)]
