"""State of applications and of the users behind them."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ids import AppId
from core.workload.application import Application

TERMINATED_KEPT = 10_000
"""Applications that have ended and are still shown; more of them are forgotten, the oldest first."""

TERMINATED_TEXT = 16 * 2**20
"""Characters of ids, queues, users and groups that these hold together. A pod may write 256 KB of them."""

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


@dataclass(slots=True)
class IdentityTally:
    """Numbers of reports about the identity of pods, since the start."""

    #: Applications whose id another namespace has.
    of_another: int = 0
    #: Pods that got a node without having been let in.
    forced: int = 0
    #: Of those, pods that no queue takes (F-1).
    recovered: int = 0
    #: Changes of labels that would lead a pod elsewhere (F-23).
    relabelled: int = 0


@dataclass(slots=True)
class Applications:
    """Applications by namespace and id, with what is known of users' groups."""

    #: Applications that have pods or have not ended yet.
    known: dict[AppId, Application] = field(default_factory=dict)
    #: Applications with the same id, whatever their namespace. Derived.
    namesakes: dict[str, set[AppId]] = field(default_factory=dict)
    #: Application that takes the pods of an id in another namespace. Derived.
    guests: dict[AppId, AppId] = field(default_factory=dict)
    #: Applications without a queue, and those whose queue does not let in what waits of them. Derived.
    unplaced: set[AppId] = field(default_factory=set)
    #: Applications that have ended, the latest last.
    terminated: deque[Application] = field(default_factory=deque)
    #: Characters that users wrote in the applications that have ended.
    terminated_text: int = 0
    #: Answers of the resolver that are still used, by user.
    resolved: dict[str, Resolved] = field(default_factory=dict)
    #: Users that the resolver was asked about and has not answered.
    resolving: set[str] = field(default_factory=set)
    #: Numbers of reports.
    tally: IdentityTally = field(default_factory=IdentityTally)
