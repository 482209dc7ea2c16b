"""Pods that start together by what their labels or a PodGroup object say (COS): a group, and its times.

Values and counting only; what follows from them is the matter of `core.ledger.podgroups.attempt`.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple
from zlib import crc32

from core.ids import PodUid, QueuePath
from core.resource import Resource
from core.workload.pod_group_phase import (
    DEGRADED,
    FIRST_ATTEMPT,
    FIRST_PHASE,
    AttemptEvent,
    AttemptPhase,
    GroupEvent,
    GroupPhase,
    advance,
    advance_attempt,
)

WAIT_BASE = 10.0
WAIT_PER_MEMBER = 1.0
"""Seconds that members wait for the others: a base, and some for each (COS-5)."""

BEFORE_DEADLINE = 5.0
"""Seconds that are left of a bind call's own time when its group is given up: a Binding takes some too."""

FIRST_BACK_OFF = 5.0
LONGEST_BACK_OFF = 300.0
"""Seconds that a group rests when its members waited in vain, once and at most."""

SHORT_BACK_OFF = 2.0
LONGEST_SHORT_BACK_OFF = 60.0
"""The same when none of its members has come to filter."""


class GroupKey(NamedTuple):
    """The same name in the same namespace (COS-1)."""

    namespace: str
    name: str


class MemberPhase(Enum):
    """What a member is to its group. Succeeded and Failed ones are none any more (COS-14)."""

    AWAY = "away"
    """It leaves, is held by somebody else's gate, or has no queue: it does not count."""
    STRAY = "stray"
    """It is in another queue than its group."""
    PENDING = "pending"
    RESERVED = "reserved"
    """It was let through by filter and holds quota."""
    WAITING = "waiting"
    """It waits in its bind call for the others."""
    POSTING = "posting"
    """Its Binding is under way."""
    BOUND = "bound"


HOLDING = (MemberPhase.RESERVED, MemberPhase.WAITING)
PLACED = (MemberPhase.POSTING, MemberPhase.BOUND)
HELD = (*HOLDING, *PLACED)
THERE = (MemberPhase.PENDING, *HOLDING, *PLACED)


class Seniority(NamedTuple):
    """Who is first: older, then seen earlier; the uid makes it unique."""

    created: float
    seq: int
    uid: PodUid


class Terms(NamedTuple):
    """What a PodGroup object says of a group (COS-10, COS-22).

    ``min_available``: 0 when it asks for none (basic policy); ``least``: resources that the group needs at
    the least, by Paddock's names; ``timeout``: seconds that members wait, None for the usual.
    """

    min_available: int
    least: tuple[tuple[str, int], ...] = ()
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class PodGroupFacts:
    """A PodGroup object as last reported."""

    key: GroupKey
    terms: Terms


