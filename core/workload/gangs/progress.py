"""How far the gang of an application has come: its phase, its placeholders, and its members that wait.

Values and counters only; what moves them is the matter of `core.ledger.gangs.lifecycle` and
`core.ledger.gangs.replacement`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from core.ids import NO_POD, AppId, PodUid
from core.workload.ask import Waiting
from core.workload.gangs.gang import Gang, TaskGroup

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_SUFFIX = 10
_APP_LENGTH, _GROUP_LENGTH = 28, 20


class Phase(StrEnum):
    """Where a gang stands (APP-10)."""

    RESERVING = "Reserving"
    """Its placeholders are made and get their nodes; nobody else of the application is placed."""
    STARTED = "Started"
    """All had one; members take their room over (GANG-9)."""
    RESUMING = "Resuming"
    """They did not come in time and are taken back; then it is like any other application (GANG-16, Soft)."""
    FAILING = "Failing"
    """They did not come in time and are taken back; then its members fail (GANG-16, Hard)."""
    ORDINARY = "Ordinary"
    """No gang any more."""


@dataclass(slots=True)
class Progress:
    """One task group.

    ``needed``: placeholders that must be on nodes; ``count``, ``replaced``, ``timed_out``: as REST counts
    them (GANG-16); ``pending``: placeholders without a node; ``held``: those on one whose room nobody takes
    over yet; ``wanting``: members that wait for one, while the gang is started; ``closed``: none will come
    for them any more (GANG-13).
    """

    group: TaskGroup
    needed: int
    count: int = 0
    replaced: int = 0
    timed_out: int = 0
    pending: set[PodUid] = field(default_factory=set)
    held: Waiting = field(default_factory=Waiting)
    wanting: Waiting = field(default_factory=Waiting)
    closed: bool = False


@dataclass(slots=True)
class Formation:
    """The gang of one application on its way.

    ``groups``: by name, in the order of definition; of several with one name the largest counts;
    ``originator``: whom its placeholders belong to (GANG-2); ``lifetime``: seconds that they have from the
    first that is given room (GANG-15), and ``due`` when that is over; ``missing``: placeholders still to be
    asked for, by name, ``asked``: those asked for, ``made``: those that no watch has shown yet, and when they
    were made; ``retry_at``: when what was not answered well is asked for again; ``rests_until``: nothing new
    is begun before; ``noted``: what has become of it is on the originator, ``note_at``: when that is written
    once more; ``waiting``: pods that wait for the gang; ``failure``: why it is no gang any more; ``left``:
    the application completes, and what was left of the placeholders is taken back (APP-6), as all were once
    ``swept``; ``begun_at`` and ``started_at``: when it began, and when all placeholders had their nodes.
    """

    groups: dict[str, Progress]
    lifetime: float
    originator: PodUid = NO_POD
    phase: Phase = Phase.RESERVING
    due: float | None = None
    missing: dict[str, TaskGroup] = field(default_factory=dict)
    asked: dict[str, TaskGroup] = field(default_factory=dict)
    made: dict[str, float] = field(default_factory=dict)
    retry_at: float | None = None
    rests_until: float | None = None
    noted: bool = False
    note_at: float | None = None
    waiting: set[PodUid] = field(default_factory=set)
    failure: str = ""
    left: bool = False
    swept: bool = False
    begun_at: float = 0.0
    started_at: float | None = None

    @property
    def due_next(self) -> float | None:
        """When it is to be looked at again."""
        moments = (self.due, self.retry_at, self.rests_until, self.note_at)
        return min((each for each in moments if each is not None), default=None)

    @property
    def complete(self) -> bool:
        """Whether every group has as many placeholders on nodes as it needs (GANG-9)."""
        return all(len(each.held) >= each.needed for each in self.groups.values())


@dataclass(slots=True)
class GangTally:
    """What has become of gangs since the process began.

    ``started`` and ``seconds``: how many came together, and how long that took them in all; ``timed_out``: by
    style; ``refused``: whose placeholders the API server did not take; ``taken_over`` and ``cancelled``:
    take-overs that were completed, and that came to nothing.
    """

    started: int = 0
    seconds: float = 0.0
    timed_out: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    taken_over: int = 0
    cancelled: int = 0


def formation_of(gang: Gang, *, lifetime: float, now: float) -> Formation:
    """A gang that begins."""
    groups: dict[str, Progress] = {}
    for group in gang.groups:
        known = groups.get(group.name)
        if known is None or known.needed < group.members:
            groups[group.name] = Progress(group, group.members)
    return Formation(groups, lifetime, begun_at=now)


def numbers_of(formation: Formation) -> Formation:
    """What is shown of a gang that is over: how many, of which size. What people wrote of it may be long."""
    return Formation(
        {
            name: Progress(
                TaskGroup(name, each.group.members, each.group.size),
                each.needed,
                each.count,
                each.replaced,
                each.timed_out,
            )
            for name, each in formation.groups.items()
        },
        formation.lifetime,
        phase=formation.phase,
    )


def names_of(app: AppId, originator: PodUid, group: TaskGroup) -> Iterable[str]:
    """The names of a group's placeholders (GANG-3).

    The last part follows from the gang and the place in it, so that no restart makes a pod a second time.
    """
    stem = f"tg-{_plain(app.name)[:_APP_LENGTH]}-{_plain(group.name)[:_GROUP_LENGTH]}"
    for place in range(group.members):
        yield f"{stem}-{_suffix(f'{originator}/{app.name}/{group.name}/{place}')}"


def _suffix(text: str) -> str:
    number = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    letters = ""
    for _ in range(_SUFFIX):
        number, at = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[at]
    return letters


def _plain(text: str) -> str:
    """What a pod may be called: lower case, and nothing but letters, digits and dashes."""
    return "".join(each if each.isascii() and each.isalnum() else "-" for each in text.lower())
