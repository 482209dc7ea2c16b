"""Step of a cycle that gives turns to pod groups: to all members that must start, or to none (COS-3).

A group stands in the order where its best member does. The turns of its members hold capacity one after
another, so that all count at the same time. If one member finds no capacity, all turns are taken back.
"""

from collections.abc import Container, Iterator

from core.ledger.admission.requests import note_group_nowhere, request_cycle, request_recheck
from core.ledger.admission.turns import set_turn, take_back_turn, wake
from core.ledger.effects import NominateNode, OpenGate, WakePod
from core.ledger.node_reservation.reservation import node_for
from core.ledger.podgroups.attempt import begin_attempt
from core.ledger.podgroups.eligibility import candidates, is_backing_off, may_begin
from core.ledger.podgroups.membership import has_turns, unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleReason, WaitingKey
from core.ledger.state.state import State
from core.workload.nodes.free_capacity import Undecided
from core.workload.pending_index import Kind
from core.workload.pod_group import Group, GroupKey

TURN = 14
"""Units of work per turn; see `core.ledger.admission.cycle`."""

_CHECK = 2
_SEARCH_LATER = 75
"""Units of work for a search for a node that continues later: it has used up a slice."""

Effects = list[WakePod | OpenGate | NominateNode]
Steps = Iterator[tuple[int, Effects]]


class PodGroupAdmission:
    """Admission of pod groups in one cycle. ``wanted``: the group that the order has reached."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._seen: set[GroupKey] = set()
        self._timed_out: list[GroupKey] = []
        self.wanted: Group | None = None

    def takes(self, record: PodRecord) -> bool:
        """True if a pod is admitted with its group. The first member of each group makes the group wanted."""
        group = unopened(self._state, record)
        if group is None:
            return False
        if group.key not in self._seen:
            self._seen.add(group.key)
            if group.timeouts:
                self._timed_out.append(group.key)
            else:
                self.wanted = group
        return True

    def groups_under_way(self) -> Steps:
        """Give turns first to groups that have begun, and to groups with some members on nodes."""
        state = self._state
        for key in sorted(state.podgroups.watched, key=lambda each: not state.podgroups.known[each].urgent):
            group = state.podgroups.known.get(key)
            if group is not None and not group.open and group.held < group.min_available:
                self._seen.add(key)
                yield from self._give(group)

    def admit_wanted_group(self) -> Steps:
        """Give turns to the wanted group."""
        group, self.wanted = self.wanted, None
        if group is not None:
            yield from self._give(group)

    def timed_out_groups(self) -> Steps:
        """Give turns to groups that timed out before, behind all others, in their order."""
        for key in self._timed_out:
            group = self._state.podgroups.known.get(key)
            if group is not None and not group.open:
                yield from self._give(group)

    # -- one group -------------------------------------------------------------------------------------------

    def _give(self, group: Group) -> Steps:
        """Give turns to as many members as a group needs, then to further members that fit."""
        state = self._state
        if not may_begin(state, group):
            if group.backs_off_until is not None and is_backing_off(state, group):
                request_recheck(state, group.backs_off_until)
            yield 1, []
            return
        needed = group.min_available - group.held - len(has_turns(state, group))
        given: list[PodRecord] = []
        full: set[Kind] = set()
        asking = candidates(state, group)
        for number, record in enumerate(asking):
            if len(given) + len(asking) - number < needed:
                break
            while (placed := self._place(record, full)) is None:
                yield _SEARCH_LATER, []
            if placed:
                given.append(record)
            yield TURN if placed else _CHECK, []
        if full and len(given) < needed:
            note_group_nowhere(state)
        yield 1, self._conclude(group, given, needed)

    def _place(self, record: PodRecord, full: set[Kind]) -> bool | None:
        """Give a member its turn without a wake-up.

        False if there is no capacity for it. None if the search for a node must continue.
        """
        seat = self._state.pending.waits_at.get(record.uid)
        if seat is None or record.uid in self._state.turns.of:
            return False
        kind = seat.key.size, seat.key.constraints
        if kind in full or not fits_quota(self._state, seat.key):
            return False
        try:
            node = node_for(self._state, seat.key, own=record.daemon.required_node)
        except Undecided:
            return None
        if node is None:
            full.add(kind)
            return False
        return set_turn(self._state, record, seat, node)

    def _conclude(self, group: Group, given: list[PodRecord], needed: int) -> Effects:
        """Wake the members if enough of them still have their turns, else take all turns back."""
        state = self._state
        standing = [each for each in given if each.uid in state.turns.of and each.uid in state.pods.records]
        if len(standing) < needed or not standing or state.podgroups.known.get(group.key) is not group:
            for record in standing:
                take_back_turn(state, record.uid)
            if len(standing) < len(given):
                request_cycle(state, CycleReason.CAPACITY_FREED)
            return []
        begin_attempt(state, group)
        effects: Effects = []
        for record in standing:
            effects += wake(state, record)
        return effects


def fits_quota(state: State, key: WaitingKey, *, with_root: bool = True) -> bool:
    """True if queues, limits and the cluster as a whole have headroom for such an ask."""
    leaf, application = state.config.tree.get(key.queue), state.applications.known.get(key.app)
    if leaf is None or application is None:
        return False
    extra, claimant = state.turns.given, application.claimant
    return state.quota_check.refusal(leaf.chain, claimant, key.size, extra=extra, with_root=with_root) is None


def needs_node(state: State, key: WaitingKey, nowhere: Container[Kind]) -> bool:
    """True if such an ask has quota and no node. ``nowhere``: the kinds of asks that no node takes.

    Others of its kind may have found that. A limit that binds the ask comes first.
    """
    return (key.size, key.constraints) in nowhere and fits_quota(state, key, with_root=False)
