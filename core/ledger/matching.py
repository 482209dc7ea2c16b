"""Which member of a gang takes over which placeholder (GANG-11, GANG-13)."""

from core.ids import NodeName
from core.instants import has_come
from core.ledger.accounts import settle
from core.ledger.marks import write
from core.ledger.record import PodRecord, Slot
from core.ledger.releasing import release, say, try_again
from core.ledger.state import State
from core.resource import Resource
from core.workload.affinity import Constraints, admits
from core.workload.formation import Formation, Progress
from core.workload.pod import REPLACES, RESERVED_NODE

MATCHED = "TaskGroupMatch"
"""What is done to a member, as Events name it (REST-17)."""


def match(state: State, formation: Formation) -> None:
    if formation.rests_until is not None and has_come(formation.rests_until, now=state.now):
        formation.rests_until = None
    for progress in formation.groups.values():
        if state.acts and formation.rests_until is None:
            _match_group(state, formation, progress)
        if not (progress.pending or progress.held or progress.closed):
            progress.closed = True
            for rank in list(progress.wanting):
                settle(state, state.pods[rank[-1]])
            state.freed = True


def _match_group(state: State, formation: Formation, progress: Progress) -> None:
    """Members by rank, each with the first placeholder that it fits; on another node where it must."""
    if not progress.held:
        return
    in_vain: set[tuple[Resource, Constraints]] = set()
    for rank in list(progress.wanting):
        if not progress.held:
            return
        member = state.pods[rank[-1]]
        facts = member.facts
        if (facts.size, facts.constraints) in in_vain:
            continue
        chosen = _choose(state, member, progress)
        if chosen is None:
            in_vain.add((facts.size, facts.constraints))
            if progress.held and member.application is not None:
                state.elsewhere[member.application] = None
                try_again(state, formation)
        else:
            _link(state, member, *chosen)


def _choose(state: State, member: PodRecord, progress: Progress) -> tuple[PodRecord, NodeName] | None:
    """A placeholder and where the member runs in its stead: there, or on another node when it fits none.

    Those that are smaller than the member in anything go on the way (GANG-11).
    """
    constraints, first = member.facts.constraints, None
    rank = progress.held.first() if progress.held else None
    while rank is not None:
        holder, after = state.pods[rank[-1]], progress.held.after(rank)
        node = state.nodes.get(holder.node)
        if not holder.facts.size.covers(member.facts.size):
            release(state, holder)
        elif node is not None and admits(node, constraints):
            return holder, holder.node
        else:
            first = first or holder
        rank = after
    if first is None:
        return None
    elsewhere = state.node_room.tightest(member.facts.size, constraints, state.nodes, besides=state.kept)
    return (first, elsewhere) if elsewhere is not None else None


def _link(state: State, member: PodRecord, holder: PodRecord, node: NodeName) -> None:
    member.slot, holder.yields_to = Slot(holder.uid, node), member.uid
    settle(state, holder)
    settle(state, member)
    write(state, member, (RESERVED_NODE, str(node)), (REPLACES, str(holder.uid)))
    say(state, member, MATCHED, f"takes over the room of {holder.facts.name} on {node}", warning=False)
