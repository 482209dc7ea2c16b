"""Pods that start together, by their labels or by a PodGroup object (COS): a group, and its times.

Values and counting only. `core.ledger.podgroups.attempt` acts on them.
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
"""Seconds that members wait for the others: a base, and an addition for each member (COS-5)."""

BEFORE_DEADLINE = 5.0
"""Seconds of a bind call's own time that must be left for the Binding when its group is given up."""

FIRST_BACK_OFF = 5.0
LONGEST_BACK_OFF = 300.0
"""Back-off of a group whose members waited in vain, in seconds: the first, and the longest."""

SHORT_BACK_OFF = 2.0
LONGEST_SHORT_BACK_OFF = 60.0
"""Back-off of a group none of whose members came to filter, in seconds."""


class GroupKey(NamedTuple):
    """Key of a pod group: its name in its namespace (COS-1)."""

    namespace: str
    name: str


class MemberPhase(Enum):
    """Role of a member in its group. Succeeded and Failed pods are no members any more (COS-14)."""

    AWAY = "away"
    """Terminating, held by a foreign gate, or without a queue: does not count."""
    STRAY = "stray"
    """In another queue than its group."""
    PENDING = "pending"
    RESERVED = "reserved"
    """Admitted by filter, and holds quota."""
    WAITING = "waiting"
    """Waiting in its bind call for the others."""
    POSTING = "posting"
    """Binding under way."""
    BOUND = "bound"


HOLDING = (MemberPhase.RESERVED, MemberPhase.WAITING)
PLACED = (MemberPhase.POSTING, MemberPhase.BOUND)
HELD = (*HOLDING, *PLACED)
THERE = (MemberPhase.PENDING, *HOLDING, *PLACED)


class Seniority(NamedTuple):
    """Order of members: older, then seen earlier. The uid makes it unique."""

    created: float
    seq: int
    uid: PodUid


