"""Facts about pods and namespaces in core's own values. No verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from core.ids import NO_NODE, NO_POD, NodeName, PodUid
from core.queues.users.identity import UNKNOWN_IDENTITY, Identity
from core.resource import Limit, Resource
from core.workload.daemon_set import Controller
from core.workload.gangs.gang import Gang, Misdefined, PodGroup
from core.workload.nodes.affinity import ANYWHERE, Constraints

ADMITTED: Final = "paddock.dev/Admitted"
"""Condition that says whether Paddock's gate lets a pod through (DESIGN-6)."""

RESERVED_NODE: Final = "paddock.dev/reserved-node"
"""Annotation of an ask that names the node reserved for it (DESIGN-4)."""

TRIGGERED: Final = "paddock.dev/triggered"
"""Annotation of an ask with victims: the id of the plan."""

PREEMPTED_FOR: Final = "paddock.dev/preempted-for"
"""Annotation of a victim: the uid of the ask, a slash and the plan, or the path of the queue. The reason
follows."""

REPLACES: Final = "paddock.dev/replaces"
"""Annotation of a gang member: the uid of the placeholder that it replaces."""

GANG: Final = "paddock.dev/gang"
"""Annotation of an originator that records the outcome of its gang (GANG-20)."""

GATE_OPENED: Final = "paddock.dev/gate-opened"
"""Annotation that Paddock adds when it removes its own gate. Without it, another party removed the gate
(F-7)."""
APPLICATION: Final = "paddock.dev/application"
"""Annotation of a pod whose labels were changed: the application and queue that they named before."""

EXECUTION_TIMEOUT: Final = "yunikorn.apache.org/execution-timeout"
"""Annotation of an originator: the time for which its application may run (ACT-40)."""

RUNNING_SINCE: Final = "paddock.dev/running-since"
"""Annotation that records since when the application of a pod runs (ACT-41)."""

EXECUTION: Final = "paddock.dev/execution"
"""Annotation beside `RUNNING_SINCE` with the announced end of that time."""

OWN_GATE: Final = "paddock.dev/queue"
"""Paddock's own scheduling gate, which is no gate in the sense of POD-20."""


