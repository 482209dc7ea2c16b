"""Changes made in copies of a frozen world's ledger, as events would report them. No tests."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pickle import dumps, loads

from core.decisions.explanation.changes import BEYOND_ALL
from core.decisions.explanation.playing import resized, with_node_amount, with_raise, without
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.ledger.trial.change import NO_CHANGE, Change, Raise
from core.ledger.trial.changed_queues import raised_entry, raised_limit
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitKind
from core.queues.spec import LimitSpec, PartitionSpec, QueueSpec
from core.workload.nodes.matching import labels_for
from tests.builders import make_node
from tests.histories.explanation.frozen import run_cycles
from tests.properties.admission.turn_world import World


class Copies:
    """Copies of the ledger of a world that does not change any more."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._saved = dumps(world.ledger)

    def is_placed(self, uid: PodUid, change: Change) -> bool:
        """True if the pod has its turn once the change is made in a copy."""
        document = changed_document(self.world.document, change.raises)
        # An empty change is reported, too, so that a cycle runs.
        events: list[on.Event] = []
        if change.raises or change == NO_CHANGE:
            events.append(on.Configured(document, LedgerSettings()))
        events += map(on.PodDeleted, change.ended)
        if change.node is not None:
            events.append(on.ObjectObserved(on.NODES, change.node))
        return self._is_placed(uid, events)

    def is_placed_without_limits(self, uid: PodUid) -> bool:
        """True if the pod has its turn once its queues limit nothing, and a node is beyond all demand."""
        view = self.world.ledger.view
        record = view.pod(uid)
        assert record is not None
        leaf, labels = view.queue_of(record), labels_for(record.facts.constraints)
        huge = dict.fromkeys((*record.facts.size.names(), "vcore", "memory", "pods"), BEYOND_ALL)
        node = replace(resized(make_node("beyond-all"), huge), labels=labels or {})
        document = without_limits(self.world.document, leaf.paths if leaf is not None else ())
        events = on.Configured(document, LedgerSettings()), on.ObjectObserved(on.NODES, node)
        return self._is_placed(uid, events)

    def _is_placed(self, uid: PodUid, events: Iterable[on.Event]) -> bool:
        ledger: Ledger = loads(self._saved)  # noqa: S301 - made above
        for event in events:
            ledger.apply(event, now=self.world.now)
        run_cycles(ledger, now=self.world.now)
        placed = ledger.view.has_turn(uid)
        assert not placed or is_together(ledger.view, uid), f"{uid} has its turn without its pod group"
        return placed


def is_together(view: LedgerView, uid: PodUid) -> bool:
    """True unless the pod is of a group of which fewer members start than must (COS-3)."""
    record = view.pod(uid)
    group = view.unopened(record) if record is not None else None
    return group is None or group.held + sum(map(view.has_turn, group.phases)) >= group.min_available


def without_limits(document: PartitionSpec, paths: Collection[str]) -> PartitionSpec:
    """The document with some queues that limit nothing."""
    queues = (
        replace(each, max=None, max_applications=0, limits=()) if each.path in paths else each
        for each in document.queues
    )
    return replace(document, queues=tuple(queues))


def changed_document(document: PartitionSpec, raises: tuple[Raise, ...]) -> PartitionSpec:
    """The document with raised limits, as its author would write it."""
    queues = list(document.queues)
    for each in raises:
        at = next(number for number, spec in enumerate(queues) if spec.path == each.key.path)
        queues[at] = _raised(queues[at], each)
    return replace(document, queues=tuple(queues))


def _raised(spec: QueueSpec, raised: Raise) -> QueueSpec:
    if raised.key.kind is LimitKind.QUEUE:
        if not raised.key.resource:
            return replace(spec, max_applications=spec.max_applications + raised.by)
        assert spec.max is not None
        return replace(spec, max=raised_limit(spec.max, raised.key.resource, raised.by))
    named = _entry(spec.limits, raised)
    return replace(
        spec, limits=tuple(raised_entry(each, raised) if each is named else each for each in spec.limits)
    )


def _entry(entries: tuple[LimitSpec, ...], raised: Raise) -> LimitSpec:
    """The entry of a user: the one that names him, else the wildcard's (UGM-1)."""
    names = (raised.key.name, "*")
    of = (lambda each: each.users) if raised.key.kind is LimitKind.USER else (lambda each: each.groups)
    return next(each for name in names for each in entries if name in of(each))


def smaller(change: Change) -> list[Change]:
    """The change with one unit less of each component, without each ended pod, and without an empty node."""
    found = [with_raise(change, each.key, each.by - 1) for each in change.raises]
    if change.node is not None:
        amounts = change.node.allocatable.items()
        found += [with_node_amount(change, name, amount - 1) for name, amount in amounts if amount]
        if not any(amount for _, amount in amounts):
            found.append(replace(change, node=None))
    return found + [without(change, at) for at in range(len(change.ended))]
