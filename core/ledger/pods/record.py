"""Record of a pod in the ledger: facts reported, promises made, and its charge."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.ids import NodeName, PodUid, QueuePath
from core.ledger.pods.parts import (
    NO_DAEMON_SET,
    Admission,
    DaemonRecord,
    GangRecord,
    Membership,
    NodeReservation,
    Placement,
    PreemptionRecord,
    Sighting,
)
from core.resource import Resource
from core.workload.ask import Rank
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


@dataclass(init=False, slots=True, eq=False)
class Charge:
    """Amounts that one pod adds to the counters.

    ``node``: node on which it takes capacity, or empty. ``priority``: of an ask, or of a pod that may become
    a victim.
    """

    held: Final[Held]
    queue: Final[QueuePath | None]
    node: Final[NodeName]
    size: Final[Resource]
    priority: Final[int]
    standing: Final[Standing]

    def __init__(
        self,
        held: Held,
        queue: QueuePath | None,
        node: NodeName,
        size: Resource,
        priority: int = 0,
        standing: Standing = Standing.PLAIN,
    ) -> None:
        self.held = held
        self.queue = queue
        self.node = node
        self.size = size
        self.priority = priority
        self.standing = standing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Charge) and self.node == other.node and self.differs_at_most_by_node(other)

    def differs_at_most_by_node(self, other: "Charge") -> bool:
        """True if both count the same in queues."""
        return (
            self.held is other.held
            and self.queue == other.queue
            and self.size == other.size
            and self.priority == other.priority
            and self.standing is other.standing
        )


@dataclass(init=False, slots=True)
class PodRecord:
    """Record of a live pod."""

    #: Pod as known now; differs from what was shown while the body of a verb is ahead.
    facts: PodFacts
    #: Sequence number of arrival.
    seq: int
    #: Uid of the pod, whatever else is shown of it.
    uid: PodUid
    #: Sources that have shown it.
    seen: Sighting
    #: Classification and application.
    membership: Membership
    #: Answers, reservation and back-off.
    admission: Admission
    #: Binding to a node.
    placement: Placement
    #: Node held for it.
    node_reservation: NodeReservation
    #: Part in preemption.
    preemption: PreemptionRecord
    #: Part in its gang.
    gang: GangRecord
    #: DaemonSet that it names.
    daemon: DaemonRecord
    #: Pod group it is filed in; None for none.
    pod_group: GroupKey | None

    def __init__(
        self,
        facts: PodFacts,
        seq: int,
        *,
        seen: Sighting | None = None,
        membership: Membership | None = None,
    ) -> None:
        self.facts = facts
        self.seq = seq
        self.uid = facts.uid
        self.seen = Sighting() if seen is None else seen
        self.membership = Membership() if membership is None else membership
        self.admission = Admission()
        self.placement = Placement()
        self.node_reservation = NodeReservation()
        self.preemption = PreemptionRecord()
        self.gang = GangRecord()
        self.daemon = NO_DAEMON_SET
        self.pod_group = None

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
