"""Parts of a pod's record, each about one subject.

Each pod has one of each. Their constructors are written, since mypyc leaves that of a dataclass to the
interpreter (decision 0085).
"""

from dataclasses import dataclass
from typing import NamedTuple

from core.ids import NO_NODE, NO_POD, AppId, NodeName, PodUid, QueuePath
from core.ledger.outcomes import EvictionOutcome
from core.queues.users.identity import Identity
from core.reasons import Code, SentRefusal
from core.workload.ask import Reservation
from core.workload.daemon_set import DaemonSetKey
from core.workload.pod import PodFacts


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


@dataclass(init=False, slots=True)
class Sighting:
    """Sources that have shown a pod, and how far they are trusted."""

    #: Pod as a list or the watch showed it last; None if none did.
    shown: PodFacts | None
    #: Time until which a verb's body is believed ahead of the watch, in seconds; None if it is not ahead.
    provisional_until: float | None
    #: Number of lists requested when a body showed the pod, or when its Binding was accepted.
    exists_since_list: int
    #: Time at which an act of Paddock that a list does not show expires (F-8), in seconds; None for none.
    doubted_until: float | None
    #: True if the pod existed when this instance began to act, so that its annotations are Paddock's own.
    trusted: bool

    def __init__(self, shown: PodFacts | None = None) -> None:
        self.shown = shown
        self.provisional_until = None
        self.exists_since_list = -1
        self.doubted_until = None
        self.trusted = False


@dataclass(init=False, slots=True)
class Membership:
    """Classification of a pod, and its application."""

    #: True for a pod that Paddock schedules.
    managed: bool
    #: True once ``managed`` is final.
    classified: bool
    #: Application of the pod while it is an ask or an allocation; None otherwise.
    application: AppId | None
    #: Text sent about a queue that it named and that does not take it; empty for none, None before that is
    #: known.
    fell_back: str | None
    #: Rejection of its application that was reported on it; empty for none.
    rejected_for: str
    #: Time at which marking it Failed was last requested, in seconds; None if never.
    failing_since: float | None
    #: Number of evictions that failed after its application was ended (ACT-23).
    evictions_refused: int
    #: Labels with which it was taken into its application; None before that.
    taken_as: Labelled | None
    #: Labels that it has now; None if they are unchanged (F-23).
    relabelled: Labelled | None
    #: Time of the last Event about changed labels, in seconds; None if there was none.
    relabel_reported_at: float | None

    def __init__(
        self, managed: bool = False, classified: bool = False, application: AppId | None = None
    ) -> None:
        self.managed = managed
        self.classified = classified
        self.application = application
        self.fell_back = None
        self.rejected_for = ""
        self.failing_since = None
        self.evictions_refused = 0
        self.taken_as = None
        self.relabelled = None
        self.relabel_reported_at = None


class GateHold(NamedTuple):
    """A reason that keeps a gate shut. ``due``: the time of the Event; ``why``: empty once it was posted."""

    reason: Code
    due: float
    why: str


@dataclass(init=False, slots=True)
class Admission:
    """Answers that a pod got, its reservation, and its back-off."""

    #: Quota reserved between filter and bind; None if none is.
    reservation: Reservation | None
    #: Node that was counted for it when its size was reserved; empty for none.
    noted: NodeName
    #: Refusal that was sent last (sticky); None if none was.
    sent: SentRefusal | None
    #: True if its last answer was a refusal by Paddock.
    refused: bool
    #: True if the last answer of filter admitted it.
    let_through: bool
    #: Time of the last filter call for it, in seconds; None if there was none.
    called_at: float | None
    #: Number of turns in a row that came to nothing.
    overlooked: int
    #: True if all other asks go first once.
    passed_over: bool
    #: Time at which it may have a turn again, in seconds; None for at once.
    backs_off_until: float | None
    #: Time of its last wake-up, in seconds; None if there was none.
    woken_at: float | None
    #: True while a wake-up is being written.
    waking: bool
    #: Text last written about why its gate is shut; empty for none.
    gate_reported: str
    #: Time at which its condition is to be written, in seconds; None if it says the current reason.
    condition_due: float | None
    #: Reasons that an Event named because they kept its gate shut for long. None is named twice.
    long_held: frozenset[Code]
    #: Reason that keeps its gate shut; None while nothing does.
    hold: GateHold | None
    #: True if the removal of its gate was requested and not refused, so the gate may be open (F-2).
    opening: bool
    #: True once it was filed for a report as never admitted (F-7).
    bypass_noted: bool

    def __init__(self) -> None:
        self.reservation = None
        self.noted = NO_NODE
        self.sent = None
        self.refused = False
        self.let_through = False
        self.called_at = None
        self.overlooked = 0
        self.passed_over = False
        self.backs_off_until = None
        self.woken_at = None
        self.waking = False
        self.gate_reported = ""
        self.condition_due = None
        self.long_held = frozenset()
        self.hold = None
        self.opening = False
        self.bypass_noted = False


