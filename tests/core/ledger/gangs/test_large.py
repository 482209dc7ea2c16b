"""Gangs of thousands: the cost of one of their placeholders does not grow with the gang."""

from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder, Effect
from core.ledger.outcomes import CreationOutcome
from tests.builders import START, make_gang, make_ledger, make_pod, make_queue
from tests.effort import assert_linear


def played(members: int) -> None:
    """Every placeholder is requested, created and seen."""
    ledger = make_ledger(make_queue("root.a"))
    first = make_pod("m1", gang=make_gang(members), task_group="g")
    todo: list[Effect] = list(ledger.apply(on.PodObserved(first), now=START))
    made = 0
    while todo:
        effect = todo.pop()
        if isinstance(effect, CreatePlaceholder):
            made += 1
            shown = make_pod(
                effect.name, app=effect.app.name, placeholder=True, task_group="g", owner=first.uid
            )
            todo += ledger.apply(on.PodObserved(shown), now=START)
            created = on.PlaceholderCreated(effect.app, effect.name, CreationOutcome.DONE)
            todo += ledger.apply(created, now=START)
    assert made == members


def test_a_placeholder_of_a_large_gang_is_no_more_effort_than_one_of_a_small_gang() -> None:
    assert_linear(played, int, 300)
    played(2_000)
