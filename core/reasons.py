"""Refusal codes, which are public, and the text of a refusal that kube-scheduler is given.

A text is written to the pod's status, and any change of it wakes the pod again. So it names the limit and
never a usage (CONTRACT-6.4), and it is *sticky*: see `next_sent`.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from core.instants import has_come

CODE_SETTLES = 30.0
"""Seconds that another code must hold without a break before its text replaces the text sent last."""


class Code(StrEnum):
    """Refusal codes, in the order in which the first that applies wins (FORMAT-10)."""

    NOT_READY = "NotReady"
    ACCESS_DENIED = "AccessDenied"
    PLACEMENT_FAILED = "PlacementFailed"
    QUEUE_NOT_LEAF = "QueueNotLeaf"
    QUEUE_DRAINING = "QueueDraining"
    GANG_TOO_LARGE = "GangTooLarge"
    GANG_NOT_FIFO = "GangNotFifo"
    RESERVATION_TIMEOUT = "ReservationTimeout"
    APPLICATION_ENDED = "ApplicationEnded"
    QUEUE_CLOSED = "QueueClosed"
    MAX_APPLICATIONS_REACHED = "MaxApplicationsReached"
    USER_MAX_APPLICATIONS_REACHED = "UserMaxApplicationsReached"
    GROUP_MAX_APPLICATIONS_REACHED = "GroupMaxApplicationsReached"
    STATE_AWARE_HOLD = "StateAwareHold"
    GANG_INCOMPLETE = "GangIncomplete"
    WAITING_FOR_PLACEHOLDER = "WaitingForPlaceholder"
    USER_QUOTA_EXCEEDED = "UserQuotaExceeded"
    GROUP_QUOTA_EXCEEDED = "GroupQuotaExceeded"
    QUOTA_EXCEEDED = "QuotaExceeded"
    WAITING_FOR_TURN = "WaitingForTurn"
    NODE_RESERVED = "NodeReserved"
    UNSCHEDULABLE = "Unschedulable"


WAITS = frozenset({Code.NOT_READY, Code.APPLICATION_ENDED})
"""Codes of an application that is not placed yet, and not rejected either."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal of a whole pod. ``subject``: what refused, usually a queue path. ``limit``: its bound."""

    code: Code
    subject: str
    limit: str = ""

    @property
    def text(self) -> str:
        """``Code: queue limit``, without usage, so that it stays the same from attempt to attempt."""
        return f"{self.code}: {self.subject} {self.limit}".rstrip()


@dataclass(frozen=True, slots=True)
class SentRefusal:
    """Refusal that an ask was sent last.

    ``code`` and ``generation``: the refusal that the text stands for, and the configuration in force then.
    ``rival`` and ``rival_since``: another reason that has held without a break since that time.
    """

    text: str
    code: Code
    generation: int
    rival: tuple[Code, int] | None = None
    rival_since: float = 0.0


_OURS = re.compile(rf"\b({'|'.join(Code)}): ")


def contains_refusal(text: str) -> bool:
    """True if a text of kube-scheduler, which counts the obstacles it met, contains a refusal of Paddock."""
    return _OURS.search(text) is not None


_JUDGED_HERE = re.compile(
    r"\d+ (Insufficient \S+|Too many pods|node\(s\) (were unschedulable|had untolerated taint.*"
    r"|didn't match Pod's node affinity/selector))"
)
"""Obstacles that kube-scheduler's Fit, NodeUnschedulable, TaintToleration and NodeAffinity plugins name."""


def contradicts_turn(text: str) -> bool:
    """True if a text of kube-scheduler names only obstacles that Paddock judges before it gives a turn.

    These are capacity, selectors, required node affinity, taints and cordons. A turn is given for a node that
    has none of them. So the text was written with another view of the cluster.
    """
    named = text.partition(" nodes are available: ")[2].partition(". ")[0].removesuffix(".")
    return bool(named) and all(_JUDGED_HERE.fullmatch(each) for each in named.split(", "))


def next_sent(last: SentRefusal | None, refusal: Refusal, *, generation: int, now: float) -> SentRefusal:
    """Refusal to send to an ask that is refused now (DESIGN-3, "sticky").

    The text sent last stays while its code holds under the same configuration. Another code replaces it after
    holding for `CODE_SETTLES` seconds. So does the same code under a newer configuration. A mere wait for a
    turn is replaced at once.
    """
    if last is None:
        return SentRefusal(refusal.text, refusal.code, generation)
    reason = (refusal.code, generation)
    if last.code is Code.WAITING_FOR_TURN and refusal.code is not Code.WAITING_FOR_TURN:
        # A wait for a turn is over within moments, and its text would hide the later obstacle.
        return SentRefusal(refusal.text, refusal.code, generation)
    if reason == (last.code, last.generation):
        return last if last.rival is None else replace(last, rival=None, rival_since=0.0)
    if last.rival != reason:
        return replace(last, rival=reason, rival_since=now)
    if not has_come(last.rival_since + CODE_SETTLES, now=now):
        return last
    return SentRefusal(refusal.text, refusal.code, generation)
