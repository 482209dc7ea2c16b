"""Phases of a pod group and of its attempts to start, and the events that lead from one to the next (COS).

Tables without any state. `Group.move` and `Group.move_attempt` are the only writers of these phases.
"""

from collections.abc import Mapping
from enum import Enum

from core.errors import IllegalTransition


class GroupPhase(Enum):
    """Phase of a pod group by its members on nodes. A member whose Binding is under way counts."""

    UNSTARTED = "unstarted"
    """No member is on a node, or nothing tells whether those on nodes were once enough."""
    STARTED = "started"
    """Enough members are on nodes, or were and the group runs down."""
    BROKEN = "broken"
    """A Binding failed after the members were released."""
    DEGRADED = "degraded"
    """Some members are on nodes but not enough: the others go first."""
    REPORTED = "reported"
    """Degraded, and reported by an Event: the others do not go first any more."""


DEGRADED = (GroupPhase.DEGRADED, GroupPhase.REPORTED)


class GroupEvent(Enum):
    """Event in the life of a pod group."""

    OPENED = "enough members are on nodes"
    EMPTIED = "no member is on a node"
    BINDING_FAILED = "a Binding failed"
    FOUND_SHORT = "some members are on nodes, not enough"
    REPORTED = "an Event reports it"


class AttemptPhase(Enum):
    """Progress of an attempt to start the members of a pod group together (COS-4 to COS-6)."""

    NONE = "no attempt"
    """Members wait for others to exist, for capacity, or for the end of a back-off."""
    CALLED = "called"
    """Members have their turns, and none has come to filter."""
    COMING = "coming"
    """A member has come to filter and holds quota."""
    WAITING = "waiting"
    """Some member waits in its bind call for the others, until a deadline."""
    LOST = "lost"
    """A member that had its turn is gone, so the attempt fails."""
    RESTARTED = "restarted"
    """kube-scheduler was restarted and forgot the bind calls, so the attempt fails."""


class AttemptEvent(Enum):
    """Event in an attempt."""

    BEGUN = "turns are given"
    CAME = "a member holds quota"
    ARRIVED = "a member waits in bind"
    MEMBER_LEFT = "a member with a turn is gone"
    SCHEDULER_RESTARTED = "kube-scheduler tries a waiting member anew"
    OPENED = "enough members are on nodes"
    FAILED = "the attempt fails"


_UNDER_WAY = (AttemptPhase.CALLED, AttemptPhase.COMING, AttemptPhase.WAITING)

FIRST_PHASE, FIRST_ATTEMPT = GroupPhase.UNSTARTED, AttemptPhase.NONE

NEXT: Mapping[tuple[GroupPhase, GroupEvent], GroupPhase] = {
    (GroupPhase.UNSTARTED, GroupEvent.OPENED): GroupPhase.STARTED,
    (GroupPhase.UNSTARTED, GroupEvent.BINDING_FAILED): GroupPhase.BROKEN,
    (GroupPhase.UNSTARTED, GroupEvent.FOUND_SHORT): GroupPhase.DEGRADED,
    (GroupPhase.STARTED, GroupEvent.BINDING_FAILED): GroupPhase.BROKEN,
    (GroupPhase.STARTED, GroupEvent.EMPTIED): GroupPhase.UNSTARTED,
    (GroupPhase.BROKEN, GroupEvent.OPENED): GroupPhase.STARTED,
    (GroupPhase.BROKEN, GroupEvent.FOUND_SHORT): GroupPhase.DEGRADED,
    (GroupPhase.BROKEN, GroupEvent.EMPTIED): GroupPhase.UNSTARTED,
    (GroupPhase.DEGRADED, GroupEvent.OPENED): GroupPhase.STARTED,
    (GroupPhase.DEGRADED, GroupEvent.REPORTED): GroupPhase.REPORTED,
    (GroupPhase.DEGRADED, GroupEvent.EMPTIED): GroupPhase.UNSTARTED,
    (GroupPhase.REPORTED, GroupEvent.OPENED): GroupPhase.STARTED,
    (GroupPhase.REPORTED, GroupEvent.EMPTIED): GroupPhase.UNSTARTED,
}

NEXT_OF_ATTEMPT: Mapping[tuple[AttemptPhase, AttemptEvent], AttemptPhase] = {
    (AttemptPhase.NONE, AttemptEvent.BEGUN): AttemptPhase.CALLED,
    (AttemptPhase.CALLED, AttemptEvent.CAME): AttemptPhase.COMING,
    (AttemptPhase.CALLED, AttemptEvent.ARRIVED): AttemptPhase.WAITING,
    (AttemptPhase.COMING, AttemptEvent.ARRIVED): AttemptPhase.WAITING,
    (AttemptPhase.WAITING, AttemptEvent.SCHEDULER_RESTARTED): AttemptPhase.RESTARTED,
    **{
        (phase, AttemptEvent.MEMBER_LEFT): AttemptPhase.LOST
        for phase in (*_UNDER_WAY, AttemptPhase.RESTARTED)
    },
    **{
        (phase, event): AttemptPhase.NONE
        for event in (AttemptEvent.OPENED, AttemptEvent.FAILED)
        for phase in (*_UNDER_WAY, AttemptPhase.LOST, AttemptPhase.RESTARTED)
    },
}


def advance(phase: GroupPhase, event: GroupEvent) -> GroupPhase:
    """Phase to which an event leads. Raises `IllegalTransition` if the table does not list it."""
    following = NEXT.get((phase, event))
    if following is None:
        raise IllegalTransition("pod group", phase.value, event.value)
    return following


def advance_attempt(phase: AttemptPhase, event: AttemptEvent) -> AttemptPhase:
    """Phase of an attempt to which an event leads. Raises `IllegalTransition` like `advance`."""
    following = NEXT_OF_ATTEMPT.get((phase, event))
    if following is None:
        raise IllegalTransition("attempt of a pod group", phase.value, event.value)
    return following
