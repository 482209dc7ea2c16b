"""Events for the ledger: facts, in the past tense. A closed union of frozen values, nothing else.

Events about objects other than pods are in `cluster_events`, those of preemption in `preemption.plan_events`.
Events that come for each pod have a written constructor, since mypyc leaves that of a dataclass to the
interpreter (decision 0085).
"""

from dataclasses import dataclass, field
from typing import Any, Final

from core.ids import NO_POD, AppId, NodeName, PodUid
from core.ledger.cluster_events import BUDGETS as BUDGETS
from core.ledger.cluster_events import DAEMON_SETS as DAEMON_SETS
from core.ledger.cluster_events import NAMESPACES as NAMESPACES
from core.ledger.cluster_events import NODES as NODES
from core.ledger.cluster_events import POD_GROUPS as POD_GROUPS
from core.ledger.cluster_events import PRIORITY_CLASSES as PRIORITY_CLASSES
from core.ledger.cluster_events import KindUnserved as KindUnserved
from core.ledger.cluster_events import ObjectDeleted as ObjectDeleted
from core.ledger.cluster_events import ObjectKind as ObjectKind
from core.ledger.cluster_events import ObjectObserved as ObjectObserved
from core.ledger.cluster_events import ObjectsListed as ObjectsListed
from core.ledger.outcomes import (
    CreationOutcome,
    EvictionOutcome,
    NominationPurpose,
    RecordPurpose,
    RemovalPurpose,
)
from core.ledger.preemption.plan_events import ChosenVictim as ChosenVictim
from core.ledger.preemption.plan_events import PlanCommitted as PlanCommitted
from core.ledger.preemption.plan_events import PlanOffered as PlanOffered
from core.ledger.preemption.plan_events import PreemptionMark as PreemptionMark
from core.ledger.preemption.plan_events import PreemptionTried as PreemptionTried
from core.ledger.preemption.plan_events import QuotaReclaimed as QuotaReclaimed
from core.ledger.settings import LedgerSettings
from core.queues.closing import Closures
from core.queues.spec import PartitionSpec
from core.reasons import Code, Refusal, SentRefusal
from core.workload.ending import Endings
from core.workload.moving import Moves
from core.workload.pod import PodFacts


class PodReport:
    """A report about pods by a list, a watch, the body of a verb or a read."""

    __slots__ = ()


@dataclass(init=False, slots=True)
class PodObserved(PodReport):
    """The watch or a list showed a pod."""

    pod: Final[PodFacts]

    def __init__(self, pod: PodFacts) -> None:
        self.pod = pod


@dataclass(init=False, slots=True)
class PodDeleted(PodReport):
    """The watch reported that a pod is deleted, or that it is terminal and so left the selection."""

    uid: Final[PodUid]

    def __init__(self, uid: PodUid) -> None:
        self.uid = uid


@dataclass(frozen=True, slots=True)
class PodsListBegun(PodReport):
    """A consistent list of all pods was requested. Until it ends, observed pods are part of it."""


@dataclass(init=False, slots=True)
class PodsListed(PodReport):
    """A consistent list of all pods was shown. A pod that it lacks is deleted."""

    uids: Final[frozenset[PodUid]]

    def __init__(self, uids: frozenset[PodUid]) -> None:
        self.uids = uids


@dataclass(frozen=True, slots=True)
class PodsCaughtUp(PodReport):
    """The watch has reported everything up to the last list. What it has not reported is not true."""


@dataclass(init=False, slots=True)
class PodOffered(PodReport):
    """A verb's body showed a pod that the watch has not shown yet, or shows in an older version (fact 16)."""

    pod: Final[PodFacts]

    def __init__(self, pod: PodFacts) -> None:
        self.pod = pod


@dataclass(init=False, slots=True)
class PodRead(PodReport):
    """The API server answered a read of one pod (F-18).

    ``exists``: False if it has no such pod. Then ``pod`` is what was known.
    """

    pod: Final[PodFacts]
    exists: Final[bool]

    def __init__(self, pod: PodFacts, exists: bool = True) -> None:
        self.pod = pod
        self.exists = exists


@dataclass(frozen=True, slots=True)
class Configured:
    """A document and its settings were read and are valid."""

    partition: PartitionSpec
    settings: LedgerSettings


@dataclass(frozen=True, slots=True)
class SettingsRead:
    """Settings were read before any document. They say which pods must wait for one (F-4)."""

    settings: LedgerSettings


@dataclass(frozen=True, slots=True)
class ActionsRead:
    """The actions of administrators were read, or written (ACT-3).

    ``closed``: all closed queues (ACT-10). ``ended``: all ended applications (ACT-20). ``moved``: all moved
    applications (ACT-30).
    """

    closed: Closures
    ended: Endings = field(default_factory=dict)
    moved: Moves = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClockCompared:
    """Clocks were compared. ``skew``: seconds by which the API server's is ahead; below 0 if it is behind."""

    skew: float


@dataclass(init=False, slots=True)
class FilterCalled:
    """kube-scheduler asked for a place for a pod, which gives up its earlier reservation.

    Applied where neither `PodAdmitted` nor `PodRefused` says so. That is a call answered by a fault, or
    a call for a pod whose bind call waits. That bind call and its pod group then fail before the answer.
    """

    uid: Final[PodUid]

    def __init__(self, uid: PodUid) -> None:
        self.uid = uid


