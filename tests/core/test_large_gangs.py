"""Gangs of thousands: what one of their placeholders costs does not grow with the gang."""

import time

from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder, Effect
from core.ledger.outcomes import CreationOutcome
from tests.builders import START, make_gang, make_ledger, make_pod, make_queue

MEMBERS = 2_000


def test_the_placeholders_of_a_large_gang_are_asked_for_in_less_than_two_seconds() -> None:
    ledger = make_ledger(make_queue("root.a"))
    first = make_pod("m1", gang=make_gang(MEMBERS), task_group="g")
    todo: list[Effect] = list(ledger.apply(on.PodObserved(first), now=START))
    began, made = time.perf_counter(), 0
    while todo:
        effect = todo.pop()
        if isinstance(effect, CreatePlaceholder):
            made += 1
            shown = make_pod(effect.name, app=effect.app, placeholder=True, task_group="g", owner=first.uid)
            todo += ledger.apply(on.PodObserved(shown), now=START)
            created = on.PlaceholderCreated(effect.app, effect.name, CreationOutcome.DONE)
            todo += ledger.apply(created, now=START)
    assert made == MEMBERS
    assert time.perf_counter() - began < 2
