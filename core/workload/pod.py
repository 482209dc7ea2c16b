"""What the cluster says about a pod and a namespace, in core's own values. Facts only, no verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.ids import NO_NODE, NO_POD, NodeName, PodUid
from core.queues.users.identity import UNKNOWN_IDENTITY, Identity
from core.resource import Limit, Resource
from core.workload.daemon_set import Controller
from core.workload.gangs.gang import Gang, Misdefined, PodGroup
from core.workload.nodes.affinity import ANYWHERE, Constraints

ADMITTED = "paddock.dev/Admitted"
"""The condition that says whether our gate lets a pod through (DESIGN-6)."""

RESERVED_NODE = "paddock.dev/reserved-node"
"""The annotation of an ask that names the node kept for it (DESIGN-4)."""

TRIGGERED = "paddock.dev/triggered"
"""The annotation of an ask that victims were chosen for: the id of the plan."""

PREEMPTED_FOR = "paddock.dev/preempted-for"
"""The annotation of a victim: the uid of the ask, a slash and the plan, or the path of the queue, that it
goes for, and why."""

REPLACES = "paddock.dev/replaces"
"""The annotation of a member of a gang: the uid of the placeholder whose room it takes over."""

GANG = "paddock.dev/gang"
"""The annotation of an originator that says what has become of its gang (GANG-20)."""

GATE_OPENED = "paddock.dev/gate-opened"
"""The annotation that goes with the removal of our own gate by us; without it another removed it (F-7)."""
APPLICATION = "paddock.dev/application"
"""The annotation of a pod whose labels were changed: the application and queue that they named before."""

OWN_GATE = "paddock.dev/queue"
"""Our own scheduling gate; it counts as no gate in POD-20."""


@dataclass(frozen=True, slots=True)
class PodFacts:
    """A pod as last told.

    ``version``: resourceVersion, 0 when it is not a number; ``created``: seconds since the epoch;
    ``node``: where it is bound, or empty; ``terminal``: Succeeded or Failed; ``deleting``: has a
    deletionTimestamp; ``size``: RES-3 to RES-6; ``app_id`` and ``queue``: as POD-3 and POD-5 find them, or
    empty; ``marked``: carries a prefixed key (DESIGN-7); ``gates``: names of its scheduling gates;
    ``nominated``: ``status.nominatedNodeName``; ``unscheduled``: message of PodScheduled=False, or empty;
    ``identity``: who submits it (ID-1); ``claims``: number of ResourceClaims, whose devices no size has;
    ``starts_at_once``: it has the tag ``application.stateaware.disable`` (SORT-8); ``constraints``: on nodes;
    ``gate_reported``: what its condition `ADMITTED` says of why its gate is shut; ``reserved_node``: node
    kept for it, as written on it (DESIGN-4); ``asks_filter``: kube-scheduler calls filter for
    it, which it does not where markers of ours leave that out (DESIGN-6); ``gate_opened``: its
    annotation `GATE_OPENED` says that Paddock removed its gate.

    For preemption: ``never_preempts``: ``preemptionPolicy: Never``; ``allow_preemption``: its own annotation,
    ``true`` or ``false``, else empty, and ``priority_class`` the name whose annotation counts then (PRE-4);
    ``required_node``: the one node that a pod may run on which says that a DaemonSet made it, and
    ``daemon_set`` who; whether that is so the DaemonSet says (RNP-1, F-10);
    ``complex``: whether a node takes it cannot be told from nodes alone (volumes, ports, required terms
    between pods); ``grace``: seconds it is
    given to end; ``disrupted``: kube-scheduler has preempted it; ``triggered``: the plan that is carried out
    for it, ``preempted_for`` whom it goes for, by which plan (``preempted_plan``) and ``preempted_why``, as
    written on it.

    For gangs: ``task_group``: the one it is a member of, or empty (POD-8); ``placeholder``: it only holds
    room (POD-9); ``gang``: what it defines, None without (POD-10, POD-14); ``pod_group``: COS-1; ``owner``:
    uid of the pod that owns it, if one does (GANG-2); ``pull_secrets``: names; ``markers``: names of ours in
    its requests (DESIGN-6); ``replaces`` and ``gang_noted``: its annotations `REPLACES` and `GANG`;
    ``gang_annotations``: those of the annotations in its task groups that it carries itself (F-16);
    ``taken_as``: its annotation `APPLICATION`; ``scheduled_at``: when its condition PodScheduled became true,
    in seconds since the epoch, 0 before that; ``mirror``: it shows a static pod of a kubelet.
    """

    uid: PodUid
    namespace: str
    name: str
    size: Resource
    version: int = 0
    created: float = 0.0
    scheduler_name: str = ""
    priority: int = 0
    node: NodeName = NO_NODE
    terminal: bool = False
    deleting: bool = False
    app_id: str = ""
    queue: str = ""
    marked: bool = False
    gates: tuple[str, ...] = ()
    nominated: NodeName = NO_NODE
    unscheduled: str = ""
    identity: Identity = UNKNOWN_IDENTITY
    claims: int = 0
    starts_at_once: bool = False
    constraints: Constraints = ANYWHERE
    gate_reported: str = ""
    reserved_node: NodeName = NO_NODE
    asks_filter: bool = True
    gate_opened: bool = False
    never_preempts: bool = False
    allow_preemption: str = ""
    priority_class: str = ""
    required_node: NodeName = NO_NODE
    daemon_set: Controller | None = None
    complex: bool = False
    grace: int = 30
    labels: Mapping[str, str] = field(default_factory=dict)
    disrupted: bool = False
    triggered: str = ""
    preempted_for: str = ""
    preempted_plan: str = ""
    preempted_why: str = ""
    task_group: str = ""
    placeholder: bool = False
    gang: Gang | Misdefined | None = None
    pod_group: PodGroup | Misdefined | None = None
    owner: PodUid = NO_POD
    pull_secrets: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    replaces: PodUid = NO_POD
    gang_noted: str = ""
    gang_annotations: Mapping[str, str] = field(default_factory=dict)
    taken_as: str = ""
    scheduled_at: float = 0.0
    mirror: bool = False

    @property
    def gated(self) -> bool:
        """Held by a gate of somebody else's, so not an ask yet (POD-20)."""
        return bool(self.gates) and any(gate != OWN_GATE for gate in self.gates)


@dataclass(frozen=True, slots=True)
class NamespaceFacts:
    """A namespace as last told.

    ``enabled`` and ``generate_app_id``: its annotations ``namespace.enableYuniKorn`` and
    ``namespace.generateAppId``, or empty (NS-7); ``parent_queue``: NS-6;
    ``max``, ``guaranteed``, ``max_applications``: for the dynamic queue of its pods, None and 0 without (NS-1
    to NS-4).
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
    """A PriorityClass as last told. ``allow_preemption``: its annotation of POD-17, or empty."""

    name: str
    value: int = 0
    allow_preemption: str = ""
