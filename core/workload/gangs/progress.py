"""Progress of an application's gang: its phase, its placeholders, and its members that wait.

Values and counters only. `core.ledger.gangs.lifecycle` and `core.ledger.gangs.replacement` change them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from core.ids import NO_POD, AppId, PodUid
from core.workload.ask import Waiting
from core.workload.gangs.gang import Gang, TaskGroup
from core.workload.gangs.phase import INITIAL, GangEvent, GangPhase, advance

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_SUFFIX = 10
_APP_LENGTH, _GROUP_LENGTH = 28, 20


@dataclass(slots=True)
class TaskGroupProgress:
    """Progress of one task group."""

    #: Definition of the group.
    group: TaskGroup
    #: Placeholders that must be on nodes.
    needed: int
    #: Placeholders that were created, as REST counts them (GANG-16).
    count: int = 0
    #: Placeholders that members replaced, as REST counts them (GANG-16).
    replaced: int = 0
    #: Placeholders that no member replaced in time, as REST counts them (GANG-16).
    timed_out: int = 0
    #: Placeholders without a node.
    pending: set[PodUid] = field(default_factory=set)
    #: Placeholders on nodes that no member is replacing yet.
    held: Waiting = field(default_factory=Waiting)
    #: Members that wait for a placeholder, while the gang is started.
    wanting: Waiting = field(default_factory=Waiting)
    #: True once no placeholder will come for its members any more (GANG-13).
    closed: bool = False


@dataclass(slots=True)
class GangProgress:
    """Gang of one application, from its first placeholder on."""

    #: Task groups by name, in the order of definition; of several with one name the largest counts.
    groups: dict[str, TaskGroupProgress]
    #: Seconds that the placeholders have from the first that is given capacity (GANG-15).
    lifetime: float
    #: Pod that owns the placeholders (GANG-2).
    originator: PodUid = NO_POD
    #: Phase; `move` alone writes it.
    phase: GangPhase = INITIAL
    #: Time at which the lifetime of the placeholders is over, in seconds; None while it does not run.
    due: float | None = None
    #: Placeholders still to be requested, by name.
    missing: dict[str, TaskGroup] = field(default_factory=dict)
    #: Placeholders requested and not answered yet, by name.
    asked: dict[str, TaskGroup] = field(default_factory=dict)
    #: Time of creation of the placeholders that no watch has shown yet, by name, in seconds.
    made: dict[str, float] = field(default_factory=dict)
    #: Time at which failed calls are repeated, in seconds; None if no call failed.
    retry_at: float | None = None
    #: End of the back-off, in seconds, before which nothing new is begun; None for no back-off.
    backs_off_until: float | None = None
    #: Time at which the outcome is written on the originator once more, in seconds; None for never.
    note_at: float | None = None
    #: Pods that wait for the gang.
    waiting: set[PodUid] = field(default_factory=set)
    #: Reason why the gang was disbanded; empty for none.
    failure: str = ""
    #: True once the application has completed except for its placeholders, which are deleted (APP-6).
    left: bool = False
    #: True while the deletion of all its placeholders has been requested.
    swept: bool = False
    #: Time at which the gang began, in seconds.
    begun_at: float = 0.0
    #: Time at which all placeholders had their nodes, in seconds; None before that.
    started_at: float | None = None

    def move(self, event: GangEvent) -> None:
        """Go to the phase to which an event leads. Raises `IllegalTransition` if there is none."""
        self.phase = advance(self.phase, event)

    @property
    def due_next(self) -> float | None:
        """Time of the next check, in seconds, or None for none."""
        moments = (self.due, self.retry_at, self.backs_off_until, self.note_at)
        return min((each for each in moments if each is not None), default=None)

    @property
    def complete(self) -> bool:
        """True if every group has as many placeholders on nodes as it needs (GANG-9)."""
        return all(len(each.held) >= each.needed for each in self.groups.values())


@dataclass(slots=True)
class GangTally:
    """Numbers of gangs since the process began.

    ``started`` and ``seconds``: number of gangs that came together, and the time that took in all.
    ``timed_out``: by style. ``refused``: gangs whose placeholders the API server rejected. ``replaced`` and
    ``cancelled``: replacements that were completed, and that came to nothing.
    """

    started: int = 0
    seconds: float = 0.0
    timed_out: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    replaced: int = 0
    cancelled: int = 0


def gang_progress_of(gang: Gang, *, lifetime: float, now: float) -> GangProgress:
    """Progress of a gang that begins."""
    groups: dict[str, TaskGroupProgress] = {}
    for group in gang.groups:
        known = groups.get(group.name)
        if known is None or known.needed < group.members:
            groups[group.name] = TaskGroupProgress(group, group.members)
    return GangProgress(groups, lifetime, begun_at=now)


def numbers_of(gang_progress: GangProgress) -> GangProgress:
    """Counters of a gang that has ended, to be shown. The user's texts are dropped, as they may be long."""
    return GangProgress(
        {
            name: TaskGroupProgress(
                TaskGroup(name, each.group.members, each.group.size),
                each.needed,
                each.count,
                each.replaced,
                each.timed_out,
            )
            for name, each in gang_progress.groups.items()
        },
        gang_progress.lifetime,
        phase=gang_progress.phase,
    )


def names_of(app: AppId, originator: PodUid, group: TaskGroup) -> Iterable[str]:
    """Names of a group's placeholders (GANG-3).

    The last part follows from the gang and the place in it, so a restart makes no pod a second time.
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
    """Characters that a pod's name may have: lower case letters, digits and dashes."""
    return "".join(each if each.isascii() and each.isalnum() else "-" for each in text.lower())
