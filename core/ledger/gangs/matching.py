"""Which member of a gang takes over which placeholder, and when (GANG-11, GANG-13).

Every take-over is several calls of the API, one after the other. So only some are begun at a time, and the
next one when one of them has its room: else thousands of links would be written before the first placeholder
goes. Gangs stand in line as kube-scheduler comes to their members, and one that has begun goes on first.
"""

from heapq import heappop, heappush, heapreplace
from itertools import islice

from core.ids import AppId, NodeName
from core.instants import has_come
from core.ledger.admission.requests import request_cycle
from core.ledger.gangs.due import arm, touch_gang
from core.ledger.gangs.release import release, say, try_again
from core.ledger.gangs.slots import link
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
from core.ledger.state.admission import CycleReason
from core.ledger.state.gangs import InLine
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer
from core.ledger.state.timers import ONLY_ONE, TimerKind
from core.ledger.touched import Rounds, touch
from core.resource import Resource
from core.workload.application import Application
from core.workload.gangs.phase import GangPhase
from core.workload.gangs.progress import GangProgress, TaskGroupProgress
from core.workload.nodes.affinity import Constraints
from core.workload.nodes.free_capacity import Undecided
from core.workload.pod import REPLACES, RESERVED_NODE

MATCHED = "TaskGroupMatch"
"""What is done to a member, as Events name it (REST-17)."""

AT_ONCE = 64
"""Take-overs that are being begun at the same time: members that are linked and whose placeholder is still
there. Fewer would not use all the calls that can be made at once; with more each waits for the others."""

COUNTED_FOR = 5.0
"""Seconds after which one counts no more: a placeholder that does not go, since a finalizer holds it or the
API server refuses, holds no other gang up for longer. Then the others go before its gang."""


def close(state: State, gang_progress: GangProgress) -> None:
    """Groups that no placeholder will come for any more: their members are asks like others (GANG-13)."""
    for progress in gang_progress.groups.values():
        if not (progress.pending or progress.held or progress.closed):
            progress.closed = True
            for rank in list(progress.wanting):
                touch(state, state.pods.records[rank[-1]])
            request_cycle(state, CycleReason.GROUP_CHANGED)


# -- who is next -----------------------------------------------------------------------------------------


def line_up(state: State, application: Application, gang_progress: GangProgress) -> None:
    """A gang whose members may find placeholders takes its place in line."""
    if gang_progress.backs_off_until is not None and has_come(gang_progress.backs_off_until, now=state.now):
        gang_progress.backs_off_until = None
    ranks = [each.wanting.first() for each in gang_progress.groups.values() if each.wanting and each.held]
    if not ranks or application.id in state.gangs.in_line or not _may_take_over(state, gang_progress):
        return
    place = InLine(False, min(ranks)[0], application.submitted, application.id)
    state.gangs.in_line[application.id] = place
    heappush(state.gangs.line, place)


def _may_take_over(state: State, gang_progress: GangProgress) -> bool:
    return state.acts and gang_progress.phase is GangPhase.STARTED and gang_progress.backs_off_until is None


def link_next(state: State) -> bool:
    """Bring the gang that goes next to the head of the line; False for none, or with too many under way."""
    if not state.gangs.line or is_full(state):
        return False
    while not (place := state.gangs.line[0]).stalled and _is_stalled(state, place.app):
        place = state.gangs.in_line[place.app] = place._replace(stalled=True)
        heapreplace(state.gangs.line, place)
    return True


def link_members(state: State) -> Rounds:
    """Link members of the gang at the head of the line, as many as may be under way."""
    place = state.gangs.line[0]
    application = state.applications.known.get(place.app)
    gang_progress = application.gang_progress if application is not None else None
    if application is not None and gang_progress is not None and _may_take_over(state, gang_progress):
        for progress in gang_progress.groups.values():
            yield from _match_group(state, gang_progress, progress)
        arm(state, application, gang_progress)
    if not is_full(state):
        heappop(state.gangs.line)
        del state.gangs.in_line[place.app]
        time_line(state)


def clear_line(state: State) -> None:
    """Forget which gangs are in line."""
    state.gangs.line.clear()
    state.gangs.in_line.clear()
    time_line(state)


