"""Events for the ledger: facts, in the past tense. A closed union of frozen values, nothing else.

Those about objects other than pods are in `cluster_events`.
"""

from dataclasses import dataclass
from typing import Any

from core.ids import NO_POD, AppId, NodeName, PodUid, QueuePath
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
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec
from core.reasons import Refusal, SentRefusal
from core.workload.pod import PodFacts


@dataclass(frozen=True, slots=True)
class PodReport:
    """A report about pods by a list, a watch, the body of a verb or a read; see those below."""


@dataclass(frozen=True, slots=True)
class PodObserved(PodReport):
    """The watch or a list showed a pod."""

    pod: PodFacts


@dataclass(frozen=True, slots=True)
class PodDeleted(PodReport):
    """The watch said that a pod is gone, or that it is terminal and so left the selection."""

    uid: PodUid


@dataclass(frozen=True, slots=True)
class PodsListBegun(PodReport):
    """A consistent list of all pods was requested: until it ends, what is observed is part of it."""


@dataclass(frozen=True, slots=True)
class PodsListed(PodReport):
    """A consistent list of all pods was shown: what it lacks is gone."""

    uids: frozenset[PodUid]


@dataclass(frozen=True, slots=True)
class PodsCaughtUp(PodReport):
    """The watch has told all that happened until the last list was shown: what it has not told is not so."""


@dataclass(frozen=True, slots=True)
class PodOffered(PodReport):
    """A verb's body showed a pod that the watch has not shown yet, or an older version of it (fact 16)."""

    pod: PodFacts


@dataclass(frozen=True, slots=True)
class PodRead(PodReport):
    """The API server was asked for one pod, and its answer is true (F-18). ``exists``: False when it has no
    such pod; then ``pod`` is what was known."""

    pod: PodFacts
    exists: bool = True


@dataclass(frozen=True, slots=True)
class Configured:
    """A document and its settings were read and found right."""

    partition: PartitionSpec
    settings: LedgerSettings


@dataclass(frozen=True, slots=True)
class SettingsRead:
    """Settings were read where there is no document yet: they say which pods must wait for one (F-4)."""

    settings: LedgerSettings


@dataclass(frozen=True, slots=True)
class FilterCalled:
    """kube-scheduler asked for a place for a pod: whatever it reserved before is given up.

    Applied where no `PodAdmitted` or `PodRefused` says so: to a call that is answered by a fault, and before
    the answer to a pod whose bind call waits, as that call and its pod group fail.
    """

    uid: PodUid


@dataclass(frozen=True, slots=True)
class PodAdmitted:
    """A pod was let through: its size is reserved until it is bound. ``version``: the pod's, when asked.

    ``called``: True for the answer to a filter call, which takes the place of earlier ones.
    """

    uid: PodUid
    version: int
    called: bool = False


@dataclass(frozen=True, slots=True)
class PodRefused:
    """A pod was refused. ``sent``: what it was told (sticky), which may differ from ``refusal``'s text.

    ``called``: as for `PodAdmitted`.
    """

    uid: PodUid
    refusal: Refusal
    sent: SentRefusal
    called: bool = False


@dataclass(frozen=True, slots=True)
class BindCalled:
    """kube-scheduler asked for a pod to be bound: from now on its node is charged (DESIGN-3).

    ``waits``: for the others of its group (COS-5); nothing is posted before the ledger says so.
    """

    uid: PodUid
    node: NodeName
    waits: bool = False


@dataclass(frozen=True, slots=True)
class PodBound:
    """The API server has the Binding, by our own POST."""

    uid: PodUid
    node: NodeName


@dataclass(frozen=True, slots=True)
class BindFailed:
    """A Binding did not come about. ``certain``: the API server said so; else it may still appear."""

    uid: PodUid
    certain: bool


@dataclass(frozen=True, slots=True)
class PodWoken:
    """The wake-up of a pod, or the opening of its gate, was written, or could not be (``reached`` False).

    ``certain``: False when it may have been written all the same, as no answer came.
    """

    uid: PodUid
    reached: bool
    certain: bool = True


