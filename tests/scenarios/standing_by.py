"""Two instances of Paddock, one of which is a standby. A failover takes the place of a restart."""

from collections.abc import Callable

from core.ledger import events as on
from core.ledger.effect_outcomes import outcome_of
from core.ledger.effects import Effect
from core.ledger.outcomes import Answer
from extender.simulator.cluster.world import World
from extender.simulator.paddock import Life, Paddock


class Standby(Life):
    """A standby that learns the same events and may not act. Its effects end as in reality."""

    def __init__(self, world: World, after_effect: Callable[[str], None]) -> None:
        super().__init__(world, after_effect)
        self.acts = False

    def perform(self, effect: Effect) -> None:
        if self.acts:
            super().perform(effect)
            return
        outcome = outcome_of(effect, Answer.FAILED)
        if outcome is not None:
            self.engine.learn(outcome)

    def begin(self) -> None:
        """Begin to act, with the Lease."""
        self.acts = True
        self.engine.learn(on.ActingBegan())


class Pair(Paddock):
    """A pair of instances.

    After a restart of the acting instance the other one acts, which has learned the same events. A new
    standby starts.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.standby = self._new_standby()

    def _new_standby(self) -> Standby:
        life = Standby(self._world, self._count_effect)
        life.engine.learn(on.ActingEnded())
        life.start()
        return life

    def restart(self) -> None:
        self.read_changes()
        former, self.life = self.life, self.standby
        self.standby = self._new_standby()
        former.end()
        self.life.begin()

    def read_changes(self) -> bool:
        changes = [change for due, change in self._changes if due <= self._world.clock.now]
        for change in changes:
            self.standby.deliver(change)
        return super().read_changes()

    def run_effects(self) -> bool:
        busy = self.standby.run_effects()
        return super().run_effects() or busy

    def plan_time(self) -> None:
        super().plan_time()
        self.standby.plan_time()

    def configure(self) -> None:
        super().configure()
        self.standby.configure()
