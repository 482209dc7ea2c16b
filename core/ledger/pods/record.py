"""What the ledger keeps per pod: what it was told, what it promised, and what it charges for it."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from core.ids import NO_NODE, NO_POD, AppId, NodeName, PodUid, QueuePath
from core.ledger.outcomes import EvictionOutcome
from core.queues.users.identity import Identity
from core.reasons import Said
from core.resource import Resource
from core.workload.ask import Rank, Reservation
from core.workload.daemon_set import DaemonSetKey
from core.workload.pod import OWN_GATE, PodFacts
from core.workload.pod_group import GroupKey


class Held(Enum):
    """Which counter a pod stands in; never in two (QUO-2)."""

    PENDING = "pending"
    RESERVED = "reserved"
    ALLOCATED = "allocated"
    OCCUPIED = "occupied"
    """On a node, in no queue: an unmanaged pod."""


class Standing(Enum):
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
    """The room that a member of a gang takes over (design section 5).

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
class PodRecord:
    """One live pod.

    ``seq``: order of arrival; ``managed``: its class, final once ``classified``; ``application``: its id
    while it is an ask or an allocation; ``shown``: what a list or watch said of it last, None
    when none did; ``facts`` differ from that while a verb's body is ahead, until ``provisional_until``;
    ``vouched_in``: how many lists had been requested when a body told of it, or its Binding was accepted;
    ``doubted_until``: when what only we did is over, as a list did not show it;
    ``bound_to``: where our own POST put it; ``binding``: the node of an open bind call; ``noted``: where its
    turn was counted, while it is reserved; ``refused``: our refusal was the last answer it got;
    ``overlooked``: how often in a row its turn came to nothing; ``passed_over``: others go first once;
    ``rests_until``: when it may have one again, None at once; ``woken_at``: when it was woken last,
    ``waking``: that is still being written;
    ``rejected_for``: the rejection of its application that it was told of; ``fell_back``: what it was told of
    the queue that it named and that does not take it, None before that is known; ``failing_since``: when
    marking it Failed was asked for last; ``daemon_set``: the one that it names, ``required_node``: the one
    node that it is for, if that DaemonSet has made it (RNP-1);
    ``gate_told``: what was last written of why its gate is shut;
    ``nominated``: the node that we nominated it to, ``nominations`` how often; ``keeps``: the node that is
    kept for it, ``kept_since`` when; ``sought_at``: when one was last sought in vain;
    ``eviction``: how our last eviction of it ended; ``preempted_for``: the ask that it is a victim of,
    or the queue whose quota shrank, and ``preempted_why``; ``triggered``: the plan that is carried out for
    it (PRE-5), ``plans``: how many were; ``tried_at``: when one was sought last; ``placed_at``: when it was
    first seen on a node; ``believed``: it was in the first list, or there when this instance began to act, so
    that what is written on it is from us;
    ``slot``: the room that it takes over from a placeholder; ``forgone``: it did once,
    and that came to nothing; ``yields_to``: the member that a placeholder's room is for; ``released``: a
    placeholder that is taken back; ``pod_group``: the group it is filed in, ``waits_bind``: its open bind
    call waits for the others of that group; ``opening``: the removal of its gate was requested and not
    refused, so the gate may be open (F-2); ``let_through``: our last filter answer admitted it;
    ``bypass_noted``: that it was never admitted was filed to be reported (F-7); ``taken_as``: what it said
    when it was taken into its application, ``relabelled``: what it says by now, None where that is the same;
    ``relabel_told``: when an Event said so last.
    """

    facts: PodFacts
    seq: int
    managed: bool = False
    classified: bool = False
    application: AppId | None = None
    shown: PodFacts | None = None
    provisional_until: float | None = None
    vouched_in: int = -1
    doubted_until: float | None = None
    bound_to: NodeName = NO_NODE
    binding: NodeName = NO_NODE
    noted: NodeName = NO_NODE
    reservation: Reservation | None = None
    said: Said | None = None
    refused: bool = False
    overlooked: int = 0
    passed_over: bool = False
    rests_until: float | None = None
    woken_at: float | None = None
    waking: bool = False
    rejected_for: str = ""
    fell_back: str | None = None
    daemon_set: DaemonSetKey | None = None
    required_node: NodeName = NO_NODE
    failing_since: float | None = None
    gate_told: str = ""
    nominated: NodeName = NO_NODE
    nominations: int = 0
    keeps: NodeName = NO_NODE
    kept_since: float = 0.0
    sought_at: float | None = None
    eviction: EvictionOutcome | None = None
    preempted_for: PodUid | QueuePath | None = None
    preempted_why: str = ""
    triggered: str = ""
    plans: int = 0
    tried_at: float | None = None
    placed_at: float = 0.0
    believed: bool = False
    slot: Slot | None = None
    forgone: bool = False
    yields_to: PodUid = NO_POD
    released: bool = False
    pod_group: GroupKey | None = None
    waits_bind: bool = False
    opening: bool = False
    let_through: bool = False
    bypass_noted: bool = False
    taken_as: Labelled | None = None
    relabelled: Labelled | None = None
    relabel_told: float | None = None

    @property
    def uid(self) -> PodUid:
        return self.facts.uid

    @property
    def node(self) -> NodeName:
        """Where it is bound, as the API or our own POST says; a pod never moves, so either is final."""
        return self.facts.node or self.bound_to

    @property
    def is_confirmed(self) -> bool:
        """True if the API server has shown the pod as it is known here: nothing rests on a body alone."""
        return self.shown is not None and self.provisional_until is None

    @property
    def is_ask(self) -> bool:
        """Wants a node and may have one: not bound, not leaving, not held by somebody's gate."""
        return not (self.node or self.facts.deleting or self.facts.gated)

    @property
    def is_unguarded(self) -> bool:
        """True while kube-scheduler may place a pending pod without a filter call (F-2).

        Its gate is open, or its removal was requested, or it never had one; and its markers leave filter out.
        """
        return not self.facts.asks_filter and self.is_ask and (self.opening or not self.is_gated)

    @property
    def is_gated(self) -> bool:
        """True while Paddock's own gate holds it."""
        return OWN_GATE in self.facts.gates

    @property
    def bypasses(self) -> bool:
        """True for an unguarded pod whose gate was not opened by Paddock (F-7)."""
        return self.is_unguarded and not (self.opening or self.facts.gate_opened)

    @property
    def preempting(self) -> bool:
        """Chosen as a victim by us, or on its way out since kube-scheduler has preempted it."""
        return self.preempted_for is not None or (self.facts.deleting and self.facts.disrupted)

    @property
    def is_unproved(self) -> bool:
        """Whether it says that a DaemonSet made it for one node, and none that is known has (F-10)."""
        return self.daemon_set is not None and not self.required_node

    @property
    def evictable(self) -> bool:
        """Neither leaving already, nor bound to its node for good (PRE-6), nor there for a member."""
        leaves = self.facts.deleting or self.released or self.yields_to
        return not (self.preempting or leaves or self.required_node)

    @property
    def rank(self) -> Rank:
        return (-self.facts.priority, self.facts.created, self.seq, self.facts.uid)