@dataclass(init=False, slots=True)
class PodAdmitted:
    """A pod was admitted. Its size is reserved until it is bound.

    ``version``: version of the pod in the call.
    ``called``: True for the answer to a filter call, which replaces earlier ones.
    """

    uid: Final[PodUid]
    version: Final[int]
    called: Final[bool]

    def __init__(self, uid: PodUid, version: int, called: bool = False) -> None:
        self.uid = uid
        self.version = version
        self.called = called


@dataclass(frozen=True, slots=True)
class PodRefused:
    """A pod was refused. ``sent``: the refusal that was sent (sticky), which may differ from ``refusal``.

    ``called``: as in `PodAdmitted`.
    """

    uid: PodUid
    refusal: Refusal
    sent: SentRefusal
    called: bool = False


@dataclass(init=False, slots=True)
class BindCalled:
    """kube-scheduler asked for a pod to be bound. From now on its node is charged (DESIGN-3).

    ``waits``: True if it waits for the others of its group (COS-5). Nothing is posted before the ledger says
    so.
    """

    uid: Final[PodUid]
    node: Final[NodeName]
    waits: Final[bool]

    def __init__(self, uid: PodUid, node: NodeName, waits: bool = False) -> None:
        self.uid = uid
        self.node = node
        self.waits = waits


@dataclass(init=False, slots=True)
class PodBound:
    """The API server has the Binding, from Paddock's own POST."""

    uid: Final[PodUid]
    node: Final[NodeName]

    def __init__(self, uid: PodUid, node: NodeName) -> None:
        self.uid = uid
        self.node = node


@dataclass(frozen=True, slots=True)
class BindFailed:
    """A Binding failed. ``certain``: the API server said so. Otherwise it may still appear."""

    uid: PodUid
    certain: bool


@dataclass(init=False, slots=True)
class PodWoken:
    """The wake-up of a pod, or the opening of its gate, was written, or failed (``reached`` False).

    ``certain``: False if it may have been written, because no answer came.
    """

    uid: Final[PodUid]
    reached: Final[bool]
    certain: Final[bool]

    def __init__(self, uid: PodUid, reached: bool, certain: bool = True) -> None:
        self.uid = uid
        self.reached = reached
        self.certain = certain


@dataclass(frozen=True, slots=True)
class NodeNominated:
    """A nomination was written (``reached``), or failed. ``node``: empty for a withdrawn one."""

    uid: PodUid
    node: NodeName
    reached: bool
    purpose: NominationPurpose


@dataclass(frozen=True, slots=True)
class RecordWritten:
    """Data that must outlive the process was written onto a pod, or that failed (``reached`` False)."""

    uid: PodUid
    entries: tuple[tuple[str, str | None], ...]
    reached: bool
    purpose: RecordPurpose


@dataclass(frozen=True, slots=True)
class PodEvicted:
    """The eviction of a pod, or its deletion by Paddock, was answered. ``preemptor``: ask that it was for."""

    uid: PodUid
    outcome: EvictionOutcome
    purpose: RemovalPurpose
    preemptor: PodUid = NO_POD


@dataclass(frozen=True, slots=True)
class PlaceholderCreated:
    """The creation of a placeholder was answered. ``why``: words of the API server, if it refused."""

    app: AppId
    name: str
    outcome: CreationOutcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class GateHeld:
    """A pod at Paddock's gate must wait on.

    ``sent``: the refusal to report (sticky). ``reason`` and ``why``: the present one, as a code and as the
    text of an Event, which begins with that of the condition.
    """

    uid: PodUid
    sent: SentRefusal
    reason: Code
    why: str


@dataclass(frozen=True, slots=True)
class GateReportFailed:
    """A report to a pod at Paddock's gate could not be written."""

    uid: PodUid


@dataclass(frozen=True, slots=True)
class GroupsResolved:
    """The groups of a user were found. None if they could not be."""

    user: str
    groups: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class ActingBegan:
    """From now on this instance carries out effects. Before, another instance or none did.

    Annotations on pods are believed again, as after a start.
    """


@dataclass(frozen=True, slots=True)
class ActingEnded:
    """Another instance, or none, carries out effects from now on."""


@dataclass(frozen=True, slots=True)
class CycleDue:
    """Capacity was freed a moment ago, so asks may be woken."""


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time has passed. Timers that have expired since the last event are handled."""


@dataclass(frozen=True, slots=True)
class OffersDue:
    """A plan is about to be made. Expired offers end before it, not with the next `TimePassed`."""


@dataclass(frozen=True, slots=True)
class CleanerDue:
    """Ten seconds have passed since the last such event. Unused queues are removed (Q-10)."""


Everyday = (
    PodObserved
    | PodDeleted
    | PodsListBegun
    | PodsListed
    | PodsCaughtUp
    | PodOffered
    | PodRead
    | FilterCalled
    | PodAdmitted
    | PodRefused
    | BindCalled
    | PodBound
    | BindFailed
    | PodWoken
    | CycleDue
)
"""Reports about pods, and events of which a pod brings some before it runs."""

Rare = (
    ObjectObserved[Any, Any]
    | ObjectDeleted[Any, Any]
    | ObjectsListed[Any, Any]
    | KindUnserved[Any, Any]
    | Configured
    | SettingsRead
    | ActionsRead
    | ClockCompared
    | NodeNominated
    | RecordWritten
    | PodEvicted
    | PlaceholderCreated
    | PreemptionTried
    | PlanOffered
    | PlanCommitted
    | QuotaReclaimed
    | GateHeld
    | GateReportFailed
    | GroupsResolved
    | ActingBegan
    | ActingEnded
    | TimePassed
    | OffersDue
    | CleanerDue
)
"""All other events."""

Event = Everyday | Rare
