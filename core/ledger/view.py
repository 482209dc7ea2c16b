"""Read access of the rules to the live ledger.

The engine hands a view to a synchronous rule, and never holds it across an ``await``.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger.admission.backoff import backs_off
from core.ledger.admission.pending import lines_beside
from core.ledger.admission.turns import turns_leave_no_node
from core.ledger.applications.bars import may_be_of_daemon_set
from core.ledger.applications.moves.view import MoveView
from core.ledger.applications.shared_ids import Identities
from core.ledger.gangs.index import awaits_gang
from core.ledger.node_reservation.reservation import reserved_node_could_take
from core.ledger.podgroups.membership import group_of, unopened
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.preemption.in_vain import waiting_queues, waits_until
from core.ledger.preemption.victims import is_leaving
from core.ledger.state.admission import CycleRequest, Turn, Unguarded
from core.ledger.state.preemption import Offer
from core.ledger.state.timer_heap import timers_of
from core.ledger.state.timers import TimerKind
from core.ledger.state.usage import Episode, OverMaxPlace
from core.ledger.timers import next_due
from core.ledger.trial.view import TrialView
from core.queues.queue import Queue
from core.queues.quota_check import Extra, QuotaCheck
from core.queues.spec import LimitSpec, PartitionSpec
from core.queues.users.limits import Tracked, UsageBook, entry_for
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.ask import Rank, Waiting
from core.workload.ending import Ending, is_exempt
from core.workload.gangs.progress import GangTally
from core.workload.nodes.node import NodeUse
from core.workload.nodes.ranking import NodeRanking
from core.workload.pending_index import Kind
from core.workload.pod_group import Group, GroupKey, GroupNumbers

_NOTHING = Tally()

COUNTED_AT_MOST = 500
"""Applications that one answer counts one by one, at most."""


class LedgerView(TrialView):
    """Read access to the ledger. Neither methods nor callers change anything."""

    __slots__ = ()

    @property
    def cycle_wanted(self) -> bool:
        """True if a cycle should run soon, or continue."""
        return self._state.cycle.freed or self._state.cycle.due or self._state.cycle.running

    @property
    def cycle(self) -> CycleRequest:
        """Requests for scheduling cycles, and the results of the last ones. Read only."""
        return self._state.cycle

    def next_due(self) -> float | None:
        """Time at which `TimePassed` has something to do next. None if nothing ends by itself. Cost: O(1)."""
        return next_due(self._state)

    def free_on(self, node: NodeName) -> dict[str, int]:
        """Free amounts of a node, less turns and reservations. Read only."""
        return self._state.usage.free_capacity.free_on(node)

    def has_capacity(self, node: NodeName, size: Resource) -> bool:
        """True if a node has the capacity for such an ask, beside turns and reservations."""
        return self._state.usage.free_capacity.has(node, size)

    def coming(self, record: PodRecord) -> Mapping[str, int]:
        """Amounts that the victims of an ask still hold on its reserved node."""
        state, total = self._state, Tally()
        for uid in state.preemption.victims.get(record.uid, ()):
            victim = state.pods.records[uid]
            if victim.node == (record.node_reservation.node or None) and is_leaving(state, victim):
                total.add(victim.facts.size)
        return dict(total.items())

    def node_ranking(self) -> NodeRanking:
        """Nodes in the order of `node_sort`. Costs what has changed since the last call."""
        return self._state.usage.free_capacity.ranked(self._state.config.node_sort, self._state.cluster.nodes)

    @property
    def quota_check(self) -> QuotaCheck:
        """Check of limits and quotas, with the limits and usage that it reads."""
        return self._state.quota_check

    @property
    def book(self) -> UsageBook:
        """Usage of users and groups."""
        return self._state.usage.book

    def use_of(self, node: NodeName) -> NodeUse | None:
        """Usage of a node, or None if there is none."""
        return self._state.usage.uses.get(node)

    def nodes_in_use(self) -> Collection[NodeName]:
        """Names of nodes with usage, also of nodes that are not known."""
        return self._state.usage.uses.keys()

    def charge_of(self, uid: PodUid) -> Charge | None:
        """Current charge of a pod, or None."""
        return self._state.usage.charges.get(uid)

    def pod_group_of(self, record: PodRecord) -> Group | None:
        """Pod group of a pod (COS-1). Read only."""
        return group_of(self._state, record)

    def unopened(self, record: PodRecord) -> Group | None:
        """Pod group of a pod while not enough of its members are on nodes. Read only."""
        return unopened(self._state, record)

    def pod_group(self, key: GroupKey) -> Group | None:
        """Pod group of a key, or None. Read only."""
        return self._state.podgroups.known.get(key)

    def pod_groups(self) -> Iterator[Group]:
        """All pod groups. Read only."""
        return iter(self._state.podgroups.known.values())

    @property
    def over_max(self) -> Mapping[OverMaxPlace, Episode]:
        """Queues, users and groups above their max. Read only."""
        return self._state.usage.over_max

    @property
    def over_max_begun(self) -> Mapping[str, int]:
        """Number of episodes above a max since the start, by kind. Read only."""
        return self._state.usage.over_max_begun

    @property
    def group_numbers(self) -> GroupNumbers:
        """Numbers of pod groups since the start. Read only."""
        return self._state.podgroups.numbers

    @property
    def identities(self) -> Identities:
        """Applications with the same id, and the numbers of reports about owners."""
        return Identities(self._state)

    def applications(self) -> Iterator[Application]:
        """All live applications. Read only."""
        return iter(self._state.applications.known.values())

    def application(self, app_id: AppId) -> Application | None:
        """Live application of an id, or None."""
        return self._state.applications.known.get(app_id)

    def is_ended(self, app_id: AppId) -> bool:
        """True while an application of an id is being ended (ACT-20). Also true before all pods are known."""
        if not self._state.pods.listed:
            return True
        known = self._state.applications.known
        found = (known.get(each) for each in (app_id, app_id._replace(recovered=True)))
        return any(each is not None and each.ends for each in found)

    def is_exempt(self, record: PodRecord) -> bool:
        """True for a pod that no order to end its application is about (ACT-21)."""
        return is_exempt(record.facts, of_daemon_set=may_be_of_daemon_set(self._state, record))

    def ending(self, app_id: AppId) -> Ending | None:
        """Order about an application that is in force, or None (ACT-20)."""
        return self._state.applications.endings.get(app_id)

    @property
    def moves(self) -> MoveView:
        """Moves of applications by administrators."""
        return MoveView(self._state)

    def queue_of(self, record: PodRecord) -> Queue | None:
        """Leaf in which a pod's application runs, or None while it has none."""
        application = self._state.application_of(record)
        return self._state.config.tree.get(application.queue) if application and application.queue else None

    def applications_in(self, queue: Queue) -> Iterator[Application]:
        """Applications of a leaf."""
        return (self._state.applications.known[app_id] for app_id in queue.applications)

    def limits_of(self, application: Application, queue: Queue) -> Iterator[tuple[Tracked, LimitSpec]]:
        """Limits of an application's user and group in a queue and above it."""
        for each in queue.chain if self._state.config.limits else ():
            for tracked in application.claimant.tracked(each.path):
                entry = entry_for(self._state.config.limits, tracked)
                if entry is not None:
                    yield tracked, entry

    def waiting_below(self, path: QueuePath) -> Iterator[tuple[Application, Mapping[Kind, Waiting]]]:
        """Applications with pending asks in a queue and below, with their asks."""
        below = f"{path}."
        for leaf, index in self._state.pending.waiting.items():
            if leaf == path or leaf.startswith(below):
                for app_id, lines in index.by_application.items():
                    yield self._state.applications.known[app_id], lines

    @property
    def many_wait(self) -> bool:
        """True if more applications wait than a verb counts one by one."""
        waiting = self._state.pending.waiting.values()
        return sum(len(leaf.by_application) for leaf in waiting) > COUNTED_AT_MOST

    def backs_off(self, application: Application) -> bool:
        """True if an application is in back-off, because no node took its asks (CYC-4)."""
        return backs_off(self._state, application)

    def lines_beside(self, record: PodRecord, leaf: Queue) -> tuple[Mapping[Kind, Waiting], Rank]:
        """Pending asks of a pod's application in a leaf, by kind, and the pod's rank among them."""
        return lines_beside(self._state, record, leaf)

    def has_turn(self, uid: PodUid) -> bool:
        """True if an ask has a turn."""
        return uid in self._state.turns.of

    @property
    def given(self) -> Extra:
        """Amounts that turns hold."""
        return self._state.turns.given

    @property
    def all_wait(self) -> bool:
        """True while every pending ask may get the free capacity, not only fresh asks."""
        return self._state.cycle.freed or self._state.cycle.running

    def others_may_fit(self, uid: PodUid) -> bool:
        """True if other asks are pending that no cycle has checked since they came or capacity was freed."""
        others = self._state.pending.waits_at if self.all_wait else self._state.turns.fresh
        return len(others) > (uid in others)

    def demand_in(self, queue: Queue) -> Tally:
        """Upper bound of the demand of unchecked asks in a queue and below. Read only."""
        return queue.pending if self.all_wait else queue.fresh

    def beside_demand(self, queue: Queue) -> Tally:
        """Amounts that turns hold and that `demand_in` does not include. Read only."""
        return _NOTHING if self.all_wait else self._state.turns.given.of(queue)

    def crowds(self, size: Resource, more: Resource) -> bool:
        """True if demand and ``more`` exceed, in a name of ``size``, the capacity open to some ask."""
        state, root = self._state, self._state.config.tree.root
        if (open_to_some := self.open_capacity()) is None:
            return False
        given, beside, demand = state.turns.given.of(root), self.beside_demand(root), self.demand_in(root)
        for name, amount in size.items():
            asked = demand.get(name) + state.usage.afloat.get(name) + more.get(name)
            asked -= given.get(name) - beside.get(name)  # counted twice
            if amount and asked > sum([left.get(name, 0) for left in open_to_some]):
                return True
        return False

    def open_capacity(self) -> list[Mapping[str, int]] | None:
        """Free amounts on nodes that some pending ask tolerates. None if there is too much to check."""
        return self._state.usage.free_capacity.tainted.open_to(self._state.usage.tolerated)

    def is_in_demand(self, uid: PodUid) -> bool:
        """True if an ask is a part of the demand."""
        return self.all_wait or uid in self._state.turns.fresh

    def turns_leave_no_node(self, record: PodRecord) -> bool:
        """True if nodes have no capacity for an ask beside what turns hold on them."""
        return turns_leave_no_node(self._state, record)

    def found_no_node(self, record: PodRecord) -> bool:
        """True if no node had capacity for such an ask at the last check."""
        return (record.facts.size, record.facts.constraints) in self._state.cycle.nowhere

    @property
    def waiting(self) -> Collection[PodUid]:
        """Pending asks. Read only."""
        return self._state.pending.waits_at

    @property
    def reserved_nodes(self) -> Mapping[NodeName, PodUid]:
        """Nodes with a reservation, and the ask of each. Read only."""
        return self._state.reservations.of

    @property
    def slots(self) -> Mapping[NodeName, set[PodUid]]:
        """Nodes with slots, which only members of gangs may use. Read only."""
        return self._state.gangs.slots

    def fits_beside(self, record: PodRecord, node: NodeName) -> bool:
        """True if an ask fits on a node beside all capacity that is promised to others."""
        state = self._state
        turn, charge = state.turns.of.get(record.uid), state.usage.charges.get(record.uid)
        counted = (turn is not None and turn.node == node) or (charge is not None and charge.node == node)
        return counted or state.usage.free_capacity.has(node, record.facts.size)

    @property
    def gang_tally(self) -> GangTally:
        """Numbers of gangs since the process began. Read only."""
        return self._state.gangs.tally

    def awaits_gang(self, record: PodRecord) -> bool:
        """True while a pod must wait for its gang, so that it is no ask yet (GANG-9, GANG-10)."""
        return awaits_gang(self._state, record)

    def reserved_node_could_take(self, record: PodRecord) -> bool:
        """True if a node that is reserved for another ask has capacity for this one."""
        return reserved_node_could_take(self._state, record)

    @property
    def turns(self) -> Mapping[PodUid, Turn]:
        """Asks that may be placed now, in the order of their turns. Read only."""
        return self._state.turns.of

    def gated(self) -> list[PodUid]:
        """Asks at Paddock's own gate."""
        records, waits = self._state.pods.records, (*self._state.pending.waits_at, *self._state.gangs.places)
        return [uid for uid in waits if records[uid].is_gated and not records[uid].facts.placeholder]

    @property
    def trying(self) -> Mapping[PodUid, None]:
        """Asks that may have a plan made for them now, those of a leaf in order. Read only."""
        return self._state.preemption.trying

    def tried_next(self, record: PodRecord) -> float | None:
        """Time from which Paddock makes the next plan for an ask (PRE-5). None if it plans none."""
        return self._state.preemption.attempts.get(record.uid)

    def victims_of(self, uid: PodUid) -> Collection[PodUid]:
        """Pods chosen as victims for an ask. Read only."""
        return self._state.preemption.victims.get(uid, ())

    def due_round(self) -> object:
        """Value that changes whenever asks are added to `trying`, and with each document."""
        return self._state.preemption.due_round, self._state.config.generation

    @property
    def reclaims(self) -> Mapping[QueuePath, None]:
        """Queues whose pods are to be evicted now because their quota shrank. Read only."""
        return self._state.preemption.reclaims

    def reclaim_starts(self) -> Mapping[QueuePath, float]:
        """Times at which queues begin, or began, to give up pods because their quota shrank."""
        due = timers_of(self._state, TimerKind.QUOTA_RECLAIM)
        return {QueuePath(str(path)): when for path, when in due.items()}

    def waits_until(self, record: PodRecord, leaf: Queue) -> float:
        """Time from which plans may be made again for an ask's queue (F-25); 0 for now."""
        return waits_until(self._state, leaf, record.facts.namespace)

    def in_vain(self) -> tuple[int, int, Mapping[QueuePath, float]]:
        """Numbers of plans in vain and of waits since the start, and the seconds that queues must wait."""
        found = self._state.preemption
        return found.plans_in_vain, found.waits_for_vain, waiting_queues(self._state)

    @property
    def offers(self) -> Mapping[PodUid, Offer]:
        """Plans that were offered to kube-scheduler and may still be taken, by ask. Read only."""
        return self._state.preemption.offers

    @property
    def reserved(self) -> Collection[PodUid]:
        """Pods with quota reserved between filter and bind. Read only."""
        return self._state.usage.reserved

    @property
    def unguarded(self) -> Unguarded:
        """Pods that may be placed without a filter call. Read only."""
        return self._state.unguarded

    def conflicts(self, partition: PartitionSpec) -> Sequence[str]:
        """Reasons why a document cannot be applied to the running tree, one sentence each."""
        return self._state.config.tree.conflicts(partition)
