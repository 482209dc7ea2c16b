"""Record of a pod in the ledger: facts reported, promises made, and its charge."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from core.ids import NO_NODE, NO_POD, AppId, NodeName, PodUid, QueuePath
from core.ledger.outcomes import EvictionOutcome
from core.queues.users.identity import Identity
from core.reasons import Code, SentRefusal
from core.resource import Resource
from core.workload.ask import Rank, Reservation
from core.workload.daemon_set import DaemonSetKey
from core.workload.pod import OWN_GATE, PodFacts
from core.workload.pod_group import GroupKey


class Held(StrEnum):
    """Counter in which a pod stands; never in two (QUO-2)."""

    PENDING = "pending"
    RESERVED = "reserved"
    ALLOCATED = "allocated"
    OCCUPIED = "occupied"
    """On a node, in no queue: an unmanaged pod."""


class Standing(StrEnum):
    """Role of a pod in preemption."""

    PLAIN = "plain"
    EVICTABLE = "evictable"
    """Runs and may become a victim."""
    PREEMPTING = "preempting"
    """Runs, was chosen as a victim, and counts as deleted for guarantees (PRE-21)."""
    TRIGGERED = "triggered"
    """Waits for the capacity of its victims, and counts as placed (DIV-14)."""
    BYPASSED = "bypassed"
    """May be placed without Paddock's admission, and holds quota until it is placed or deleted (F-7)."""


class Charge(NamedTuple):
    """Amounts that one pod adds to the counters.

    ``node``: node on which it takes capacity, or empty. ``priority``: of an ask, or of a pod that may become
    a victim.
    """

    held: Held
    queue: QueuePath | None
    node: NodeName
    size: Resource
    priority: int = 0
    standing: Standing = Standing.PLAIN


class Slot(NamedTuple):
    """Capacity that a member of a gang takes over from a placeholder (DESIGN-5).

    ``node``: node of the placeholder, or another one if the member cannot run there. ``linked``: time at
    which the member got the slot. ``opened``: time at which the placeholder ended, or None before that.
    ``called``: number of wake-ups since. ``tried``: time of kube-scheduler's first try since. ``excused``:
    time at which a try without a Binding was excused, or None if none was.
    """

    placeholder: PodUid
    node: NodeName
    linked: float
    opened: float | None = None
    called: int = 0
    tried: float | None = None
    excused: float | None = None

    def after_try(self, now: float) -> "Slot":
        """Return the slot after kube-scheduler tried the member.

        A try before the slot was open does not count.
        """
        return self._replace(tried=now) if self.opened is not None and self.tried is None else self

    def after_refusal(self) -> "Slot":
        """Return the slot after the member was offered other nodes only.

        Before the first wake-up that does not count.
        """
        return self._replace(tried=None) if self.called <= 1 else self

    def after_stop(self, now: float) -> "Slot":
        """Return the slot after kube-scheduler seems to have stopped while it tried the member."""
        return self._replace(tried=None, excused=now)


class Labelled(NamedTuple):
    """Owner of a pod by its labels: application id and queue as written, and its user."""

    app_id: str
    queue: str
    identity: Identity


@dataclass(slots=True)
class Sighting:
    """Sources that have shown a pod, and how far they are trusted."""

    #: Pod as a list or the watch showed it last; None if none did.
    shown: PodFacts | None = None
    #: Time until which a verb's body is believed ahead of the watch, in seconds; None if it is not ahead.
    provisional_until: float | None = None
    #: Number of lists requested when a body showed the pod, or when its Binding was accepted.
    exists_since_list: int = -1
    #: Time at which an act of Paddock that a list does not show expires (F-8), in seconds; None for none.
    doubted_until: float | None = None
    #: True if the pod existed when this instance began to act, so that its annotations are Paddock's own.
    trusted: bool = False


@dataclass(slots=True)
class Membership:
    """Classification of a pod, and its application."""

    #: True for a pod that Paddock schedules.
    managed: bool = False
    #: True once ``managed`` is final.
    classified: bool = False
    #: Application of the pod while it is an ask or an allocation; None otherwise.
    application: AppId | None = None
    #: Text sent about a queue that it named and that does not take it; empty for none, None before that is
    #: known.
    fell_back: str | None = None
    #: Rejection of its application that was reported on it; empty for none.
    rejected_for: str = ""
    #: Time at which marking it Failed was last requested, in seconds; None if never.
    failing_since: float | None = None
    #: Number of evictions that failed after its application was ended (ACT-23).
    evictions_refused: int = 0
    #: Labels with which it was taken into its application; None before that.
    taken_as: Labelled | None = None
    #: Labels that it has now; None if they are unchanged (F-23).
    relabelled: Labelled | None = None
    #: Time of the last Event about changed labels, in seconds; None if there was none.
    relabel_reported_at: float | None = None


class GateHold(NamedTuple):
    """A reason that keeps a gate shut. ``due``: the time of the Event; ``why``: empty once it was posted."""

    reason: Code
    due: float
    why: str


