"""Pod groups in a trial: turns for all members that must start, or for none (COS-3)."""

from collections.abc import Generator
from typing import Protocol

from core.ids import NodeName
from core.ledger.admission.turns import take_back_turn
from core.ledger.podgroups.eligibility import candidates, may_begin
from core.ledger.podgroups.membership import has_turns, unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import Seat, WaitingKey
from core.ledger.state.state import State
from core.workload.nodes.free_capacity import Undecided
from core.workload.pending_index import Kind
from core.workload.pod_group import Group, GroupKey

Steps = Generator[int, None, None]

_TURN = 5


class MemberGiver(Protocol):
    """Way of a trial to find a node for a member of a group, and to give it a turn."""

    def node_of_member(self, key: WaitingKey, *, own: NodeName) -> NodeName | None:
        """Node for an ask, or None. Raises `Undecided`."""
        ...

    def give(self, record: PodRecord, seat: Seat, node: NodeName) -> bool:
        """Give a turn to an ask. False if it cannot have one."""
        ...


class GroupTrial:
    """Pod groups of one trial, as `PodGroupAdmission` treats them.

    The trial is passed to each call, so that neither refers to the other in a cycle.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._seen: set[GroupKey] = set()
        self._timed_out: list[GroupKey] = []
        self._wanted: Group | None = None
        #: True once a group was tried.
        self.tried = False

    def begin_anew(self) -> None:
        """Begin the steps anew. What has its turns keeps them."""
        self._seen.clear()
        self._timed_out.clear()
        self._wanted = None

    @property
    def wants(self) -> bool:
        """True if the order has reached a group."""
        return self._wanted is not None

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
                self._wanted = group
        return True

    def under_way(self, trial: MemberGiver) -> Steps:
        """Give turns to groups that have begun, and to groups with some members on nodes."""
        groups = self._state.podgroups
        for key in sorted(groups.watched, key=lambda each: not groups.known[each].urgent):
            group = groups.known.get(key)
            if group is not None and not group.open and group.held < group.min_available:
                self._seen.add(key)
                yield from self._give(group, trial)

    def admit_wanted(self, trial: MemberGiver) -> Steps:
        """Give turns to the wanted group, if there is one."""
        group, self._wanted = self._wanted, None
        if group is not None:
            yield from self._give(group, trial)

    def timed_out(self, trial: MemberGiver) -> Steps:
        """Give turns to groups that timed out before, behind all others."""
        for key in self._timed_out:
            group = self._state.podgroups.known.get(key)
            if group is not None and not group.open:
                yield from self._give(group, trial)

    def _give(self, group: Group, trial: MemberGiver) -> Steps:
        state, self.tried = self._state, True
        yield 1
        if not may_begin(state, group):
            return
        needed = group.min_available - group.held - len(has_turns(state, group))
        given: list[PodRecord] = []
        full: set[Kind] = set()
        asking = candidates(state, group)
        for number, record in enumerate(asking):
            if len(given) + len(asking) - number < needed:
                break
            while (placed := self._place(record, full, trial)) is None:
                yield _TURN
            if placed:
                given.append(record)
            yield _TURN
        if len(given) < needed or not given:
            for record in given:
                take_back_turn(state, record.uid)

    def _place(self, record: PodRecord, full: set[Kind], trial: MemberGiver) -> bool | None:
        """Give a member its turn. False if there is no capacity for it, None if the search must continue."""
        seat = self._state.pending.waits_at.get(record.uid)
        if seat is None or record.uid in self._state.turns.of:
            return False
        kind = seat.key.size, seat.key.constraints
        if kind in full:
            return False
        try:
            node = trial.node_of_member(seat.key, own=record.daemon.required_node)
        except Undecided:
            return None
        if node is None:
            full.add(kind)
            return False
        return trial.give(record, seat, node)