def touch_elsewhere(state: State) -> None:
    """Touch the gangs with a member that fitted on no node when they were looked at last."""
    for app_id in state.gangs.elsewhere:
        touch_gang(state, app_id)
    state.gangs.elsewhere.clear()


def is_full(state: State) -> bool:
    """Whether as many take-overs as may be are being begun."""
    since = _full_since(state)
    return since is not None and not has_come(since + COUNTED_FOR, now=state.now)


def time_line(state: State) -> None:
    """Set the timer of the line: a gang goes on then, even if no slot was opened meanwhile.

    No handler takes it. Every event goes on with the line, if there is one, and sets it anew.
    """
    moment = line_due(state)
    if moment is None:
        cancel_timer(state, TimerKind.GANG_LINE, ONLY_ONE)
    else:
        set_timer(state, TimerKind.GANG_LINE, ONLY_ONE, moment)


def line_due(state: State) -> float | None:
    """Time at which the first replacements under way count no more; None if no gang waits for it."""
    since = _full_since(state) if state.gangs.line and state.acts else None
    return since + COUNTED_FOR if since is not None else None


def _full_since(state: State) -> float | None:
    """When the first was linked of the latest that are as many as may be, if there are so many."""
    return next(islice(reversed(state.gangs.opening.values()), AT_ONCE - 1, None), None)


def _is_stalled(state: State, app: AppId) -> bool:
    """Whether those that count no more, and would fill the row, are of this gang too; cost O(`AT_ONCE`)."""
    if _full_since(state) is None:
        return False
    latest = islice(reversed(state.gangs.opening.items()), AT_ONCE)
    return any(
        state.pods.records[uid].membership.application == app
        and has_come(linked + COUNTED_FOR, now=state.now)
        for uid, linked in latest
    )


# -- who with whom ---------------------------------------------------------------------------------------


def _match_group(state: State, gang_progress: GangProgress, progress: TaskGroupProgress) -> Rounds:
    """Members by rank, each with the first placeholder that it fits; on another node where it must."""
    unmatched: set[tuple[Resource, Constraints]] = set()
    rank = progress.wanting.first() if progress.wanting else None
    while rank is not None and progress.held and not is_full(state):
        member, rank = state.pods.records[rank[-1]], progress.wanting.after(rank)
        facts = member.facts
        if (facts.size, facts.constraints) in unmatched:
            continue
        chosen = _choose(state, member, progress)
        if chosen is None:
            yield
            unmatched.add((facts.size, facts.constraints))
            if progress.held and member.membership.application is not None:
                state.gangs.elsewhere[member.membership.application] = None
                try_again(state, gang_progress)
        else:
            _link(state, member, *chosen)
            yield


def _choose(
    state: State, member: PodRecord, progress: TaskGroupProgress
) -> tuple[PodRecord, NodeName] | None:
    """A placeholder and where the member runs in its stead: there, or on another node when it fits none.

    Those that are smaller than the member in anything go on the way (GANG-11).
    """
    constraints, first = member.facts.constraints, None
    rank = progress.held.first() if progress.held else None
    while rank is not None:
        holder, after = state.pods.records[rank[-1]], progress.held.after(rank)
        node = state.cluster.nodes.get(holder.node)
        if not holder.facts.size.covers(member.facts.size):
            release(state, holder)
        elif node is not None and state.usage.free_capacity.admits(node, constraints):
            return holder, holder.node
        else:
            first = first or holder
        rank = after
    if first is None:
        return None
    try:
        elsewhere = state.usage.free_capacity.tightest(
            member.facts.size, constraints, state.cluster.nodes, besides=state.reservations.of
        )
    except Undecided:
        # It is sought again with the other members that fit nowhere, and goes on then.
        return None
    return (first, elsewhere) if elsewhere is not None else None


def _link(state: State, member: PodRecord, holder: PodRecord, node: NodeName) -> None:
    link(member, holder, node, now=state.now)
    touch(state, holder)
    touch(state, member)
    entries = (RESERVED_NODE, str(node)), (REPLACES, str(holder.uid))
    write(state, member, Purpose.REPLACEMENT, *entries)
    say(state, member, MATCHED, f"takes over the room of {holder.facts.name} on {node}", warning=False)
