"""Histories of explanations: a change that is said to free a pod does so, and less than that does not.

A random state is frozen. For each pod that waits, every change of its explanation is made in a copy of the
ledger. The events that would report the change are applied, and cycles run at the same moment. The pod has
its turn then. With one unit less of any component, or without one of the ended pods, it has none.
"""

from collections import Counter
from dataclasses import replace
from pickle import dumps, loads
from random import Random
from unittest.mock import patch

from core.decisions.explanation import phrases, playing
from core.decisions.explanation.changes import find_changes
from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.obstacles import obstacles_of
from core.decisions.explanation.playing import with_node_amount, with_raise, without
from core.decisions.explanation.values import Barrier, Remedies, Remedy
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.ledger.trial.change import Change, Raise
from core.ledger.trial.changed_queues import raised_entry, raised_limit
from core.queues.limit_state import LimitKind
from core.queues.spec import LimitSpec, PartitionSpec, QueueSpec
from core.reasons import Code
from core.workload.nodes.node import NodeFacts
from tests.builders import bind_called, filtered
from tests.histories.explanation.kinds import Kinds
from tests.histories.ordering import document, nodes
from tests.properties.admission.turn_world import LEAVES, USERS, ZONES, World, picked

FOUND: Counter[str] = Counter()
"""Outcomes of all searches so far, for the share of those that found nothing."""

EVERY: tuple[Code | Barrier, ...] = (*Code, *Barrier)
REACHED: Counter[Code | Barrier] = Counter()
"""Obstacles of all pods so far that were explained."""

VARIED = 3
"""Number of states of which one, on average, has pods of all kinds, such as members of gangs."""

BUDGET = 200_000
"""Units of work of one search. The states are small, so only the search itself can fail."""


def share_of_none() -> float:
    """Share of the searches that found nothing, among those that had something to find."""
    none = FOUND[Remedy.NONE_FOUND]
    return none / max(1, none + FOUND[Remedy.FOUND])


def figures() -> str:
    """Outcomes of the searches that this process has made so far."""
    counts = ", ".join(f"{count} {name}" for name, count in sorted(FOUND.items()))
    missing = [each.value for each in EVERY if not REACHED[each]]
    reached = f"{len(EVERY) - len(missing)} of {len(EVERY)} obstacles reached"
    lacks = f", not {', '.join(missing)}" if missing else ""
    return f": {counts}; share of none found {share_of_none():.1%}; {reached}{lacks}"