# Not frozen, since each event makes one. Past a frozen class's guard, 54 assignments cost four times as much.
@dataclass(slots=True)
class PodFacts:
    """A pod as last reported. Nobody changes it once it is translated: the test of owners finds any write."""

    uid: PodUid
    namespace: str
    name: str
    #: Amounts that it asks for (RES-3 to RES-6).
    size: Resource
    #: resourceVersion; 0 if it is not a number.
    version: int = 0
    #: Creation, in seconds since the epoch.
    created: float = 0.0
    scheduler_name: str = ""
    priority: int = 0
    #: Node to which it is bound, or empty.
    node: NodeName = NO_NODE
    #: True for Succeeded and Failed.
    terminal: bool = False
    #: True with a deletionTimestamp.
    deleting: bool = False
    #: Application id as POD-3 finds it, or empty.
    app_id: str = ""
    #: Queue as POD-5 finds it, or empty.
    queue: str = ""
    #: True if it carries a prefixed key (DESIGN-7).
    marked: bool = False
    #: Names of its scheduling gates.
    gates: tuple[str, ...] = ()
    #: ``status.nominatedNodeName``.
    nominated: NodeName = NO_NODE
    #: Message of PodScheduled=False, or empty.
    unscheduled: str = ""
    #: True if that message tells of an error: the attempt ended before nodes were judged, or after.
    attempt_broke_off: bool = False
    #: User and groups that submit it (ID-1).
    identity: Identity = UNKNOWN_IDENTITY
    #: Number of ResourceClaims, whose devices are in no size.
    claims: int = 0
    #: True with the tag ``application.stateaware.disable`` (SORT-8).
    starts_at_once: bool = False
    #: Constraints on nodes.
    constraints: Constraints = ANYWHERE
    #: Reason in its condition `ADMITTED` why its gate is shut; empty for none.
    gate_reported: str = ""
    #: Node reserved for it, as written on it (DESIGN-4).
    reserved_node: NodeName = NO_NODE
    #: False if Paddock's markers make kube-scheduler skip filter for it (DESIGN-6).
    asks_filter: bool = True
    #: True if its annotation `GATE_OPENED` says that Paddock removed its gate.
    gate_opened: bool = False
    #: True with ``preemptionPolicy: Never``.
    never_preempts: bool = False
    #: Value of its own annotation, ``true`` or ``false``; else empty (PRE-4).
    allow_preemption: str = ""
    #: Priority class, whose annotation counts if the pod has none (PRE-4).
    priority_class: str = ""
    #: Controller as ``Kind.group/name``; empty without one.
    controller: str = ""
    #: Only node of a pod that says a DaemonSet made it (RNP-1); empty for others.
    required_node: NodeName = NO_NODE
    #: DaemonSet that the pod names. Only the DaemonSet can confirm it (F-10).
    daemon_set: Controller | None = None
    #: True if nodes alone cannot tell whether one takes it: volumes, ports, required terms between pods.
    complex: bool = False
    #: True if it has volumes by claims. kube-scheduler may have to bind these before it binds the pod.
    has_volumes: bool = False
    #: Seconds it is given to terminate.
    grace: int = 30
    labels: Mapping[str, str] = field(default_factory=dict)
    #: True if kube-scheduler has preempted it.
    disrupted: bool = False
    #: Plan that is carried out for it, as written on it.
    triggered: str = ""
    #: Ask or queue that it is a victim of, as written on it.
    preempted_for: str = ""
    #: Plan by which it was chosen, as written on it.
    preempted_plan: str = ""
    #: Reason why it was chosen, as written on it.
    preempted_why: str = ""
    #: Task group that it is a member of, or empty (POD-8).
    task_group: str = ""
    #: True for a placeholder (POD-9).
    placeholder: bool = False
    #: Gang that it defines; None without (POD-10, POD-14).
    gang: Gang | Misdefined | None = None
    #: Pod group that it names; None without (COS-1).
    pod_group: PodGroup | Misdefined | None = None
    #: Uid of the pod that owns it, if one does (GANG-2).
    owner: PodUid = NO_POD
    #: Names of its pull secrets.
    pull_secrets: tuple[str, ...] = ()
    #: Names of Paddock's markers in its requests (DESIGN-6).
    markers: tuple[str, ...] = ()
    #: Annotation `REPLACES`.
    replaces: PodUid = NO_POD
    #: Annotation `GANG`.
    gang_noted: str = ""
    #: Annotations of its task groups that it carries itself (F-16).
    gang_annotations: Mapping[str, str] = field(default_factory=dict)
    #: Annotation `APPLICATION`.
    taken_as: str = ""
    #: Time at which its condition PodScheduled became true, in seconds since the epoch; 0 before that.
    scheduled_at: float = 0.0
    #: Annotation `EXECUTION_TIMEOUT`, cut; empty without.
    execution_timeout: str = ""
    #: Annotation `RUNNING_SINCE`, cut.
    running_since: str = ""
    #: Annotation `EXECUTION`, cut.
    execution: str = ""
    #: True if it shows a static pod of a kubelet.
    mirror: bool = False

    @property
    def gated(self) -> bool:
        """True if a gate other than Paddock's holds it, so that it is no ask yet (POD-20)."""
        return bool(self.gates) and any(gate != OWN_GATE for gate in self.gates)


@dataclass(frozen=True, slots=True)
class NamespaceFacts:
    """A namespace as last reported.

    ``enabled`` and ``generate_app_id``: annotations ``namespace.enableYuniKorn`` and
    ``namespace.generateAppId``, or empty (NS-7). ``parent_queue``: NS-6. ``max``, ``guaranteed`` and
    ``max_applications``: for the dynamic queue of its pods; None and 0 without (NS-1 to NS-4).
    """

    name: str
    enabled: str = ""
    parent_queue: str = ""
    max: Limit | None = None
    guaranteed: Resource | None = None
    max_applications: int = 0
    generate_app_id: str = ""


@dataclass(frozen=True, slots=True)
class PriorityClassFacts:
    """A PriorityClass as last reported. ``allow_preemption``: its annotation of POD-17, or empty."""

    name: str
    value: int = 0
    allow_preemption: str = ""
