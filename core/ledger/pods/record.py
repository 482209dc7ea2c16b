"""What the ledger keeps per pod: what it was told, what it promised, and what it charges for it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from core.ids import NO_NODE, NO_POD, AppId, NodeName, PodUid, QueuePath
from core.ledger.outcomes import EvictionOutcome
from core.queues.users.identity import Identity
from core.reasons import SentRefusal
from core.resource import Resource
from core.workload.ask import Rank, Reservation
from core.workload.daemon_set import DaemonSetKey
from core.workload.pod import OWN_GATE, PodFacts
from core.workload.pod_group import GroupKey


class Held(StrEnum):
    """Which counter a pod stands in; never in two (QUO-2)."""

    PENDING = "pending"
    RESERVED = "reserved"
    ALLOCATED = "allocated"
    OCCUPIED = "occupied"
    """On a node, in no queue: an unmanaged pod."""


class Standing(StrEnum):
    """What a pod is to preemption."""

    PLAIN = "plain"
    EVICTABLE = "evictable"
    """It runs and may become a victim."""
    PREEMPTING = "preempting"
    """It runs, was chosen as a victim, and so counts as gone for guarantees (PRE-21)."""
    TRIGGERED = "triggered"
    """An ask that waits for the room of its victims, and so counts as there (DIV-14)."""
    BYPASSED = "bypassed"
    """A pod that may be placed without Paddock's admission, and holds quota until it is or goes (F-7)."""


class Charge(NamedTuple):
    """What one pod adds to the counters. ``node``: where it takes room, or empty; ``priority``: of an ask or
    of one that may become a victim."""

    held: Held
    queue: QueuePath | None
    node: NodeName
    size: Resource
    priority: int = 0
    standing: Standing = Standing.PLAIN


class Slot(NamedTuple):
    """The room that a member of a gang takes over (DESIGN-5).

    ``node``: that of the placeholder, or another one where the member cannot run there; ``linked``: when it
    was given to the member; ``opened``: when the placeholder went, None while it is there; ``called``: how
    often kube-scheduler was made to try it since, ``tried``: when it first did.
    """

    placeholder: PodUid
    node: NodeName
    linked: float
    opened: float | None = None
    called: int = 0
    tried: float | None = None

    def after_try(self, now: float) -> "Slot":
        """kube-scheduler has tried the member; what it did before the room was there says nothing."""
        return self._replace(tried=now) if self.opened is not None and self.tried is None else self

    def after_refusal(self) -> "Slot":
        """It was offered other nodes only: before the first call it could not know which one is its own."""
        return self._replace(tried=None) if self.called <= 1 else self


class Labelled(NamedTuple):
    """What a pod says of whose it is: its application's id and queue as written, and its user."""

    app_id: str
    queue: str
    identity: Identity


@dataclass(slots=True)
class Sighting:
    """Sources that have shown a pod, and how far they are to be believed."""

    #: Pod as a list or the watch showed it last; None if none did.
    shown: PodFacts | None = None
    #: Time until which a verb's body is believed ahead of the watch, in seconds; None if it is not ahead.
    provisional_until: float | None = None
    #: Number of lists that were requested when a body told of the pod, or its Binding was accepted.
    vouched_in: int = -1
    #: Time at which an act of Paddock that a list does not show is over (F-8), in seconds; None for none.
    doubted_until: float | None = None
    #: True if the pod was there when this instance began to act, so that what is written on it is Paddock's.
    believed: bool = False


@dataclass(slots=True)
class Membership:
    """Classification of a pod, and its application."""

    #: True for a pod that Paddock schedules.
    managed: bool = False
    #: True once ``managed`` is final.
    classified: bool = False
    #: Application of the pod while it is an ask or an allocation; None otherwise.
    application: AppId | None = None
    #: Text it was sent about the queue that it named and that does not take it; None before that is known.
    fell_back: str | None = None
    #: Rejection of its application that it was told of; empty for none.
    rejected_for: str = ""
    #: Time at which marking it Failed was last requested, in seconds; None if never.
    failing_since: float | None = None
    #: Labels with which it was taken into its application; None before that.
    taken_as: Labelled | None = None
    #: Labels that it has by now; None if they are the same (F-23).
    relabelled: Labelled | None = None
    #: Time of the last Event about changed labels, in seconds; None if there was none.
    relabel_told: float | None = None


@dataclass(slots=True)
class Admission:
    """Answers that a pod got, its reservation, and its back-off."""

    #: Quota reserved between filter and bind; None if none is.
    reservation: Reservation | None = None
    #: Node on which its turn was counted, while its size is reserved; empty for none.
    noted: NodeName = NO_NODE
    #: Refusal that it was sent last (sticky); None if none was.
    sent: SentRefusal | None = None
    #: True if a refusal of Paddock was the last answer it got.
    refused: bool = False
    #: True if the last answer of filter admitted it.
    let_through: bool = False
    #: Number of times in a row that its turn came to nothing.
    overlooked: int = 0
    #: True if other asks go first once.
    passed_over: bool = False
    #: Time at which it may have a turn again, in seconds; None for at once.
    backs_off_until: float | None = None
    #: Time at which it was woken last, in seconds; None if never.
    woken_at: float | None = None
    #: True while a wake-up is being written.
    waking: bool = False
    #: Text last written about why its gate is shut; empty for none.
    gate_reported: str = ""
    #: True if the removal of its gate was requested and not refused, so the gate may be open (F-2).
    opening: bool = False
    #: True once it was filed to be reported as never admitted (F-7).
    bypass_noted: bool = False