@dataclass(slots=True)
class Group:
    """One pod group, from its first member to its last."""

    #: Namespace and name.
    key: GroupKey
    #: Phase of each member, in the order in which members came to them. Derived.
    phases: dict[PodUid, MemberPhase] = field(default_factory=dict)
    #: Members per phase. Derived.
    counts: Counter[MemberPhase] = field(default_factory=Counter)
    #: Age of each member. Derived.
    ages: dict[PodUid, Seniority] = field(default_factory=dict)
    #: Size of each member. Derived.
    sizes: dict[PodUid, Resource] = field(default_factory=dict)
    #: Members per size. Derived.
    alike: Counter[Resource] = field(default_factory=Counter)
    #: Oldest member, whose labels count (COS-2); its uid is that of the group. None without any. Derived.
    first: Seniority | None = None
    #: Members that must start together. Derived.
    min_available: int = 1
    #: Queue of the member that was placed first; None before that.
    queue: QueuePath | None = None
    #: What is known of its members on nodes; `move` alone writes it.
    phase: GroupPhase = FIRST_PHASE
    #: Progress of its attempt to start; `move_attempt` alone writes it.
    attempt_phase: AttemptPhase = FIRST_ATTEMPT
    #: Time at which the attempt began, in seconds; None while there is none.
    attempt_since: float | None = None
    #: Time since which all members with turns could know of them, in seconds.
    leased: float = 0.0
    #: Time at which those that wait in bind give up, in seconds; None while none waits.
    wait_until: float | None = None
    #: Attempts in a row that failed because not all members came.
    timeouts: int = 0
    #: Attempts in a row that failed because no member came.
    ignored: int = 0
    #: Time before which there is no other attempt, in seconds; None for no back-off.
    backs_off_until: float | None = None
    #: Time since which some members are on nodes and not enough, in seconds; None while it is not degraded.
    degraded_since: float | None = None
    #: True if it was open when the turns of its members were timed last. Derived.
    timed_open: bool = False
    #: True while enough members exist. Derived.
    complete: bool = False
    #: Time at which enough members existed, in seconds; None if they never did.
    complete_since: float | None = None
    #: Warnings that were reported.
    warned: set[str] = field(default_factory=set)

    def move(self, event: GroupEvent) -> None:
        """Go to the phase to which an event leads; `IllegalTransition` when it leads to none."""
        self.phase = advance(self.phase, event)

    def move_attempt(self, event: AttemptEvent) -> None:
        """Go to the phase of the attempt to which an event leads; `IllegalTransition` like `move`."""
        self.attempt_phase = advance_attempt(self.attempt_phase, event)

    @property
    def attempts(self) -> bool:
        """True while an attempt runs."""
        return self.attempt_phase is not AttemptPhase.NONE

    @property
    def title(self) -> str:
        """Its name in texts."""
        return f"pod group {self.key.namespace}/{self.key.name}"

    def count(self, *phases: MemberPhase) -> int:
        return sum(self.counts[each] for each in phases)

    @property
    def there(self) -> int:
        """Members that count (COS-4)."""
        return self.count(*THERE)

    @property
    def is_gang(self) -> bool:
        """Whether any must start together: not under the policy ``basic`` (COS-24)."""
        return self.min_available > 0

    @property
    def open(self) -> bool:
        """Enough are on nodes, or on their way there: whoever else comes is a pod like any other."""
        return self.count(*PLACED) >= self.min_available

    @property
    def held(self) -> int:
        """Members on nodes and those that hold quota for one."""
        return self.count(*PLACED, *HOLDING)

    @property
    def urgent(self) -> bool:
        """Some of it is on nodes, not enough, and nobody was told yet: the others go first."""
        return self.phase is GroupPhase.DEGRADED

    def file(self, uid: PodUid, phase: MemberPhase) -> None:
        old = self.phases.pop(uid, None)
        if old is not None:
            self.counts[old] -= 1
        self.phases[uid] = phase
        self.counts[phase] += 1

    def measure(self, uid: PodUid, size: Resource | None) -> None:
        """A member has this size from now on; None when it goes."""
        old = self.sizes.pop(uid, None)
        if old is not None:
            self.alike[old] -= 1
            if not self.alike[old]:
                del self.alike[old]
        if size is not None:
            self.sizes[uid] = size
            self.alike[size] += 1

    def drop(self, uid: PodUid) -> None:
        self.counts[self.phases.pop(uid)] -= 1
        self.measure(uid, None)
        del self.ages[uid]
        self.warned.discard(uid)

    @property
    def least(self) -> Resource:
        """What must fit at the least for the group to start (COS-24, GANG-6).

        The smallest of its members, as many as must start; of those that do not exist yet each is taken for
        as large as the largest. Cost: O(different sizes).
        """
        names = {name for size in self.alike for name, _ in size.items()}
        return Resource({name: self._least_of(name) for name in names})

    def _least_of(self, name: str) -> int:
        left, total, amount = self.min_available, 0, 0
        for amount, count in sorted((size.get(name), count) for size, count in self.alike.items()):
            taken = min(left, count)
            total, left = total + amount * taken, left - taken
        return total + amount * left


def wait_of(members: int, *, deadline: float, own: float | None = None) -> float:
    """Seconds that members wait in bind for the others.

    ``deadline``: of a bind call; ``own``: what a PodGroup object says instead of the usual (COS-10).
    """
    wanted = WAIT_BASE + WAIT_PER_MEMBER * members if own is None else own
    return min(wanted, max(deadline - BEFORE_DEADLINE, deadline / 2))


def back_off_of(uid: PodUid, timeouts: int) -> float:
    """Seconds that a group rests after so many waits in vain in a row.

    Spread by a hash of its uid, so that two groups that starved each other do not come back together.
    """
    doubled = min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2.0 ** min(timeouts - 1, 10))
    return doubled * (0.5 + (crc32(uid.encode()) % 1001) / 1000)


def short_back_off_of(ignored: int) -> float:
    """Seconds that a group rests of which none has come, so many times in a row."""
    return min(LONGEST_SHORT_BACK_OFF, SHORT_BACK_OFF * 2.0 ** min(ignored - 1, 5))


STANDINGS = ("incomplete", "waiting", "coming", "open", "degraded")
"""Of a group: too few members exist; they wait for room or rest; they have their turns; enough are on
nodes; some are, and not enough."""


def standing_of_group(group: Group) -> str:
    """One of `STANDINGS`."""
    if group.open:
        return "open"
    if group.phase in DEGRADED:
        return "degraded"
    if not group.complete:
        return "incomplete"
    return "coming" if group.attempts else "waiting"


BUCKETS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Seconds, for the histogram of how long groups took."""


@dataclass(slots=True)
class GroupNumbers:
    """What became of groups since the start. ``seconds``: from when enough members existed until all of those
    were let go, summed up; ``within``: how many took at most so long, by `BUCKETS`."""

    completed: int = 0
    seconds: float = 0.0
    within: Counter[float] = field(default_factory=Counter)
    timeouts: int = 0
    losses: int = 0
    degraded: int = 0

    def note_completed(self, seconds: float) -> None:
        self.completed += 1
        self.seconds += seconds
        for bound in BUCKETS:
            self.within[bound] += seconds <= bound
