"""What a scenario file says, as values, and how each is read. No running (see `run`).

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
from extender.simulator.scenario.checks import ConfigText, Resize
from extender.simulator.scenario.cluster_entries import (
    POLICIES,
    TAINT_EFFECTS,
    ClusterEntry,
    Nodes,
)
from extender.simulator.scenario.fields import (
    OF_WHOLE,
    Duration,
    FreeMappings,
    Given,
    Label,
    Line,
    MaybeDuration,
    MaybeNames,
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
"""Codes that ``reason`` may hold; none when the pod is bound."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing wrong with a scenario file. ``path`` as in ``steps[0].submit[1].cpuu``, "" for the file."""

    line: int | None
    path: str
    message: str


class ScenarioError(PaddockError):
    """A scenario that cannot be played: every mistake found, in the order of the file.

    Its text has one line per mistake: ``FILE:LINE: PATH: MESSAGE``.
    """

    def __init__(self, file: str, mistakes: tuple[Mistake, ...]) -> None:
        self.file = file
        self.mistakes = mistakes
        super().__init__("\n".join(_told(file, each) for each in mistakes))


def _told(file: str, mistake: Mistake) -> str:
    place = f"{file}:{mistake.line}" if mistake.line is not None else file
    return ": ".join(part for part in (place, mistake.path, mistake.message) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class TolerationEntry:
    key: MaybeText = None
    operator: Annotated[str | None, choice("Exists", "Equal")] = None
    value: MaybeText = None
    effect: Annotated[str | None, choice(*TAINT_EFFECTS, "")] = None
    toleration_seconds: Annotated[int | None, number(-(2**63), 2**63 - 1)] = None


@dataclass(frozen=True, slots=True)
class PodGroup:
    name: RequiredText
    min_available: Annotated[int, number(1, 100_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodEntry:
    """One line of ``submit``: ``names`` are its pods' names, in the order of their creation.

    ``requests``: Kubernetes resource name to quantity. ``task_groups``: as in the file, None when absent.
    ``run_for``: milliseconds from the Binding to Succeeded, None for ever. ``spec``: merged into the pod's.
    """

    line: Line
    names: Annotated[tuple[str, ...], PlainValidator(checks.pod_names), OF_WHOLE]
    name: Text = ""
    namespace: Namespace = "default"
    app: Label = None
    queue: MaybeText = None
    user: MaybeText = None
    groups: PlainNames = ()
    requests: Annotated[Mapping[str, str], PlainValidator(checks.requests_of), OF_WHOLE] = field(
        default_factory=dict
    )
    priority: Annotated[int | None, number(-(2**31), 2**31 - 1)] = None
    priority_class: Annotated[str | None, PlainValidator(checks.priority_class), OF_WHOLE] = None
    preemption_policy: Annotated[str | None, choice(*POLICIES)] = None
    labels: Texts = field(default_factory=dict)
    annotations: Texts = field(default_factory=dict)
    task_groups: FreeMappings = None
    task_group: MaybeText = None
    scheduling_policy: MaybeText = None
    pod_group: Annotated[PodGroup | None, entry(PodGroup)] = None
    node: NodeRef = None
    age: Duration = 0
    node_selector: Texts = field(default_factory=dict)
    tolerations: tuple[Annotated[Given, as_given(TolerationEntry, last=checks.tolerates_something)], ...] = ()
    daemon_set: Switch = False
    required_node: NodeRef = None
    run_for: MaybeDuration = None
    recreate: Switch = False
    grace: Duration = 0
    scheduler_name: Annotated[str, PlainValidator(lambda value: text(value) or "yunikorn")] = "yunikorn"
    spec: Annotated[Mapping[str, Any], PlainValidator(checks.pod_spec)] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kill:
    """Paddock restarts right after the ``nth`` effect of that name from now on."""

    after: Annotated[str, choice(*EFFECTS)]
    nth: Annotated[int, number(1, 1_000_000)] = 1


def _reason(value: Any) -> str:
    found = text(value)
    if found not in REASONS:
        raise wrong(f"{shown(found)} is not a refusal code")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPod:
    node: MaybeText = None
    phase: Annotated[str | None, choice("Pending", "Running", "Succeeded", "Failed", "")] = None
    reason: Annotated[str | None, PlainValidator(_reason)] = None
    nominated_node: MaybeText = None
    message: Pattern = None


Counts = Annotated[Mapping[str, int] | None, mapping(in_range(0, 10**9))]
Objects = Mapping[str, Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What one ``expect`` names; None where it does not. Mappings keep the order of the file.

    ``pods``: per pod a mapping of node, phase, reason, nominatedNode, message (a regular expression).
    ``queues``, ``applications``, ``users``, ``groups``: per name a subset of its REST object, its scalars
    read as YAML does (numbers, switches), quoted text kept as text. ``config_rejected`` with ``message``, a
    regular expression or None. ``lines``: the line of each key (``running``) and of each name below one
    (``running.web``).
    """

    line: Line
    placed: MaybeNames = None
    placed_any_order: MaybeNames = None
    evicted: MaybeNames = None
    running: Counts = None
    pending: Counts = None
    pods: Annotated[dict[str, Annotated[Given, as_given(ExpectedPod)]] | None, BeforeValidator(a_mapping)] = (
        None
    )
    queues: Annotated[Objects, checks.rest_objects("queue")] = None
    applications: Annotated[Objects, checks.rest_objects("application")] = None
    users: Annotated[Objects, checks.rest_objects("user")] = None
    groups: Annotated[Objects, checks.rest_objects("group")] = None
    exists: Annotated[Mapping[str, bool] | None, mapping(switch)] = None
    placeholders: Counts = None
    config_rejected: MaybeSwitch = None
    message: Pattern = None
    lines: Annotated[Mapping[str, int], PlainValidator(checks.lines_of), OF_WHOLE] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What happens at one moment, in the order of the fields, and what must hold then."""

    line: Line
    at: Duration = 0
    config: Annotated[ConfigText | None, PlainValidator(checks.config_of), OF_WHOLE] = None
    settings: MaybeTexts = None
    add_nodes: Nodes = ()
    remove_nodes: Names = ()
    cordon: Names = ()
    uncordon: Names = ()
    submit: Annotated[
        tuple[
            Annotated[PodEntry, entry(PodEntry, *checks.POD_KEYS, check=checks.daemon_set)],
            ...,
        ],
        entries(checks.once("pod {} is submitted twice in this step", by_namespace=True)),
    ] = ()
    resize: Annotated[tuple[Resize, ...], PlainValidator(checks.resized)] = ()
    complete: Names = ()
    fail: Names = ()
    delete: Names = ()
    ungate: Names = ()
    restart: Switch = False
    stop_scheduler: Switch = False
    restart_scheduler: Switch = False
    kill: Annotated[Kill | None, entry(Kill)] = None
    expect: Annotated[Expect | None, entry(Expect, check=checks.rejection)] = None


@dataclass(frozen=True, slots=True)
class Delays:
    """How late Paddock sees changes of the API, and how long a Binding takes; milliseconds."""

    watch: Duration = 0
    bind: Duration = 0


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """Of the played kube-scheduler: 0 percent means its own rule."""

    percentage_of_nodes_to_score: Annotated[int, number(0, 100)] = 100
    pod_max_backoff_seconds: Annotated[int, number(1, 86_400)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole file."""

    file: Annotated[str, PlainValidator(checks.file_of), OF_WHOLE]
    name: RequiredText
    why: Text = ""
    config: Annotated[ConfigText, PlainValidator(checks.required_config), OF_WHOLE]
    cluster: Annotated[ClusterEntry, entry(ClusterEntry)] = field(default_factory=ClusterEntry)
    settings: Texts = field(default_factory=dict)
    delays: Annotated[Delays, entry(Delays)] = field(default_factory=Delays)
    gates: Switch = False
    scheduler: Annotated[SchedulerSettings, entry(SchedulerSettings)] = field(
        default_factory=SchedulerSettings
    )
    steps: Annotated[tuple[Annotated[Step, entry(Step, "config")], ...], entries(checks.in_order)]