@dataclass(slots=True)
class Admission:
    """Answers that a pod got, its reservation, and its back-off."""

    #: Quota reserved between filter and bind; None if none is.
    reservation: Reservation | None = None
    #: Node that was counted for it when its size was reserved; empty for none.
    noted: NodeName = NO_NODE
    #: Refusal that was sent last (sticky); None if none was.
    sent: SentRefusal | None = None
    #: True if its last answer was a refusal by Paddock.
    refused: bool = False
    #: True if the last answer of filter admitted it.
    let_through: bool = False
    #: Time of the last filter call for it, in seconds; None if there was none.
    called_at: float | None = None
    #: Number of turns in a row that came to nothing.
    overlooked: int = 0
    #: True if all other asks go first once.
    passed_over: bool = False
    #: Time at which it may have a turn again, in seconds; None for at once.
    backs_off_until: float | None = None
    #: Time of its last wake-up, in seconds; None if there was none.
    woken_at: float | None = None
    #: True while a wake-up is being written.
    waking: bool = False
    #: Text last written about why its gate is shut; empty for none.
    gate_reported: str = ""
    #: Time at which its condition is to be written, in seconds; None if it says the current reason.
    condition_due: float | None = None
    #: Reasons that an Event named because they kept its gate shut for long. None is named twice.
    long_held: frozenset[Code] = frozenset()
    #: Reason that keeps its gate shut; None while nothing does.
    hold: GateHold | None = None
    #: True if the removal of its gate was requested and not refused, so the gate may be open (F-2).
    opening: bool = False
    #: True once it was filed for a report as never admitted (F-7).
    bypass_noted: bool = False


@dataclass(slots=True)
class Placement:
    """Binding of a pod to a node."""

    #: Node to which Paddock's own POST bound it; empty for none.
    bound_to: NodeName = NO_NODE
    #: Node of an open bind call; empty for none.
    binding: NodeName = NO_NODE
    #: True if filter admitted the pod again during that call.
    readmitted: bool = False
    #: True if that call waits for the other members of its pod group.
    waits_bind: bool = False
    #: True if the last Binding that was sent got no answer, so the pod may have been bound by it.
    unanswered: bool = False
    #: Time at which it was first seen on a node, in seconds.
    placed_at: float = 0.0


@dataclass(slots=True)
class NodeReservation:
    """Node reserved for a pod."""

    #: Reserved node; empty for none.
    node: NodeName = NO_NODE
    #: Time since which it is reserved, in seconds.
    since: float = 0.0
    #: Time of the last search that found none, in seconds; None if there was none.
    searched_at: float | None = None
    #: Node to which Paddock nominated it; empty for none.
    nominated: NodeName = NO_NODE
    #: Number of nominations to its reserved node.
    nominations: int = 0


@dataclass(slots=True)
class PreemptionRecord:
    """Part of a pod in preemption, as a victim or as an ask."""

    #: Outcome of its last eviction; None if there was none.
    eviction: EvictionOutcome | None = None
    #: Ask or queue that it is a victim of; None if it is no victim.
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

    #: Slot of a member; None for none.
    slot: Slot | None = None
    #: True if the member lost a slot.
    slot_lost: bool = False
    #: Member that replaces this placeholder; empty for none.
    yields_to: PodUid = NO_POD
    #: True for a placeholder whose deletion was requested.
    released: bool = False


class DaemonRecord(NamedTuple):
    """Part of a pod that names a DaemonSet."""

    #: DaemonSet that it names; None for none.
    daemon_set: DaemonSetKey | None = None
    #: Only node that it may run on, if that DaemonSet has created it (RNP-1); empty otherwise.
    required_node: NodeName = NO_NODE


NO_DAEMON_SET = DaemonRecord()


@dataclass(slots=True)
class PodRecord:
    """Record of a live pod."""

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
        """Node to which it is bound, by the API or by Paddock's own POST. Either is final."""
        return self.facts.node or self.placement.bound_to

    @property
    def is_confirmed(self) -> bool:
        """True if the API server has shown the pod as it is known here."""
        return self.seen.shown is not None and self.seen.provisional_until is None

    @property
    def is_ask(self) -> bool:
        """True if it wants a node and may have one: not bound, not terminating, held by no foreign gate."""
        return not (self.node or self.facts.deleting or self.facts.gated)

    @property
    def is_unguarded(self) -> bool:
        """True while kube-scheduler may place a pending pod without a filter call (F-2).

        Its markers skip filter. Its gate is open, or its removal was requested, or it never had one.
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
        """True if Paddock chose it as a victim, or if it terminates after kube-scheduler preempted it."""
        return self.preemption.preempted_for is not None or (self.facts.deleting and self.facts.disrupted)

    @property
    def is_unproved(self) -> bool:
        """True if no known DaemonSet confirms that it created the pod for one node (F-10)."""
        return self.daemon.daemon_set is not None and not self.daemon.required_node

    @property
    def evictable(self) -> bool:
        """True if it may be evicted: not terminating, not tied to its node (PRE-6), not being replaced."""
        leaves = self.facts.deleting or self.gang.released or self.gang.yields_to
        return not (self.preempting or leaves or self.daemon.required_node)

    @property
    def rank(self) -> Rank:
        """Rank among pending asks, the lower first."""
        return (-self.facts.priority, self.facts.created, self.seq, self.facts.uid)
