"""State of applications and of the users behind them."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ids import AppId
from core.workload.application import Application
from core.workload.ending import Endings
from core.workload.moving import Moves

TERMINATED_AT_MOST = 10_000
"""Ended applications that are still shown. Beyond that, the oldest are forgotten."""

TERMINATED_TEXT = 16 * 2**20
"""Characters of ids, queues, users and groups that these hold together. A pod may write 256 KB of them."""

ANSWER_TTL = 300.0
"""Seconds for which a resolver's answer is used again (ID-5)."""

FAILURE_TTL = 30.0


class Resolved(NamedTuple):
    """Answer of a resolver about a user's groups, with its time. None if it does not know the user."""

    groups: tuple[str, ...] | None
    at: float

    @property
    def until(self) -> float:
        """Time at which the answer expires, in seconds."""
        return self.at + (FAILURE_TTL if self.groups is None else ANSWER_TTL)


@dataclass(slots=True)
class IdentityTally:
    """Numbers of reports about the identity of pods, since the start."""

    #: Applications whose id another namespace has.
    of_another: int = 0
    #: Pods that got a node without admission.
    forced: int = 0
    #: Forced pods that no queue takes (F-1).
    recovered: int = 0
    #: Changes of labels that would lead a pod to another application or queue (F-23).
    relabelled: int = 0


@dataclass(slots=True)
class Applications:
    """Applications by namespace and id, with what is known of users' groups."""

    #: Applications that have pods or have not ended yet.
    known: dict[AppId, Application] = field(default_factory=dict)
    #: Applications with the same id, whatever their namespace. Derived.
    namesakes: dict[str, set[AppId]] = field(default_factory=dict)
    #: Application that takes the pods of an id in another namespace. Derived.
    hosts: dict[AppId, AppId] = field(default_factory=dict)
    #: Applications without a queue, and those whose pending pods the queue does not take. Derived.
    unplaced: set[AppId] = field(default_factory=set)
    #: Ended applications, the latest last.
    terminated: deque[Application] = field(default_factory=deque)
    #: Characters that users wrote in the applications that have ended.
    terminated_text: int = 0
    #: Orders of administrators to end applications (ACT-20).
    endings: Endings = field(default_factory=dict)
    #: Orders of administrators to move applications (ACT-30).
    moves: Moves = field(default_factory=dict)
    #: Times of the orders whose application has ended, by id. Such an order counts for no other application.
    moves_over: dict[AppId, float] = field(default_factory=dict)
    #: Applications that could not be moved yet, with the time of the next attempt.
    moves_due: dict[AppId, float] = field(default_factory=dict)
    #: Ends by execution time-outs that pods follow, or whose bar is not over (ACT-42).
    timeouts: Endings = field(default_factory=dict)
    #: Applications whose time-out is judged at the end of the event.
    untimed: set[AppId] = field(default_factory=set)
    #: Answers of the resolver that are still used, by user.
    resolved: dict[str, Resolved] = field(default_factory=dict)
    #: Users whose groups the resolver was asked for and has not answered.
    resolving: set[str] = field(default_factory=set)
    #: Numbers of reports.
    tally: IdentityTally = field(default_factory=IdentityTally)