@dataclass(init=False, slots=True)
class Placement:
    """Binding of a pod to a node."""

    #: Node to which Paddock's own POST bound it; empty for none.
    bound_to: NodeName
    #: Node of an open bind call; empty for none.
    binding: NodeName
    #: True if filter admitted the pod again during that call.
    readmitted: bool
    #: True if that call waits for the other members of its pod group.
    waits_bind: bool
    #: True if the last Binding that was sent got no answer, so the pod may have been bound by it.
    unanswered: bool
    #: Time at which it was first seen on a node, in seconds.
    placed_at: float

    def __init__(self) -> None:
        self.bound_to = NO_NODE
        self.binding = NO_NODE
        self.readmitted = False
        self.waits_bind = False
        self.unanswered = False
        self.placed_at = 0.0


@dataclass(init=False, slots=True)
class NodeReservation:
    """Node reserved for a pod."""

    #: Reserved node; empty for none.
    node: NodeName
    #: Time since which it is reserved, in seconds.
    since: float
    #: Time of the last search that found none, in seconds; None if there was none.
    searched_at: float | None
    #: Node to which Paddock nominated it; empty for none.
    nominated: NodeName
    #: Number of nominations to its reserved node.
    nominations: int

    def __init__(self) -> None:
        self.node = NO_NODE
        self.since = 0.0
        self.searched_at = None
        self.nominated = NO_NODE
        self.nominations = 0


@dataclass(init=False, slots=True)
class PreemptionRecord:
    """Part of a pod in preemption, as a victim or as an ask."""

    #: Outcome of its last eviction; None if there was none.
    eviction: EvictionOutcome | None
    #: Ask or queue that it is a victim of; None if it is no victim.
    preempted_for: PodUid | QueuePath | None
    #: Reason why it was chosen; empty for no victim.
    preempted_why: str
    #: Plan that is carried out for it (PRE-5); empty for none.
    triggered: str
    #: Number of plans that were carried out for it.
    plans: int
    #: Time of the last attempt to plan for it, in seconds; None if there was none.
    tried_at: float | None

    def __init__(self) -> None:
        self.eviction = None
        self.preempted_for = None
        self.preempted_why = ""
        self.triggered = ""
        self.plans = 0
        self.tried_at = None


@dataclass(init=False, slots=True)
class GangRecord:
    """Part of a pod in its gang."""

    #: Slot of a member; None for none.
    slot: Slot | None
    #: True if the member lost a slot.
    slot_lost: bool
    #: Member that replaces this placeholder; empty for none.
    yields_to: PodUid
    #: True for a placeholder whose deletion was requested.
    released: bool

    def __init__(self) -> None:
        self.slot = None
        self.slot_lost = False
        self.yields_to = NO_POD
        self.released = False


class DaemonRecord(NamedTuple):
    """Part of a pod that names a DaemonSet."""

    #: DaemonSet that it names; None for none.
    daemon_set: DaemonSetKey | None = None
    #: Only node that it may run on, if that DaemonSet has created it (RNP-1); empty otherwise.
    required_node: NodeName = NO_NODE


NO_DAEMON_SET = DaemonRecord()
