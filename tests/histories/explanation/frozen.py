"""Worlds that are frozen at one moment, in which pods wait, for random states of explanations. No tests."""

from dataclasses import replace
from random import Random

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.workload.nodes.node import NodeFacts
from tests.builders import bind_called, filtered
from tests.histories.ordering import document, nodes
from tests.properties.admission.turn_world import LEAVES, USERS, ZONES, World, picked

MOST_CYCLES = 100
"""Slices of cycles at one time. Histories of 300 seeds took four at most."""


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
    """Run cycles until none is wanted. Raises AssertionError if there is no end of them."""
    for _ in range(MOST_CYCLES):
        if not ledger.view.cycle_wanted:
            return
        ledger.apply(on.CycleDue(), now=now)
    raise AssertionError(f"more than {MOST_CYCLES} cycles at one time")
