"""Copy of the state in which pods have arrived that do not exist: what would happen if they were created.

What their arrival changes is copied, and everything else is shared and only read. Cost: O(pods), for copies
of tables without their values.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

from core.ids import AppId, PodUid, QueuePath, parent_path
from core.ledger.applications.membership import host_of, unique_ids
from core.ledger.applications.placement import verdict_for
from core.ledger.pods.parts import Membership, Sighting
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import Seat, WaitingKey
from core.ledger.state.state import State
from core.ledger.trial.change import NO_CHANGE
from core.ledger.trial.changed_queues import ChangedQueues
from core.queues.priority import ask_comes
from core.queues.queue import Queue
from core.queues.tree import QueueTree
from core.reasons import Refusal
from core.workload.application import Application, application_id
from core.workload.pending_index import PendingIndex
from core.workload.pod import NamespaceFacts, PodFacts
from core.workload.states import AppState

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Arrival:
    """Pods of one application that have arrived. ``state``: the copy, which the caller may not change."""

    state: State
    application: Application
    records: tuple[PodRecord, ...]

    def dismantle(self) -> None:
        """Drop the references of copied queues in a cycle. Nothing of this may be used any more."""
        tree = self.state.config.tree
        if isinstance(tree, ChangedQueues):
            tree.dismantle()


def arrived(state: State, pods: Sequence[PodFacts]) -> Arrival:
    """Copy of the state with pods, at least one, that the first one's labels lead to one application.

    Their uids are not known to the ledger. No gang and no pod group is formed: each pod is an ask by itself.
    """
    tree = ArrivalQueues(state.config.tree)
    there = replace(
        state,
        outbox=[],
        config=replace(state.config, tree=tree),
        applications=replace(state.applications, resolving=set(state.applications.resolving)),
    )
    application = _application(there, pods)
    if application.queue is None:
        _place(there, tree, application)
    records = tuple(
        PodRecord(
            each,
            state.pods.arrivals + number,
            seen=Sighting(shown=each),
            membership=Membership(managed=True, classified=True, application=application.id),
        )
        for number, each in enumerate(pods, 1)
    )
    leaf = tree.own(application.queue) if application.queue is not None else None
    if leaf is not None:
        leaf.applications = leaf.applications | {application.id}
    there = replace(
        there,
        pods=replace(state.pods, records=_with(state.pods.records, {each.uid: each for each in records})),
        applications=replace(
            there.applications, known=_with(state.applications.known, {application.id: application})
        ),
    )
    asks = [each for each in records if each.is_ask]
    if leaf is not None and application.refusal is None:
        there = _with_asks(there, leaf, application, asks)
    return Arrival(there, application, records)


def _with(table: dict[_Key, _Value], more: Mapping[_Key, _Value]) -> dict[_Key, _Value]:
    """Copy of a table with more entries.

    A copy is made at once, also of a table from which entries were deleted. An unpacked one is filled anew.
    """
    copied = table.copy()
    copied.update(more)
    return copied


# -- the application -----------------------------------------------------------------------------------------


def _application(state: State, pods: Sequence[PodFacts]) -> Application:
    """Copy of the application that the pods join, or a new one (POD-3 to POD-5)."""
    first = pods[0]
    own = application_id(first, unique=unique_ids(state, first.namespace))
    known = state.applications.known.get(host_of(state, first, own))
    uids = {each.uid for each in pods}
    if known is None:
        made = _new_application(first, own)
        made.pods = uids
        return made
    twin = copy(known)
    twin.pods = known.pods | uids
    twin.asked = dict(known.asked)
    return twin


def _new_application(facts: PodFacts, app_id: AppId) -> Application:
    return Application(
        app_id,
        facts.queue,
        facts.namespace,
        facts.identity,
        submitted=facts.created,
        starts_at_once=facts.starts_at_once,
        definer=facts.uid,
    )


def _place(state: State, tree: "ArrivalQueues", application: Application) -> None:
    """Give an application its queue, or the refusal of the placement rules (PL-1 to PL-12)."""
    chosen = verdict_for(state, application, forced=False)
    if isinstance(chosen, Refusal):
        application.refusal = chosen
        return
    if chosen.create:
        tree.create_apart(chosen.create, state.cluster.namespaces.get(application.namespace))
    application.queue, application.refusal, application.passed_over = chosen.path, None, chosen.passed_over
    queue = tree.get(chosen.path)
    paths = queue.paths if queue is not None else ()
    application.group = state.config.limits.group_for(paths, application.groups or ())
    application.enter(AppState.ACCEPTED, now=state.now)


# -- the index -----------------------------------------------------------------------------------------------


def _with_asks(state: State, leaf: Queue, application: Application, asks: Sequence[PodRecord]) -> State:
    """State in which the asks are pending and no cycle has checked them."""
    seats: dict[PodUid, Seat] = {}
    tolerated = dict(state.usage.tolerated)
    for each in asks:
        facts = each.facts
        key = WaitingKey(leaf.path, facts.size, application.id, facts.constraints)
        seats[each.uid] = Seat(key, each.rank)
        tolerations = facts.constraints.tolerations
        tolerated[tolerations] = tolerated.get(tolerations, 0) + 1
        application.asked[facts.priority] = application.asked.get(facts.priority, 0) + 1
        for queue in leaf.chain:
            queue.pending.add(facts.size)
            queue.fresh.add(facts.size)
        ask_comes(leaf, facts.priority)
    pending, awaiting = state.pending, state.turns.awaiting.get(leaf.path, {})
    waiting = _with(pending.waiting, {leaf.path: _index_with(state, leaf, seats.values())})
    return replace(
        state,
        pending=replace(pending, waiting=waiting, waits_at=_with(pending.waits_at, seats)),
        turns=replace(
            state.turns,
            fresh=_with(state.turns.fresh, seats),
            awaiting=_with(state.turns.awaiting, {leaf.path: _with(awaiting, seats)}),
        ),
        usage=replace(state.usage, tolerated=tolerated),
    )


def _index_with(state: State, leaf: Queue, seats: Iterable[Seat]) -> PendingIndex:
    """Copy of the index of a leaf, with asks added to it. Cost: O(applications of the leaf)."""
    made, known = PendingIndex(), state.pending.waiting.get(leaf.path)
    if known is not None:
        made.by_application, made.sizes = dict(known.by_application), dict(known.sizes)
    copied = set[AppId]()
    for (_, size, app_id, constraints), rank in seats:
        if app_id not in copied:
            copied.add(app_id)
            lines = made.by_application.get(app_id, {})
            made.by_application[app_id] = {kind: waiting.copy() for kind, waiting in lines.items()}
        made.add(app_id, (size, constraints), rank)
    return made


# -- queues --------------------------------------------------------------------------------------------------


class ArrivalQueues(ChangedQueues):
    """Tree whose queues are copies. Some of them get counters of their own, or do not exist."""

    def __init__(self, base: QueueTree) -> None:
        super().__init__(base, NO_CHANGE)
        self._origin = base
        self.closures = base.closures

    def _changes(self, queue: Queue) -> bool:  # noqa: ARG002 - all queues alike
        """True: a queue may get counters of its own after it, or one below it, was read."""
        return True

    def made_below(self, path: QueuePath) -> int:
        """Number of dynamic queues whose nearest configured ancestor this is."""
        return self._origin.made_below(path)

    @property
    def made(self) -> int:
        """Number of dynamic queues in all, without the recovery queue."""
        return self._origin.made

    def own(self, path: QueuePath) -> Queue | None:
        """Queue of a path whose counters, and those above it, may be changed; None for an unknown one."""
        queue = self.get(path)
        for each in queue.chain if queue is not None else ():
            each.pending, each.fresh = each.pending.copy(), each.fresh.copy()
            each.asked, each.shown = dict(each.asked), dict(each.shown)
        return queue

    def create_apart(self, paths: Sequence[QueuePath], namespace: NamespaceFacts | None) -> None:
        """Create missing levels as `create` does, with the limits of a namespace on the last one (NS-5)."""
        above = self.get(parent_path(paths[0]) or "")
        if above is None:
            return
        above.children = dict(above.children)
        self._by_path = {each.path: each for each in above.chain}
        self._made = Counter()
        leaf = self.create(paths)
        if namespace is not None:
            self.limit(
                leaf,
                max=namespace.max,
                guaranteed=namespace.guaranteed,
                max_applications=namespace.max_applications,
            )
        self._copies.update({path: self._by_path[path] for path in paths})
