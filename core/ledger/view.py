"""Read access of the rules to the ledger as it is now.

A view is live. The engine hands it to a synchronous rule and never holds it across an ``await``.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger.admission.backoff import backs_off
from core.ledger.admission.pending import lines_beside
from core.ledger.admission.turns import turns_leave_no_node
from core.ledger.applications.shared_ids import Identities
from core.ledger.gangs.index import awaits_gang
from core.ledger.node_reservation.reservation import reserved_node_could_take
from core.ledger.podgroups.membership import group_of, unopened
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.preemption.in_vain import waiting_queues, waits_until
from core.ledger.preemption.victims import is_leaving
from core.ledger.settings import LedgerSettings
from core.ledger.state.admission import CycleRequest, Turn, Unguarded
from core.ledger.state.preemption import Offer
from core.ledger.state.state import State
from core.ledger.state.usage import Episode, OverMaxPlace
from core.ledger.timers import next_due
from core.queues.queue import Queue
from core.queues.quota_check import Extra, QuotaCheck
from core.queues.spec import LimitSpec, NodeSortSpec, PartitionSpec
from core.queues.tree import QueueTree
from core.queues.users.limits import Limits, Tracked, UsageBook, entry_for
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.ask import Rank, Waiting
from core.workload.budget import Budgets
from core.workload.gangs.progress import GangTally
from core.workload.nodes.node import NodeFacts, NodeUse
from core.workload.nodes.ranking import NodeRanking
from core.workload.pending_index import Kind
from core.workload.pod import NamespaceFacts, PriorityClassFacts
from core.workload.pod_group import Group, GroupNumbers

_NOTHING = Tally()

COUNTED_AT_MOST = 500  # applications that are looked at one by one for one answer


class LedgerView:
    """Read access to the ledger. Nothing here changes anything, and callers must not either."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def settings(self) -> LedgerSettings:
        return self._state.config.settings

    @property
    def generation(self) -> int:
        """Number of documents applied so far; 0 is not configured."""
        return self._state.config.generation

    @property
    def tree(self) -> QueueTree:
        return self._state.config.tree

    @property
    def synced(self) -> bool:
        """Whether pods, nodes and namespaces were listed in full and a document was applied."""
        pods, cluster = self._state.pods, self._state.cluster
        return bool(pods.listed and cluster.nodes_listed and cluster.namespaces_listed and self.generation)

    @property
    def cycle_wanted(self) -> bool:
        """Whether a pass over the waiting asks should run soon, or go on."""
        return self._state.cycle.freed or self._state.cycle.due or self._state.cycle.running

    @property
    def cycle(self) -> CycleRequest:
        """Requests for scheduling cycles, and what the last ones found; only to be read."""
        return self._state.cycle

    def next_due(self) -> float | None:
        """Time at which `TimePassed` has something to do next; None if nothing ends by itself. Cost: O(1)."""
        return next_due(self._state)

    @property
    def node_set(self) -> int:
        """Changes whenever a node comes or goes."""
        return self._state.cluster.node_set

    @property
    def nodes(self) -> dict[NodeName, NodeFacts]:
        return self._state.cluster.nodes

    @property
    def node_sort(self) -> NodeSortSpec:
        """How nodes are scored (NODE-1)."""
        return self._state.config.node_sort

    def free_on(self, node: NodeName) -> Mapping[str, int]:
        """What is left on a node, turns and reservations taken off; only to be read."""
        return self._state.usage.free_capacity.free_on(node)

    def coming(self, record: PodRecord) -> Mapping[str, int]:
        """The room, still taken, of those who were made to go for an ask, on the node kept for it."""
        state, total = self._state, Tally()
        for uid in state.preemption.victims.get(record.uid, ()):
            victim = state.pods.records[uid]
            if victim.node == (record.node_reservation.node or None) and is_leaving(state, victim):
                total.add(victim.facts.size)
        return dict(total.items())

    def node_ranking(self) -> NodeRanking:
        """All nodes as `node_sort` orders them; costs what has changed since it was asked for last."""
        return self._state.usage.free_capacity.ranked(self._state.config.node_sort, self._state.cluster.nodes)

    @property
    def quota_check(self) -> QuotaCheck:
        """What decides whether an ask fits, besides its queues."""
        return self._state.quota_check

    @property
    def book(self) -> UsageBook:
        """What users and groups hold."""
        return self._state.usage.book

    @property
    def limits(self) -> Limits:
        return self._state.config.limits

    def use_of(self, node: NodeName) -> NodeUse | None:
        """What pods hold on a node, or None when nothing does."""
        return self._state.usage.uses.get(node)

    def nodes_in_use(self) -> Collection[NodeName]:
        """Names of nodes on which something is held, also of nodes that are not known."""
        return self._state.usage.uses.keys()

    def pods(self) -> Iterator[PodRecord]:
        return iter(self._state.pods.records.values())

    def pod(self, uid: PodUid) -> PodRecord | None:
        return self._state.pods.records.get(uid)

    def pod_named(self, namespace: str, name: str) -> PodRecord | None:
        """The pod of that name; of two, of which one is about to be known as gone, the later."""
        uids = self._state.pods.by_name.get((namespace, name))
        return self._state.pods.records.get(uids[-1]) if uids else None

    def was_deleted(self, uid: PodUid) -> bool:
        """Whether the pod was deleted, or became terminal, in the last ten minutes."""
        return uid in self._state.pods.tombstones

    def namespace(self, name: str) -> NamespaceFacts | None:
        return self._state.cluster.namespaces.get(name)

    def priority_class(self, name: str) -> PriorityClassFacts | None:
        return self._state.cluster.priority_classes.get(name)

    @property
    def preempts(self) -> bool:
        """Whether the partition preempts to reach guarantees (PRE-1)."""
        return self._state.config.preempts

    @property
    def quota_preempts(self) -> bool:
        """Whether the partition preempts when a quota has shrunk (QCP-1)."""
        return self._state.config.quota_preempts

    def charge_of(self, uid: PodUid) -> Charge | None:
        """What a pod is charged now."""
        return self._state.usage.charges.get(uid)

    @property
    def budgets(self) -> Budgets:
        """The PodDisruptionBudgets, to be read with `core.workload.budget`."""
        return self._state.cluster.budgets

    def pod_group_of(self, record: PodRecord) -> Group | None:
        """The group that a pod starts together with (COS-1); only to be read."""
        return group_of(self._state, record)

    def unopened(self, record: PodRecord) -> Group | None:
        """The same while not enough of its members are on nodes; only to be read."""
        return unopened(self._state, record)

    def pod_groups(self) -> Iterator[Group]:
        return iter(self._state.podgroups.known.values())

    @property
    def over_max(self) -> Mapping[OverMaxPlace, Episode]:
        """Queues, users and groups that hold more than their max; only to be read."""
        return self._state.usage.over_max

    @property
    def over_max_begun(self) -> Mapping[str, int]:
        """How often that has begun, by kind; only to be read."""
        return self._state.usage.over_max_begun

    @property
    def group_numbers(self) -> GroupNumbers:
        """What became of groups since the start; only to be read."""
        return self._state.podgroups.numbers

    @property
    def namespaces_listed(self) -> bool:
        return self._state.cluster.namespaces_listed

    @property
    def identities(self) -> Identities:
        """Which applications have the same id, and what was reported of whose pods are."""
        return Identities(self._state)

    def applications(self) -> Iterator[Application]:
        return iter(self._state.applications.known.values())

    def application(self, app_id: AppId) -> Application | None:
        return self._state.applications.known.get(app_id)

    def queue_of(self, record: PodRecord) -> Queue | None:
        """The leaf that a pod's application runs in, or None while it has none."""
        application = self._state.application_of(record)
        return self._state.config.tree.get(application.queue) if application and application.queue else None

    def applications_in(self, queue: Queue) -> Iterator[Application]:
        """Those of a leaf."""
        return (self._state.applications.known[app_id] for app_id in queue.applications)

    def limits_of(self, application: Application, queue: Queue) -> Iterator[tuple[Tracked, LimitSpec]]:
        """What limits its user and group in a queue and above it."""
        for each in queue.chain if self._state.config.limits else ():
            for tracked in application.claimant.tracked(each.path):
                entry = entry_for(self._state.config.limits, tracked)
                if entry is not None:
                    yield tracked, entry

    def waiting_below(self, path: QueuePath) -> Iterator[tuple[Application, Mapping[Kind, Waiting]]]:
        """The applications with something pending in a queue and below, with their asks."""
        below = f"{path}."
        for leaf, index in self._state.pending.waiting.items():
            if leaf == path or leaf.startswith(below):
                for app_id, lines in index.by_application.items():
                    yield self._state.applications.known[app_id], lines

    @property
    def many_wait(self) -> bool:
        """Whether more applications wait than are counted one by one within a verb."""
        waiting = self._state.pending.waiting.values()
        return sum(len(leaf.by_application) for leaf in waiting) > COUNTED_AT_MOST

    def backs_off(self, application: Application) -> bool:
        """Whether it rests, since no node took its asks (CYC-4)."""
        return backs_off(self._state, application)

    def lines_beside(self, record: PodRecord, leaf: Queue) -> tuple[Mapping[Kind, Waiting], Rank]:
        """Pending asks of the application of a pod in a leaf, by kind, and the pod's rank among them."""
        return lines_beside(self._state, record, leaf)

    def has_turn(self, uid: PodUid) -> bool:
        return uid in self._state.turns.of

    @property
    def given(self) -> Extra:
        """The room that turns hold."""
        return self._state.turns.given

    @property
    def all_wait(self) -> bool:
        """True while every pending ask may get the capacity that is free, not only fresh asks."""
        return self._state.cycle.freed or self._state.cycle.running

    def others_may_fit(self, uid: PodUid) -> bool:
        """Whether others are pending that nobody has looked at since room appeared, or since they came."""
        others = self._state.pending.waits_at if self.all_wait else self._state.turns.fresh
        return len(others) > (uid in others)

    def demand_in(self, queue: Queue) -> Tally:
        """What they ask for at most, in a queue and below; only to be read."""
        return queue.pending if self.all_wait else queue.fresh

    def beside_demand(self, queue: Queue) -> Tally:
        """Amounts that turns hold and that `demand_in` does not count; only to be read."""
        return _NOTHING if self.all_wait else self._state.turns.given.of(queue)

    def crowds(self, size: Resource, more: Resource) -> bool:
        """Whether that demand and ``more`` exceed, in a name of ``size``, what is left where some may go."""
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
        """Amounts left on nodes that some pending ask tolerates; None if there is too much to check."""
        return self._state.usage.free_capacity.tainted.open_to(self._state.usage.tolerated)

    def is_in_demand(self, uid: PodUid) -> bool:
        """Whether an ask is a part of that."""
        return self.all_wait or uid in self._state.turns.fresh

    def turns_leave_no_node(self, record: PodRecord) -> bool:
        """Whether nodes have no room for an ask besides what turns hold on them."""
        return turns_leave_no_node(self._state, record)

    def found_no_node(self, record: PodRecord) -> bool:
        """Whether no node had room for such an ask when a pass looked at one last."""
        return (record.facts.size, record.facts.constraints) in self._state.cycle.nowhere

    @property
    def waiting(self) -> Collection[PodUid]:
        """Asks that are pending; only to be read."""
        return self._state.pending.waits_at

    @property
    def reserved_nodes(self) -> Mapping[NodeName, PodUid]:
        """Nodes that are kept for an ask; only to be read."""
        return self._state.reservations.of

    @property
    def slots(self) -> Mapping[NodeName, set[PodUid]]:
        """Nodes on which room is there for members of gangs only; only to be read."""
        return self._state.gangs.slots

    def fits_beside(self, record: PodRecord, node: NodeName) -> bool:
        """Whether an ask fits on a node besides all that is promised there to others."""
        state = self._state
        turn, charge = state.turns.of.get(record.uid), state.usage.charges.get(record.uid)
        counted = (turn is not None and turn.node == node) or (charge is not None and charge.node == node)
        return counted or state.usage.free_capacity.has(node, record.facts.size)

    @property
    def gang_tally(self) -> GangTally:
        """What has become of gangs since the process began; only to be read."""
        return self._state.gangs.tally

    def awaits_gang(self, record: PodRecord) -> bool:
        """True while a pod must wait for its gang, so that it is no ask yet (GANG-9, GANG-10)."""
        return awaits_gang(self._state, record)

    def reserved_node_could_take(self, record: PodRecord) -> bool:
        """Whether some node that is kept for another ask has room for this one."""
        return reserved_node_could_take(self._state, record)

    @property
    def turns(self) -> Mapping[PodUid, Turn]:
        """Asks that may be placed now, in the order in which they got their turns; only to be read."""
        return self._state.turns.of

    def gated(self) -> list[PodUid]:
        """The asks at our own gate."""
        records, waits = self._state.pods.records, (*self._state.pending.waits_at, *self._state.gangs.places)
        return [uid for uid in waits if records[uid].is_gated and not records[uid].facts.placeholder]

    @property
    def trying(self) -> Mapping[PodUid, None]:
        """The asks that may have a plan made for them now, those of a leaf in order; only to be read."""
        return self._state.preemption.trying

    def due_round(self) -> object:
        """Changes whenever some are added to `trying`, and with each document."""
        return self._state.preemption.due_round, self._state.config.generation

    @property
    def reclaims(self) -> Mapping[QueuePath, None]:
        """Queues whose pods are to go now because their quota shrank; only to be read."""
        return self._state.preemption.reclaims

    def waits_until(self, record: PodRecord, leaf: Queue) -> float:
        """When plans may be made again for an ask's queue, which had some in vain (F-25); 0 for now."""
        return waits_until(self._state, leaf, record.facts.namespace)

    def in_vain(self) -> tuple[int, int, Mapping[QueuePath, float]]:
        """Plans whose ask vanished and the waits for them since the start; the queues that wait, how long."""
        found = self._state.preemption
        return found.plans_in_vain, found.waits_for_vain, waiting_queues(self._state)

    @property
    def offers(self) -> Mapping[PodUid, Offer]:
        """Plans that kube-scheduler was told of and may still take, by ask; only to be read."""
        return self._state.preemption.offers

    @property
    def reserved(self) -> Collection[PodUid]:
        """Pods for which quota is reserved between filter and bind; only to be read."""
        return self._state.usage.reserved

    @property
    def unguarded(self) -> Unguarded:
        """Pods that may be placed without a filter call; only to be read."""
        return self._state.unguarded

    def conflicts(self, partition: PartitionSpec) -> Sequence[str]:
        """Why a document cannot be applied to what is running, one sentence each."""
        return self._state.config.tree.conflicts(partition)
