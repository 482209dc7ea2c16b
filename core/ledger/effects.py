"""Effects that core requests, in the imperative. A closed union of frozen values.

``purpose``: for effects that several owners request. For other effects the type tells the owner. The outcome
brings the purpose back; see `core.ledger.effect_outcomes`.
"""

from dataclasses import dataclass, field
from typing import Final

from core.ids import NO_POD, AppId, NodeName, PodUid
from core.ledger.outcomes import NominationPurpose, Purpose, RecordPurpose, RemovalPurpose
from core.workload.gangs.gang import Gang, Originator, TaskGroup


@dataclass(frozen=True, slots=True)
class WakePod:
    """Make kube-scheduler try a refused pod again, by an annotation on it (fact 5).

    ``token``: value of the annotation. A new value each time, or the write would change nothing.
    """

    uid: PodUid
    namespace: str
    name: str
    token: str


@dataclass(init=False, slots=True)
class OpenGate:
    """Remove Paddock's scheduling gate from a pod (DESIGN-6). An opened gate cannot be closed."""

    uid: Final[PodUid]
    namespace: Final[str]
    name: Final[str]

    def __init__(self, uid: PodUid, namespace: str, name: str) -> None:
        self.uid = uid
        self.namespace = namespace
        self.name = name


@dataclass(frozen=True, slots=True)
class NominateNode:
    """Write ``status.nominatedNodeName``, so that kube-scheduler tries that node first and alone (fact 9).

    ``node``: empty to withdraw a nomination.
    """

    uid: PodUid
    namespace: str
    name: str
    node: NodeName
    purpose: NominationPurpose


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """Write data that must outlive the process onto a pod, as annotations (DESIGN-4).

    ``entries``: annotations by key; None removes one.
    """

    uid: PodUid
    namespace: str
    name: str
    entries: tuple[tuple[str, str | None], ...]
    purpose: RecordPurpose


@dataclass(frozen=True, slots=True)
class EndWait:
    """End the wait of a bind call for the other members of a pod's group (COS-5). Needs no Lease.

    ``why``: reason of its failure; empty if the Binding is to be posted.
    """

    uid: PodUid
    why: str = ""


@dataclass(frozen=True, slots=True)
class ResolveGroups:
    """Find the groups of a user with the partition's resolver (ID-4). Needs no Lease."""

    user: str


@dataclass(frozen=True, slots=True)
class SetCondition:
    """Write a condition of Paddock into a pod's status (DESIGN-6). ``kind``: its type."""

    uid: PodUid
    namespace: str
    name: str
    kind: str
    status: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class MarkFailed:
    """Set a pod's phase to Failed (APP-8)."""

    uid: PodUid
    namespace: str
    name: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class EvictPod:
    """Evict a pod through the Eviction API, which respects PodDisruptionBudgets (DESIGN-4).

    ``preemptor``: ask that gets the capacity; empty for none. ``why``: short reason, for people.
    """

    uid: PodUid
    namespace: str
    name: str
    preemptor: PodUid = NO_POD
    why: str = ""
    purpose: RemovalPurpose = field(default=Purpose.VICTIM, kw_only=True)


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete a pod, whatever budgets say: a placeholder, a victim, or a pod of an ended application.

    ``at_once``: without its grace period. ``preemptor`` and ``why``: as in `EvictPod`.
    """

    uid: PodUid
    namespace: str
    name: str
    at_once: bool = False
    preemptor: PodUid = NO_POD
    why: str = ""
    purpose: RemovalPurpose = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class CreatePlaceholder:
    """Create a placeholder, which holds capacity for a member of a gang (GANG-3).

    ``name``: the same for the same place in a gang, so that a repeat creates no second pod. ``queue``: queue
    that the application asked for; may be empty. ``gang``: gang whose texts the pod carries.
    """

    app: AppId
    namespace: str
    name: str
    queue: str
    group: TaskGroup
    gang: Gang
    originator: Originator


@dataclass(frozen=True, slots=True)
class PostEvent:
    """Record an Event on an object of the API.

    ``kind``: Pod or ConfigMap. ``warning``: its type. ``action``: what was done, if the reason alone does not
    tell (REST-17).
    """

    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    warning: bool = True
    action: str = ""


Effect = (
    WakePod
    | OpenGate
    | NominateNode
    | WriteRecord
    | EvictPod
    | DeletePod
    | CreatePlaceholder
    | PostEvent
    | ResolveGroups
    | EndWait
    | MarkFailed
    | SetCondition
)