@dataclass(frozen=True, slots=True)
class NodeNominated:
    """A nomination was written (``reached``), or could not be. ``node``: empty for one taken back."""

    uid: PodUid
    node: NodeName
    reached: bool
    purpose: NominationPurpose


@dataclass(frozen=True, slots=True)
class RecordWritten:
    """What must outlive the process was written onto a pod, or could not be (``reached`` False)."""

    uid: PodUid
    entries: tuple[tuple[str, str | None], ...]
    reached: bool
    purpose: RecordPurpose


@dataclass(frozen=True, slots=True)
class PodEvicted:
    """The eviction of a pod, or its deletion on our account, was answered. ``preemptor``: whom it was for."""

    uid: PodUid
    outcome: EvictionOutcome
    purpose: RemovalPurpose
    preemptor: PodUid = NO_POD


@dataclass(frozen=True, slots=True)
class PlaceholderCreated:
    """The creation of a placeholder was answered. ``why``: in the words of the API server, where refused."""

    app: AppId
    name: str
    outcome: CreationOutcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class GateHeld:
    """A pod at our gate must wait on. ``sent``: what it is to be told (sticky)."""

    uid: PodUid
    sent: SentRefusal


@dataclass(frozen=True, slots=True)
class GateReportFailed:
    """What a pod at our gate was to be told could not be written."""

    uid: PodUid


@dataclass(frozen=True, slots=True)
class GroupsResolved:
    """The groups of a user were found; None when they could not be."""

    user: str
    groups: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class ActingBegan:
    """From now on effects on our own account are carried out by this instance; until now another's were, or
    nobody's. What is written on the pods is believed again, as after a start."""


@dataclass(frozen=True, slots=True)
class ActingEnded:
    """From now on another instance, or nobody, carries effects out."""


@dataclass(frozen=True, slots=True)
class CycleDue:
    """Room has appeared a moment ago: see who can be woken."""


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A moment later. What has expired since the last one does so here."""


@dataclass(frozen=True, slots=True)
class OffersDue:
    """A plan is about to be made: offers whose time is over end before it, not with the next `TimePassed`."""


@dataclass(frozen=True, slots=True)
class CleanerDue:
    """Ten seconds have passed since the last one: queues that nobody needs go (Q-10)."""


@dataclass(frozen=True, slots=True)
class PreemptionMark:
    """Something that preemption notes on a pod; see those below."""

    uid: PodUid


@dataclass(frozen=True, slots=True)
class PreemptionTried(PreemptionMark):
    """A plan for an ask was asked for (PRE-5)."""


@dataclass(frozen=True, slots=True)
class ChosenVictim:
    """``why``: the receipt's short form, which is written on it."""

    uid: PodUid
    why: str


@dataclass(frozen=True, slots=True)
class PlanOffered(PreemptionMark):
    """kube-scheduler was answered a plan for an ask, and may take it (DESIGN-4)."""

    plan: str
    node: NodeName
    victims: tuple[ChosenVictim, ...]


@dataclass(frozen=True, slots=True)
class PlanCommitted(PreemptionMark):
    """A plan for an ask is to be carried out. ``plan``: its id."""

    plan: str
    node: NodeName
    victims: tuple[ChosenVictim, ...]


@dataclass(frozen=True, slots=True)
class QuotaReclaimed(PreemptionMark):
    """Pods of a queue are to go because its quota shrank (QCP-9); ``uid`` is of no pod. No victims: nobody
    may go."""

    queue: QueuePath
    victims: tuple[ChosenVictim, ...]


Event = (
    PodObserved
    | PodDeleted
    | PodsListBegun
    | PodsListed
    | PodsCaughtUp
    | ObjectObserved[Any, Any]
    | ObjectDeleted[Any, Any]
    | ObjectsListed[Any, Any]
    | KindUnserved[Any, Any]
    | Configured
    | SettingsRead
    | PodOffered
    | PodRead
    | FilterCalled
    | PodAdmitted
    | PodRefused
    | BindCalled
    | PodBound
    | BindFailed
    | PodWoken
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
    | CycleDue
    | TimePassed
    | OffersDue
    | CleanerDue
)
