"""What core wants done to the world: requests, in the imperative. A closed union of frozen values.

``purpose``: of effects that several owners ask for; of the others the type says who goes on. The outcome
brings it back, see `core.ledger.effect_outcomes`.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from core.ids import NO_POD, AppId, NodeName, PodUid
from core.ledger.outcomes import NominationPurpose, Purpose, RecordPurpose, RemovalPurpose
from core.workload.gangs.gang import Gang, Originator, TaskGroup


@dataclass(frozen=True, slots=True)
class WakePod:
    """Make kube-scheduler try a refused pod again, by an annotation on it (fact 5).

    ``token``: the annotation's value; different each time, or the write would change nothing.
    """

    uid: PodUid
    namespace: str
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class OpenGate:
    """Take our own scheduling gate off a pod (DESIGN-6). An opened gate cannot be closed."""

    uid: PodUid
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class NominateNode:
    """Write ``status.nominatedNodeName``, so that kube-scheduler tries that node first, alone (fact 9).

    ``node``: empty to take a nomination back.
    """

    uid: PodUid
    namespace: str
    name: str
    node: NodeName
    purpose: NominationPurpose


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """Write what must outlive the process onto a pod, as annotations (DESIGN-4).

    ``entries``: annotations by key; None takes one off.
    """

    uid: PodUid
    namespace: str
    name: str
    entries: tuple[tuple[str, str | None], ...]
    purpose: RecordPurpose


@dataclass(frozen=True, slots=True)
class EndWait:
    """Let a bind call go on that waits for the other members of a pod's group (COS-5). Needs no Lease.

    ``why``: why it is to fail; empty for one that is to be posted.
    """

    uid: PodUid
    why: str = ""


@dataclass(frozen=True, slots=True)
class ResolveGroups:
    """Find the groups of a user where the partition's resolver has them (ID-4). Needs no Lease."""

    user: str


@dataclass(frozen=True, slots=True)
class SetCondition:
    """Write a condition of ours into a pod's status (DESIGN-6). ``kind``: its type."""

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

    ``preemptor``: whom it makes room for, empty for none; ``why``: in a few words, for those who look on.
    """

    purpose: ClassVar[RemovalPurpose] = Purpose.VICTIM

    uid: PodUid
    namespace: str
    name: str
    preemptor: PodUid = NO_POD
    why: str = ""


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete a pod, whatever budgets say: a placeholder, or a victim under ``preemption.directDelete``.

    ``at_once``: without its grace period; ``preemptor`` and ``why`` as in `EvictPod`.
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
    """Make a pod that holds room for a member of a gang (GANG-3).

    ``name``: the same for the same place in the same gang, so that asking twice makes no second pod;
    ``queue``: the one that the application asked for, may be empty; ``gang``: whose texts it carries.
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
    """Record an Event on an object of the API. ``kind``: Pod or ConfigMap; ``warning``: its type;
    ``action``: what was done, where the reason alone does not say (REST-17)."""

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
