"""Two instances watch the same gang and one acts, until the other takes over."""

from collections.abc import Callable

import pytest

from core.ids import NodeName, PodUid
from core.ledger import effects as do
from core.ledger import events as on
from core.ledger.effect_outcomes import outcome_of
from core.ledger.effects import Effect
from core.ledger.ledger import Ledger
from core.ledger.outcomes import Answer
from core.workload.gangs.phase import GangPhase
from tests.builders import make_gang, make_ledger, make_queue, usage
from tests.core.ledger.gangs.play import GangPlay

SEEN = on.PodObserved | on.PodDeleted | on.TimePassed


class Pair:
    """Two instances.

    ``world``: the cluster around the acting instance. The other one sees what the API server shows, and its
    effects are not carried out.
    """

    def __init__(self) -> None:
        self.world = GangPlay(make_ledger(make_queue("root.a")))
        self.standby = make_ledger(make_queue("root.a"))
        self._apply(on.ActingEnded())
        tell = self.world.tell

        def tell_both(event: on.Event) -> None:
            if isinstance(event, SEEN):
                self._apply(event)
            tell(event)

        self.world.tell = tell_both  # type: ignore[method-assign]

    def hold_back(self, *kinds: type[Effect]) -> None:
        """Neither perform nor answer these effects from now on, as if the instance died before them."""
        carry_out: Callable[..., None] = self.world._carry_out

        def only_others(effect: Effect, *, reached: bool) -> None:
            if not isinstance(effect, kinds):
                carry_out(effect, reached=reached)

        self.world._carry_out = only_others  # type: ignore[method-assign]

    def take_charge(self) -> GangPlay:
        """Let the other instance act after the death of the acting one."""
        world = GangPlay(self.standby, now=self.world.now)
        world.pods = self.world.pods
        world._version = self.world._version
        world.tell(on.ActingBegan())
        return world

    def _apply(self, event: on.Event) -> None:
        """Apply an event. Effects are not carried out, since the instance does not lead."""
        for effect in self._passed(event):
            outcome = outcome_of(effect, Answer.FAILED)
            if outcome is not None:
                self._apply(outcome)

    def _passed(self, event: on.Event) -> list[Effect]:
        now = self.world.now
        effects = [*self.standby.apply(event, now=now)]
        while self.standby.view.cycle_wanted:
            effects += self.standby.apply(on.CycleDue(), now=now)
        return effects


def members(world: GangPlay, count: int) -> list[str]:
    return [world.create(f"m{at}", gang=make_gang(count), task_group="g") for at in range(1, count + 1)]


@pytest.mark.rule("GANG-20")
@pytest.mark.parametrize(
    "dies_before",
    [
        (),
        (do.CreatePlaceholder,),
        (do.WriteRecord,),
        (do.DeletePod,),
        (do.NominateNode,),
        (do.NominateNode, do.WakePod),
    ],
    ids=["nothing", "creating", "writing", "deleting", "nominating", "waking"],
)
def test_a_gang_ends_as_it_would_have(dies_before: tuple[type[Effect], ...]) -> None:
    """Nothing that the other began is lost, and nothing is done twice."""
    pair = Pair()
    pair.hold_back(*dies_before)
    names = members(pair.world, 2)
    pair.world.bind_placeholders()
    world = pair.take_charge()
    world.bind_placeholders()
    for uid in names:
        world.bind(uid)
    assert world.placeholders() == []
    assert world.gang_progress().phase is GangPhase.STARTED
    assert world.counts() == [(2, 2, 0)]
    assert usage(world.ledger, "root.a") == (2000, 0, 0)


@pytest.mark.rule("GANG-20")
def test_the_standby_does_nothing_and_holds_no_pod_up() -> None:
    pair = Pair()
    names = members(pair.world, 2)
    pair.world.bind_placeholders()
    for uid in names:
        pair.world.bind(uid)
    assert _on_nodes(pair.standby, names) == {"n1"}
    assert usage(pair.standby, "root.a") == (2000, 0, 0)


def _on_nodes(ledger: Ledger, names: list[str]) -> set[NodeName]:
    records = [ledger.view.pod(PodUid(uid)) for uid in names]
    return {record.node for record in records if record is not None}