class Frozen(World):
    """A world in which pods wait, at one moment."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        policy = chance.choice(("", "", "fifo", "fair", "stateaware"))
        super().__init__([document(chance, policy) for _ in range(2)], _nodes(chance))

    def prepare(self) -> None:
        """Let pods come, get their turns, run and end."""
        for _ in range(self.chance.randint(1, 4)):
            for _ in range(self.chance.randint(1, 4)):
                self.some_asks()
            for _ in range(self.chance.randint(0, 9)):
                self.happens(self.chance.choice(("come", "come", "bind", "bind", "delete", "wait")))
        if self.chance.random() < 0.8:
            run_cycles(self.ledger, now=self.now)

    def some_asks(self) -> None:
        chance = self.chance
        cpu, memory = chance.choice((500, 1000, 1000, 2000, 3500)), chance.choice((0, 0, 0, 1, 3))
        where = chance.choice(LEAVES), chance.choice(USERS), chance.randrange(2)
        how = chance.randint(-1, 3), chance.randint(0, 4), chance.choice(ZONES)
        for _ in range(chance.choice((1, 1, 2, 3, 4))):
            self.ask(*where, cpu, memory, *how)

    def happens(self, what: str) -> None:
        match what:
            case "come":
                for _ in range(3):
                    self.come()
            case "bind":
                for uid in picked(sorted(self.ledger.view.reserved), self.chance.randrange(9)):
                    self.bind(uid)
            case _:
                self.step((what, 1.0 if what == "wait" else self.chance.randrange(10)))

    def come(self) -> None:
        """Call filter for a pod, with a turn or without."""
        run_cycles(self.ledger, now=self.now)
        turns = [uid for uid in self.pending if self.ledger.view.has_turn(uid)]
        for uid in picked(turns or self.pending, self.chance.randrange(10)):
            filtered(self.ledger, uid, now=self.now)

    def bind(self, uid: PodUid) -> None:
        record = self.ledger.view.pod(uid)
        assert record is not None
        node = record.admission.noted or self.chance.choice(sorted(self.ledger.view.nodes))
        bind_called(self.ledger, uid, node, now=self.now)
        self.ledger.apply(on.PodBound(uid, node), now=self.now)  # type: ignore[arg-type]


def _nodes(chance: Random) -> list[NodeFacts]:
    """Nodes that are small, or large enough for limits to bind first."""
    factor = chance.choice((1, 1, 4))
    return [replace(each, allocatable=each.allocatable.times(factor)) for each in nodes(chance)]


def run_cycles(ledger: Ledger, *, now: float) -> None:
    """Run cycles until none is wanted."""
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=now)


# -- making a change -----------------------------------------------------------------------------------------


def is_placed(world: World, uid: PodUid, change: Change) -> bool:
    """True if the pod has its turn once the change is made in a copy of the ledger."""
    ledger = loads(dumps(world.ledger))  # noqa: S301 - made above
    if change.raises:
        changed = changed_document(world.document, change.raises)
        ledger.apply(on.Configured(changed, LedgerSettings()), now=world.now)
    for each in change.ended:
        ledger.apply(on.PodDeleted(each), now=world.now)
    if change.node is not None:
        ledger.apply(on.ObjectObserved(on.NODES, change.node), now=world.now)
    if change == Change():
        ledger.apply(on.Configured(world.document, LedgerSettings()), now=world.now)
    run_cycles(ledger, now=world.now)
    return ledger.view.has_turn(uid)


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
    """The change with one unit less of each component, and without each of the ended pods."""
    found = [with_raise(change, each.key, each.by - 1) for each in change.raises]
    if change.node is not None:
        amounts = change.node.allocatable.items()
        found += [with_node_amount(change, name, amount - 1) for name, amount in amounts if amount]
    return found + [without(change, at) for at in range(len(change.ended))]


# -- one history ---------------------------------------------------------------------------------------------


def remedies_of(world: World, uid: PodUid) -> Remedies:
    """The search for changes, at once."""
    view = world.ledger.view
    record = view.pod(uid)
    assert record is not None
    obstacles, survey = _result(obstacles_of(view, record, now=world.now))
    return _result(find_changes(view, record, obstacles, survey))


def _result(steps):  # type: ignore[no-untyped-def]
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def explain_all(world: World) -> None:
    """Explain every pod, of which most do not wait for a turn, and note what holds it."""
    for record in list(world.ledger.view.pods()):
        found = explain_at_once(world.ledger.view, record.uid, now=world.now)
        assert found is not None
        REACHED.update(each.code for each in found.obstacles)
        assert phrases.verdict_on(found)


def check(world: World, uid: PodUid) -> None:
    """Check every change of one pod's explanation."""
    found = remedies_of(world, uid)
    FOUND[found.remedy] += 1
    if found.remedy is Remedy.NOTHING:
        assert is_placed(world, uid, Change()), f"{uid} has no turn without a change\n{world.trace()}"
    for change in found.changes:
        FOUND["ended" if change.ended else "node" if change.node else "raises"] += 1
        assert is_placed(world, uid, change), f"{uid} has no turn with {change}\n{world.trace()}"
        for less in smaller(change):
            assert not is_placed(world, uid, less), f"{uid} has its turn with {less}\n{world.trace()}"


def play(seed: int) -> None:
    """Play one history. Raises AssertionError with the seed and the state."""
    chance = Random(seed)
    world = Frozen(chance)
    with patch.object(playing, "UNITS_AT_MOST", BUDGET):
        world.prepare()
        varied = Random(f"kinds {seed}")
        if varied.randrange(VARIED) == 0:
            Kinds(world, varied).happen(lambda: run_cycles(world.ledger, now=world.now))
            explain_all(world)
        waiting = [uid for uid in world.pending if not world.ledger.view.has_turn(uid)]
        for uid in chance.sample(waiting, min(3, len(waiting))):
            try:
                check(world, uid)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from None
