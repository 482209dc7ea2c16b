"""Matching of members with placeholders to replace, and the order of replacements (GANG-11, GANG-13).

Each replacement takes several API calls, one after the other. So only some are begun at a time, and the next
one when one of them has its slot. Otherwise thousands of links would be written before the first placeholder
is deleted. Gangs stand in line in the order in which kube-scheduler reaches their members. A gang that has
begun goes on first.
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
"""Action of an Event on a member (REST-17)."""

AT_ONCE = 64
"""Replacements that are begun at the same time: members that are linked and whose placeholder still exists.

Fewer would not use all possible concurrent calls. With more, each waits for the others.
"""

COUNTED_FOR = 5.0
"""Seconds after which a replacement under way stops counting.

A placeholder that is not deleted, because of a finalizer or the API server, blocks no other gang any longer.
Then the others go before its gang.
"""


def close(state: State, gang_progress: GangProgress) -> None:
    """Close the groups that get no placeholder any more. Their members become ordinary asks (GANG-13)."""
    for progress in gang_progress.groups.values():
        if not (progress.pending or progress.held or progress.closed):
            progress.closed = True
            for rank in list(progress.wanting):
                touch(state, state.pods.records[rank[-1]])
            request_cycle(state, CycleReason.GROUP_CHANGED)


# -- order -----------------------------------------------------------------------------------------------


def line_up(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Put a gang in line if its members may find placeholders."""
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
    """Bring the next gang to the head of the line.

    False for none, or if too many replacements are under way.
    """
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
    """Touch the gangs with a member that fitted on no node at its last check."""
    for app_id in state.gangs.elsewhere:
        touch_gang(state, app_id)
    state.gangs.elsewhere.clear()


def is_full(state: State) -> bool:
    """True if as many replacements as allowed are being begun."""
    since = _full_since(state)
    return since is not None and not has_come(since + COUNTED_FOR, now=state.now)


def time_line(state: State) -> None:
    """Set the timer of the line, so that it continues even if no slot is opened meanwhile.

    No handler takes it. Every event continues the line, if there is one, and sets the timer anew.
    """
    moment = line_due(state)
    if moment is None:
        cancel_timer(state, TimerKind.GANG_LINE, ONLY_ONE)
    else:
        set_timer(state, TimerKind.GANG_LINE, ONLY_ONE, moment)


def line_due(state: State) -> float | None:
    """Time at which the first replacements under way stop counting. None if no gang waits for it."""
    since = _full_since(state) if state.gangs.line and state.acts else None
    return since + COUNTED_FOR if since is not None else None


def _full_since(state: State) -> float | None:
    """Time at which the first of the latest `AT_ONCE` replacements was linked. None if there are fewer."""
    return next(islice(reversed(state.gangs.opening.values()), AT_ONCE - 1, None), None)


def _is_stalled(state: State, app: AppId) -> bool:
    """True if one of the latest replacements that stopped counting is of this gang. Cost: O(`AT_ONCE`)."""
    if _full_since(state) is None:
        return False
    latest = islice(reversed(state.gangs.opening.items()), AT_ONCE)
    return any(
        state.pods.records[uid].membership.application == app
        and has_come(linked + COUNTED_FOR, now=state.now)
        for uid, linked in latest
    )


# -- matching --------------------------------------------------------------------------------------------


def _match_group(state: State, gang_progress: GangProgress, progress: TaskGroupProgress) -> Rounds:
    """Match members by rank, each with the first placeholder that it fits, or else with another node."""
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
    """Choose a placeholder and the node for the member: the placeholder's, or another if it does not fit.

    Placeholders that are smaller than the member in any resource are deleted on the way (GANG-11).
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
        # The search is repeated with the other members that fit nowhere, and continues then.
        return None
    return (first, elsewhere) if elsewhere is not None else None


def _link(state: State, member: PodRecord, holder: PodRecord, node: NodeName) -> None:
    link(member, holder, node, now=state.now)
    touch(state, holder)
    touch(state, member)
    entries = (RESERVED_NODE, str(node)), (REPLACES, str(holder.uid))
    write(state, member, Purpose.REPLACEMENT, *entries)
    say(state, member, MATCHED, f"takes over the capacity of {holder.facts.name} on {node}", warning=False)
