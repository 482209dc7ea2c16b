"""What a scenario file says, as values. No reading (see `reading`), no running (see `run`).

Times are whole milliseconds from the start of the scenario. ``line`` is a line of the file, for messages.
Source: the public scenario format. Objects of the Kubernetes API stay in their own JSON shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.errors import PaddockError

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


class Named(NamedTuple):
    """A name that a step mentions, and where."""

    name: str
    line: int


class ConfigText(NamedTuple):
    """A queue document as the loader takes it. ``line``: of the key that holds it or its path."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEntry:
    """One line of ``nodes`` or ``addNodes``: ``names`` has ``count`` names, or one.

    ``allocatable``: Kubernetes resource name to quantity; omitted cpu and memory are "0", pods "110".
    ``taints``: as in a node's spec.
    """

    line: int
    names: tuple[str, ...]
    allocatable: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, Any], ...] = ()
    unschedulable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClassEntry:
    line: int
    name: str
    value: int
    preemption_policy: str = "PreemptLowerPriority"
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceEntry:
    line: int
    name: str
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetEntry:
    """A PodDisruptionBudget. Exactly one of the two bounds is given: a number or a percentage as text."""

    line: int
    name: str
    namespace: str
    match_labels: Mapping[str, str]
    max_unavailable: str | None = None
    min_available: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEntry:
    nodes: tuple[NodeEntry, ...] = ()
    priority_classes: tuple[PriorityClassEntry, ...] = ()
    namespaces: tuple[NamespaceEntry, ...] = ()
    budgets: tuple[BudgetEntry, ...] = ()


class PodGroup(NamedTuple):
    name: str
    min_available: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PodEntry:
    """One line of ``submit``: ``names`` are its pods' names, in the order of their creation.

    ``requests``: Kubernetes resource name to quantity. ``task_groups``: as in the file, None when absent.
    ``run_for``: milliseconds from the Binding to Succeeded, None for ever. ``spec``: merged into the pod's.
    """

    line: int
    name: str
    names: tuple[str, ...]
    namespace: str = "default"
    app: str | None = None
    queue: str | None = None
    user: str | None = None
    groups: tuple[str, ...] = ()
    requests: Mapping[str, str] = field(default_factory=dict)
    priority: int | None = None
    priority_class: str | None = None
    preemption_policy: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    task_groups: tuple[Mapping[str, Any], ...] | None = None
    task_group: str | None = None
    scheduling_policy: str | None = None
    pod_group: PodGroup | None = None
    node: str | None = None
    age: int = 0
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    daemon_set: bool = False
    required_node: str | None = None
    run_for: int | None = None
    recreate: bool = False
    grace: int = 0
    scheduler_name: str = "yunikorn"
    spec: Mapping[str, Any] = field(default_factory=dict)


class Resize(NamedTuple):
    pod: Named
    requests: Mapping[str, str]


class Kill(NamedTuple):
    """Paddock restarts right after the ``nth`` effect of that name from now on."""

    after: str
    nth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What one ``expect`` names; None where it does not. Mappings keep the order of the file.

    ``pods``: per pod a mapping of node, phase, reason, nominatedNode, message (a regular expression).
    ``queues``, ``applications``, ``users``, ``groups``: per name a subset of its REST object, its scalars
    read as YAML does (numbers, switches), quoted text kept as text. ``config_rejected`` with ``message``, a
    regular expression or None. ``lines``: the line of each key (``running``) and of each name below one
    (``running.web``).
    """

    line: int
    placed: tuple[str, ...] | None = None
    placed_any_order: tuple[str, ...] | None = None
    evicted: tuple[str, ...] | None = None
    running: Mapping[str, int] | None = None
    pending: Mapping[str, int] | None = None
    pods: Mapping[str, Mapping[str, str]] | None = None
    queues: Mapping[str, Mapping[str, Any]] | None = None
    applications: Mapping[str, Mapping[str, Any]] | None = None
    users: Mapping[str, Mapping[str, Any]] | None = None
    groups: Mapping[str, Mapping[str, Any]] | None = None
    exists: Mapping[str, bool] | None = None
    placeholders: Mapping[str, int] | None = None
    config_rejected: bool | None = None
    message: str | None = None
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What happens at one moment, in the order of the fields, and what must hold then."""

    line: int
    at: int
    config: ConfigText | None = None
    settings: Mapping[str, str] | None = None
    add_nodes: tuple[NodeEntry, ...] = ()
    remove_nodes: tuple[Named, ...] = ()
    cordon: tuple[Named, ...] = ()
    uncordon: tuple[Named, ...] = ()
    submit: tuple[PodEntry, ...] = ()
    resize: tuple[Resize, ...] = ()
    complete: tuple[Named, ...] = ()
    fail: tuple[Named, ...] = ()
    delete: tuple[Named, ...] = ()
    ungate: tuple[Named, ...] = ()
    restart: bool = False
    stop_scheduler: bool = False
    restart_scheduler: bool = False
    kill: Kill | None = None
    expect: Expect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole file. ``watch_delay`` and ``bind_delay`` in milliseconds, ``max_backoff`` in seconds."""

    file: str
    name: str
    why: str = ""
    config: ConfigText
    settings: Mapping[str, str] = field(default_factory=dict)
    watch_delay: int = 0
    bind_delay: int = 0
    gates: bool = False
    percentage_of_nodes: int = 100
    max_backoff: int = 10
    cluster: ClusterEntry = field(default_factory=ClusterEntry)
    steps: tuple[Step, ...] = ()
