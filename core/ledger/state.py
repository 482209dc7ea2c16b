"""Everything the ledger remembers, as plain containers. No behaviour: see `accounts`, `ledger`, `audit`."""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger.effects import Effect
from core.ledger.events import ChosenVictim
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.settings import LedgerSettings
from core.queues.queue import Queue
from core.queues.room import Extra, Room
from core.queues.spec import NodeSortSpec, RuleSpec
from core.queues.tree import QueueTree
from core.queues.users.limits import Claimant, Limits, Tracked, UsageBook
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.ask import Rank
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey
from core.workload.gangs.gang import GroupSource
from core.workload.gangs.progress import GangTally
from core.workload.nodes.affinity import Constraints, Toleration
from core.workload.nodes.node import NodeFacts, NodeUse
from core.workload.nodes.room import NodeRoom
from core.workload.pending_index import Kind, Lineup
from core.workload.pod import NamespaceFacts, PriorityClassFacts
from core.workload.pod_group import Group, GroupKey, GroupNumbers, Terms
from core.workload.promises import Promises


class WaitingKey(NamedTuple):
    """Asks of one application, size and constraints on nodes fit alike."""

    queue: QueuePath
    size: Resource
    app: AppId
    constraints: Constraints


TERMINATED_KEPT = 10_000
"""Applications that have ended and are still shown; more of them are forgotten, the oldest first."""

KEPT = 300.0
"""Seconds that a resolver's answer is used again (ID-5)."""

FAILURE_KEPT = 30.0


class Resolved(NamedTuple):
    """What a resolver said of a user's groups, None when it does not know him, and when."""

    groups: tuple[str, ...] | None
    at: float

    @property
    def until(self) -> float:
        """When it is not used any more."""
        return self.at + (FAILURE_KEPT if self.groups is None else KEPT)


class Role(Enum):
    """What a pod is to its gang now."""

    PENDING = "pending"
    """A placeholder without a node."""
    HELD = "held"
    """A placeholder whose room is there to be taken over."""
    LEAVING = "leaving"
    """A placeholder that is taken over, or taken back."""
    WANTING = "wanting"
    """A member that waits for a placeholder of its group."""
    WAITING = "waiting"
    """Any pod that waits for the gang."""


@dataclass(slots=True)
class IdentityTally:
    """What was reported of whose pods are.

    ``of_another``: applications whose id another namespace has; ``forced``: pods that got a node without
    having been let in, ``recovered``: those that no queue takes (F-1);
    ``relabelled``: changes of labels that would lead a pod elsewhere (F-23).
    """

    of_another: int = 0
    forced: int = 0
    recovered: int = 0
    relabelled: int = 0


class InLine(NamedTuple):
    """When a gang takes over, among others that could: as kube-scheduler comes to its members.

    ``stalled``: what it has begun does not get on; ``priority``: of its first member, turned round.
    """

    stalled: bool
    priority: int
    submitted: float
    app: AppId


class Place(NamedTuple):
    """Where a pod stands in the gang of its application."""

    role: Role
    app: AppId
    group: str
    rank: Rank


class Seat(NamedTuple):
    """Where an ask waits, with the rank it was filed under: what it is told later may rank it elsewhere."""

    key: WaitingKey
    rank: Rank


class Offer(NamedTuple):
    """A plan that kube-scheduler was told of and may carry out, since ``at`` (design section 4)."""

    plan: str
    node: NodeName
    victims: tuple[ChosenVictim, ...]
    at: float


class Payer(NamedTuple):
    """Whose plans in vain are counted together. ``namespace``: empty for a queue that is configured."""

    queue: QueuePath
    namespace: str


class InVain(NamedTuple):
    """What is known of plans in vain: when the last were, and ``until`` when no plan is made.

    ``times``: waits in a row; ``reported``: an ask was told of the last one.
    """

    moments: tuple[float, ...] = ()
    times: int = 0
    until: float = 0.0
    reported: bool = False