@dataclass(slots=True)
class Placement:
    """Binding of a pod to a node."""

    #: Node to which Paddock's own POST bound it; empty for none.
    bound_to: NodeName = NO_NODE
    #: Node of an open bind call; empty for none.
    binding: NodeName = NO_NODE
    #: True if filter admitted the pod again while that call was open.
    readmitted: bool = False
    #: True if that call waits for the other members of its pod group.
    waits_bind: bool = False
    #: Time at which it was first seen on a node, in seconds.
    placed_at: float = 0.0


@dataclass(slots=True)
class NodeReservation:
    """Node that is held for a pod."""

    #: Reserved node; empty for none.
    node: NodeName = NO_NODE
    #: Time since which it is reserved, in seconds.
    since: float = 0.0
    #: Time of the last search that found none, in seconds; None if there was none.
    searched_at: float | None = None
    #: Node to which Paddock nominated it; empty for none.
    nominated: NodeName = NO_NODE
    #: Number of nominations.
    nominations: int = 0


@dataclass(slots=True)
class PreemptionRecord:
    """Part of a pod in preemption, as a victim or as an ask."""

    #: Outcome of the last eviction of it; None if there was none.
    eviction: EvictionOutcome | None = None
    #: Ask that it is a victim of, or queue whose quota shrank; None for no victim.
    preempted_for: PodUid | QueuePath | None = None
    #: Reason why it was chosen; empty for no victim.
    preempted_why: str = ""
    #: Plan that is carried out for it (PRE-5); empty for none.
    triggered: str = ""
    #: Number of plans that were carried out for it.
    plans: int = 0
    #: Time of the last attempt to plan for it, in seconds; None if there was none.
    tried_at: float | None = None


@dataclass(slots=True)
class GangRecord:
    """Part of a pod in its gang."""

    #: Room that a member takes over from a placeholder; None for none.
    slot: Slot | None = None
    #: True if it had such room and that came to nothing.
    forgone: bool = False
    #: Member for which the room of a placeholder is; empty for none.
    yields_to: PodUid = NO_POD
    #: True for a placeholder that is taken back.
    released: bool = False


class DaemonRecord(NamedTuple):
    """Part of a pod that names a DaemonSet."""

    #: DaemonSet that it names; None for none.
    daemon_set: DaemonSetKey | None = None
    #: Only node that it may run on, if that DaemonSet has made it (RNP-1); empty otherwise.
    required_node: NodeName = NO_NODE


NO_DAEMON_SET = DaemonRecord()


@dataclass(slots=True)
class PodRecord:
    """One live pod."""

    #: Pod as known now; differs from what was shown while the body of a verb is ahead.
    facts: PodFacts
    #: Sequence number of arrival.
    seq: int
    #: Uid of the pod, whatever else is shown of it.
    uid: PodUid = field(init=False)
    #: Sources that have shown it.
    seen: Sighting = field(default_factory=Sighting)
    #: Classification and application.
    membership: Membership = field(default_factory=Membership)
    #: Answers, reservation and back-off.
    admission: Admission = field(default_factory=Admission)
    #: Binding to a node.
    placement: Placement = field(default_factory=Placement)
    #: Node held for it.
    node_reservation: NodeReservation = field(default_factory=NodeReservation)
    #: Part in preemption.
    preemption: PreemptionRecord = field(default_factory=PreemptionRecord)
    #: Part in its gang.
    gang: GangRecord = field(default_factory=GangRecord)
    #: DaemonSet that it names.
    daemon: DaemonRecord = NO_DAEMON_SET
    #: Pod group it is filed in; None for none.
    pod_group: GroupKey | None = None

    def __post_init__(self) -> None:
        self.uid = self.facts.uid

    @property
    def node(self) -> NodeName:
        """Where it is bound, as the API or our own POST says; a pod never moves, so either is final."""
        return self.facts.node or self.placement.bound_to

    @property
    def is_confirmed(self) -> bool:
        """True if the API server has shown the pod as it is known here: nothing rests on a body alone."""
        return self.seen.shown is not None and self.seen.provisional_until is None

    @property
    def is_ask(self) -> bool:
        """Wants a node and may have one: not bound, not leaving, not held by somebody's gate."""
        return not (self.node or self.facts.deleting or self.facts.gated)

    @property
    def is_unguarded(self) -> bool:
        """True while kube-scheduler may place a pending pod without a filter call (F-2).

        Its gate is open, or its removal was requested, or it never had one; and its markers leave filter out.
        """
        return not self.facts.asks_filter and self.is_ask and (self.admission.opening or not self.is_gated)

    @property
    def is_gated(self) -> bool:
        """True while Paddock's own gate holds it."""
        return OWN_GATE in self.facts.gates

    @property
    def bypasses(self) -> bool:
        """True for an unguarded pod whose gate was not opened by Paddock (F-7)."""
        return self.is_unguarded and not (self.admission.opening or self.facts.gate_opened)

    @property
    def preempting(self) -> bool:
        """Chosen as a victim by us, or on its way out since kube-scheduler has preempted it."""
        return self.preemption.preempted_for is not None or (self.facts.deleting and self.facts.disrupted)

    @property
    def is_unproved(self) -> bool:
        """Whether it says that a DaemonSet made it for one node, and none that is known has (F-10)."""
        return self.daemon.daemon_set is not None and not self.daemon.required_node

    @property
    def evictable(self) -> bool:
        """Neither leaving already, nor bound to its node for good (PRE-6), nor there for a member."""
        leaves = self.facts.deleting or self.gang.released or self.gang.yields_to
        return not (self.preempting or leaves or self.daemon.required_node)

    @property
    def rank(self) -> Rank:
        return (-self.facts.priority, self.facts.created, self.seq, self.facts.uid)