class Terms(NamedTuple):
    """Terms of a PodGroup object (COS-10, COS-22).

    ``min_available``: 0 under the basic policy. ``least``: amounts that the group needs, by Paddock's names.
    ``timeout``: seconds that members wait; None for the default.
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
    """Pod group, from its first member to its last."""

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
    #: Oldest member, whose labels count (COS-2). Its uid identifies the group. None without any member.
    #: Derived.
    first: Seniority | None = None
    #: Members that must start together. Derived.
    min_available: int = 1
    #: Queue of the member that was placed first; None before that.
    queue: QueuePath | None = None
    #: Phase of its members on nodes; `move` alone writes it.
    phase: GroupPhase = FIRST_PHASE
    #: Progress of its attempt to start; `move_attempt` alone writes it.
    attempt_phase: AttemptPhase = FIRST_ATTEMPT
    #: Time at which the attempt began, in seconds; None while there is none.
    attempt_since: float | None = None
    #: Time since which all members with turns could know of them, in seconds.
    leased: float = 0.0
    #: Time at which members that wait in bind give up, in seconds; None while none waits.
    wait_until: float | None = None
    #: Attempts in a row that failed because not all members came.
    timeouts: int = 0
    #: Attempts in a row that failed because no member came.
    ignored: int = 0
    #: End of the back-off, in seconds, before which there is no other attempt; None for no back-off.
    backs_off_until: float | None = None
    #: Time since which some members are on nodes but not enough, in seconds; None while it is not degraded.
    degraded_since: float | None = None
    #: True if it was open when the turns of its members were last given timers. Derived.
    timed_open: bool = False
    #: True while enough members exist. Derived.
    complete: bool = False
    #: Time at which enough members existed, in seconds; None if they never did.
    complete_since: float | None = None
    #: Warnings that were reported.
    warned: set[str] = field(default_factory=set)

    def move(self, event: GroupEvent) -> None:
        """Go to the phase to which an event leads. Raises `IllegalTransition` if there is none."""
        self.phase = advance(self.phase, event)

    def move_attempt(self, event: AttemptEvent) -> None:
        """Go to the phase of the attempt to which an event leads. Raises `IllegalTransition` like `move`."""
        self.attempt_phase = advance_attempt(self.attempt_phase, event)

    @property
    def attempts(self) -> bool:
        """True while an attempt runs."""
        return self.attempt_phase is not AttemptPhase.NONE

    @property
    def title(self) -> str:
        """Name of the group in messages."""
        return f"pod group {self.key.namespace}/{self.key.name}"

    def count(self, *phases: MemberPhase) -> int:
        """Number of members in any of these phases."""
        return sum(self.counts[each] for each in phases)

    @property
    def there(self) -> int:
        """Number of members that count (COS-4)."""
        return self.count(*THERE)

    @property
    def is_gang(self) -> bool:
        """True if some members must start together, which the policy ``basic`` does not ask (COS-24)."""
        return self.min_available > 0

    @property
    def open(self) -> bool:
        """True if enough members are on nodes or on their way.

        A further member is then a pod like any other.
        """
        return self.count(*PLACED) >= self.min_available

    @property
    def held(self) -> int:
        """Number of members on nodes, and of members that hold quota for one."""
        return self.count(*PLACED, *HOLDING)

    @property
    def urgent(self) -> bool:
        """True if some members are on nodes but not enough, and no Event has reported it.

        Their siblings go first.
        """
        return self.phase is GroupPhase.DEGRADED

    def file(self, uid: PodUid, phase: MemberPhase) -> None:
        """Note the phase of a member."""
        old = self.phases.pop(uid, None)
        if old is not None:
            self.counts[old] -= 1
        self.phases[uid] = phase
        self.counts[phase] += 1

    def measure(self, uid: PodUid, size: Resource | None) -> None:
        """Note the size of a member; None if it leaves."""
        old = self.sizes.pop(uid, None)
        if old is not None:
            self.alike[old] -= 1
            if not self.alike[old]:
                del self.alike[old]
        if size is not None:
            self.sizes[uid] = size
            self.alike[size] += 1

    def drop(self, uid: PodUid) -> None:
        """Forget a member."""
        self.counts[self.phases.pop(uid)] -= 1
        self.measure(uid, None)
        del self.ages[uid]
        self.warned.discard(uid)

    @property
    def least(self) -> Resource:
        """Amounts that must fit for the group to start (COS-24, GANG-6).

        The sum of its smallest members, as many as must start. A member that does not exist yet counts as
        large as the largest. Cost: O(different sizes).
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

    ``deadline``: time limit of a bind call. ``own``: seconds that a PodGroup object asks for (COS-10).
    """
    wanted = WAIT_BASE + WAIT_PER_MEMBER * members if own is None else own
    return min(wanted, max(deadline - BEFORE_DEADLINE, deadline / 2))


def back_off_of(uid: PodUid, timeouts: int) -> float:
    """Seconds of back-off after so many waits in vain in a row.

    Spread by a hash of the uid, so that two groups that blocked each other do not return together.
    """
    doubled = min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2.0 ** min(timeouts - 1, 10))
    return doubled * (0.5 + (crc32(uid.encode()) % 1001) / 1000)


def short_back_off_of(ignored: int) -> float:
    """Seconds of back-off after so many attempts in a row to which no member came."""
    return min(LONGEST_SHORT_BACK_OFF, SHORT_BACK_OFF * 2.0 ** min(ignored - 1, 5))


STANDINGS = ("incomplete", "waiting", "coming", "open", "degraded")
"""Standings of a group.

``incomplete``: too few members exist. ``waiting``: for capacity, or in back-off. ``coming``: members have
turns. ``open``: enough are on nodes. ``degraded``: some are, but not enough.
"""


def standing_of_group(group: Group) -> str:
    """Standing of a group, one of `STANDINGS`."""
    if group.open:
        return "open"
    if group.phase in DEGRADED:
        return "degraded"
    if not group.complete:
        return "incomplete"
    return "coming" if group.attempts else "waiting"


BUCKETS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Bounds of the histogram of the time that groups took, in seconds."""


@dataclass(slots=True)
class GroupNumbers:
    """Numbers of pod groups since the start.

    ``seconds``: total time from the existence of enough members to their release. ``within``: number of
    groups that took at most so long, by `BUCKETS`.
    """

    completed: int = 0
    seconds: float = 0.0
    within: Counter[float] = field(default_factory=Counter)
    timeouts: int = 0
    losses: int = 0
    degraded: int = 0

    def note_completed(self, seconds: float) -> None:
        """Count a group that was released after ``seconds``."""
        self.completed += 1
        self.seconds += seconds
        for bound in BUCKETS:
            self.within[bound] += seconds <= bound