class Stage(Enum):
    """How far a victim is on its way out."""

    OFFERED = "offered"
    """kube-scheduler was told of it and may take it; nothing is written."""
    CHOSEN = "chosen"
    MARKED = "marked"
    """It says on itself for whom it goes."""
    ASKED = "asked"
    """Its eviction was asked for, and perhaps is not answered yet."""


OverMaxPlace = QueuePath | Tracked
"""A queue, or a user or group in one."""


class Episode(NamedTuple):
    """Usage above a max, for as long as that lasts.

    ``pod``: the one whose charge brought it there, None when the max was lowered; ``reported``: by an event
    of this instance.
    """

    pod: PodUid | None
    reported: bool = False


class Turn(NamedTuple):
    """Leave to be placed, since ``at``. What it holds is taken back from where it was given."""

    seat: Seat
    at: float
    chain: tuple[Queue, ...]
    claimant: Claimant
    node: NodeName


@dataclass(slots=True)
class Unguarded:
    """Pods that kube-scheduler may place without a filter call (F-2)."""

    #: When each becomes overdue, in seconds; in the order of that moment. Derived, but for the moment.
    placing: dict[PodUid, float] = field(default_factory=dict)
    #: Those of which that was reported. Derived, together with ``placing``.
    unplaced: dict[PodUid, None] = field(default_factory=dict)
    #: Pods that were never admitted and are not reported yet, placed or not (F-7).
    bypasses: dict[PodUid, None] = field(default_factory=dict)
    #: Number of reports of pods that were never admitted, since the start.
    reported: int = 0


class Names(dict[tuple[str, str], tuple[PodUid, ...]]):
    """Uids by namespace and name.

    Not a plain dict: the garbage collector lets go of one that holds only strings and tuples of them, and
    takes each new pod for a reason to walk it all anew: 20 ms with 150,000 pods.
    """


@dataclass(slots=True)
class State:
    """The record.

    Told: ``pods`` (with what was promised to each), ``nodes``, ``namespaces``, ``priority_classes``,
    ``budgets`` (by namespace and name), ``daemon_sets``, ``settings``, ``rules``, ``limits`` and the tree's
    shape. Derived,
    and so what the audit recomputes: ``charges`` and the counters they add up to (queues, ``uses``,
    ``capacity``, ``node_room``, ``afloat``: what is reserved on no node yet, the ``book``
    of users and groups), ``applications``, and the indexes ``unplaced`` (applications without a queue,
    and those whose queue does not let in what waits of them),
    ``namesakes`` (applications by id, whatever their namespace), ``guests`` (where the pods of an id in a
    namespace belong that are in another namespace's application),
    ``timers`` (when the state of one ends by itself), ``by_name``, ``reserved``, ``provisional``,
    ``doubted``, ``waiting``, ``waits_at``, ``tolerated`` (by how many who wait), ``unclassified``,
    ``kept`` (nodes kept for an ask),
    ``daemon_pods`` (those that name a DaemonSet),
    ``victims`` (those marked, by whom they go for, in the order chosen, and how far each is),
    ``places`` (of pods in their gangs), ``over_max`` (queues, users and groups above a max),
    ``slots`` (nodes on which room is there for one member only, ``slots_at`` by
    member, in the order of their links; ``opening``: when those were linked whose placeholder is there yet),
    ``forming`` (when a gang is to be looked at again), ``pod_groups`` with who is in them, and ``watched``
    (those for which something ends by itself).

    ``listing``: a list of pods was requested and has not ended; ``lists_begun``: how many were;
    ``caught_up``: the watch has told all that happened until that list was shown;
    ``gone``: uids deleted lately, with the time; ``turns``: the asks that may be placed now, ``given`` what
    that holds, and ``promised`` the same by leaf and application; ``moved``: leaves, with applications, in
    which anything was counted since the pass that goes on looked last; ``unwoken``: those with a turn whose
    wake-up has to wait; ``fresh``: asks that no pass has
    looked at; ``young``: asks that no node is kept for yet, with the time when they are old enough, and
    ``age_due``, which is not after the first of those; ``aged``: who is so by now and waits for a pass;
    ``overdue``: more has expired than was looked at in one go;
    ``nowhere``: kinds of asks that the passes found no node for; ``freed``: room has appeared since the last
    pass began; ``due``: an ask waits for a pass; ``passing``: one goes on; ``deferred``: when the next one
    has something to do; ``offers``: plans that kube-scheduler was told of, by ask, ``withdrawn`` the
    asks whose victims are still to be spared; ``in_vain``: plans whose ask vanished, by who pays,
    ``plans_in_vain`` and ``waits_for_vain`` their numbers since the start; ``tries``: when an ask may
    next have a plan made for it, ``tries_due`` not after the first of those, and ``trying`` who may now,
    ``due_round`` how often some were added; ``quota_starts``: when pods of a queue go because its quota
    shrank, ``reclaims``: of which now;
    ``preempts`` and ``quota_preempts``: the partition's switches (PRE-1, QCP-1); ``node_sort``: how nodes are
    scored; ``resolver``: where groups come from that no pod names (ID-4);
    ``resolved``: what it answered lately; ``looking_up``: users that it was asked about and has not
    answered; ``outbox``: effects to hand out;
    ``stirred_gangs``: gangs in which something has changed; ``elsewhere``: those with a member that fits
    beside no placeholder, and nowhere else either when it was last looked at; ``in_line``: those with members
    that may be linked as soon as fewer are under way, ``line`` who goes next (a heap); ``gang_tally``: what
    has become of gangs, ``identity_tally`` what was reported of whose pods are;
    ``group_terms``: what PodGroup objects say, ``group_sources``: of which kinds there are
    any; ``stirred``: groups to look at once the event is applied;
    ``over_max_begun``: how often usage has passed a max, by kind;
    ``group_numbers``: what became of groups; ``asked_at``: when kube-scheduler asked about anybody last;
    ``acts``: whether this instance acts on its own account;
    ``now``: the time of the event that is being applied; ``terminated``: applications that have ended, the
    latest last; ``generation``: number of documents applied; ``node_set``: changes whenever a node comes or
    goes.
    """

    settings: LedgerSettings = field(default_factory=LedgerSettings)
    generation: int = 0
    now: float = 0.0
    tree: QueueTree = field(default_factory=QueueTree)
    rules: tuple[RuleSpec, ...] = ()
    limits: Limits = field(default_factory=Limits)
    resolver: str = ""
    node_sort: NodeSortSpec = field(default_factory=NodeSortSpec)
    preempts: bool = True
    quota_preempts: bool = False
    pods: dict[PodUid, PodRecord] = field(default_factory=dict)
    nodes: dict[NodeName, NodeFacts] = field(default_factory=dict)
    namespaces: dict[str, NamespaceFacts] = field(default_factory=dict)
    priority_classes: dict[str, PriorityClassFacts] = field(default_factory=dict)
    budgets: dict[str, dict[str, BudgetFacts]] = field(default_factory=dict)
    daemon_sets: dict[DaemonSetKey, DaemonSetFacts] = field(default_factory=dict)
    daemon_pods: dict[DaemonSetKey, set[PodUid]] = field(default_factory=dict)
    pods_listed: bool = False
    listing: bool = False
    lists_begun: int = 0
    caught_up: bool = True
    namespaces_listed: bool = False
    nodes_listed: bool = False

    charges: dict[PodUid, Charge] = field(default_factory=dict)
    applications: dict[AppId, Application] = field(default_factory=dict)
    namesakes: dict[str, set[AppId]] = field(default_factory=dict)
    guests: dict[AppId, AppId] = field(default_factory=dict)
    unplaced: set[AppId] = field(default_factory=set)
    timers: dict[AppId, float] = field(default_factory=dict)
    uses: dict[NodeName, NodeUse] = field(default_factory=dict)
    capacity: Tally = field(default_factory=Tally)
    node_room: NodeRoom = field(default_factory=NodeRoom)
    afloat: Tally = field(default_factory=Tally)
    tolerated: dict[tuple[Toleration, ...], int] = field(default_factory=dict)
    book: UsageBook = field(default_factory=UsageBook)
    by_name: Names = field(default_factory=Names)
    reserved: set[PodUid] = field(default_factory=set)
    provisional: set[PodUid] = field(default_factory=set)
    doubted: set[PodUid] = field(default_factory=set)
    unclassified: dict[str, set[PodUid]] = field(default_factory=dict)
    waiting: dict[QueuePath, Lineup] = field(default_factory=dict)
    waits_at: dict[PodUid, Seat] = field(default_factory=dict)
    kept: dict[NodeName, PodUid] = field(default_factory=dict)
    victims: dict[PodUid | QueuePath, dict[PodUid, Stage]] = field(default_factory=dict)
    places: dict[PodUid, Place] = field(default_factory=dict)
    slots: dict[NodeName, set[PodUid]] = field(default_factory=dict)
    slots_at: dict[PodUid, NodeName] = field(default_factory=dict)
    opening: dict[PodUid, float] = field(default_factory=dict)
    forming: dict[AppId, float] = field(default_factory=dict)
    pod_groups: dict[GroupKey, Group] = field(default_factory=dict)
    watched: dict[GroupKey, None] = field(default_factory=dict)
    over_max: dict[OverMaxPlace, Episode] = field(default_factory=dict)

    resolved: dict[str, Resolved] = field(default_factory=dict)
    looking_up: set[str] = field(default_factory=set)
    outbox: list[Effect] = field(default_factory=list)
    terminated: deque[Application] = field(default_factory=lambda: deque(maxlen=TERMINATED_KEPT))
    group_terms: dict[tuple[GroupSource, GroupKey], Terms] = field(default_factory=dict)
    group_sources: set[GroupSource] = field(default_factory=set)
    stirred: dict[GroupKey, None] = field(default_factory=dict)
    group_numbers: GroupNumbers = field(default_factory=GroupNumbers)
    over_max_begun: dict[str, int] = field(default_factory=dict)
    gone: dict[PodUid, float] = field(default_factory=dict)
    turns: dict[PodUid, Turn] = field(default_factory=dict)
    given: Extra = field(default_factory=Extra)
    promised: dict[QueuePath, Promises] = field(default_factory=dict)
    moved: dict[QueuePath, dict[AppId, None]] = field(default_factory=dict)
    unwoken: set[PodUid] = field(default_factory=set)
    fresh: dict[PodUid, Seat] = field(default_factory=dict)
    young: dict[PodUid, float] = field(default_factory=dict)
    aged: set[PodUid] = field(default_factory=set)
    age_due: float | None = None
    overdue: bool = False
    offers: dict[PodUid, Offer] = field(default_factory=dict)
    withdrawn: dict[PodUid, None] = field(default_factory=dict)
    in_vain: dict[Payer, InVain] = field(default_factory=dict)
    plans_in_vain: int = 0
    waits_for_vain: int = 0
    tries: dict[PodUid, float] = field(default_factory=dict)
    tries_due: float | None = None
    trying: dict[PodUid, None] = field(default_factory=dict)
    due_round: int = 0
    quota_starts: dict[QueuePath, float] = field(default_factory=dict)
    reclaims: dict[QueuePath, None] = field(default_factory=dict)
    nowhere: set[Kind] = field(default_factory=set)
    stirred_gangs: dict[AppId, None] = field(default_factory=dict)
    elsewhere: dict[AppId, None] = field(default_factory=dict)
    in_line: dict[AppId, InLine] = field(default_factory=dict)
    line: list[InLine] = field(default_factory=list)
    acts: bool = True
    gang_tally: GangTally = field(default_factory=GangTally)
    identity_tally: IdentityTally = field(default_factory=IdentityTally)
    freed: bool = False
    due: bool = False
    passing: bool = False
    deferred: float | None = None
    unguarded: Unguarded = field(default_factory=Unguarded)
    node_set: int = 0
    arrivals: int = 0
    asked_at: float = 0.0

    def application_of(self, record: PodRecord) -> Application | None:
        """None for a pod that is in none yet, or in none at all."""
        return self.applications.get(record.application) if record.application is not None else None

    @property
    def room(self) -> Room:
        """What decides whether an ask fits, besides its queues."""
        return Room(self.limits, self.book)
