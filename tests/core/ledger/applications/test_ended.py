"""Ended applications: how many are shown, and how much memory they may take (APP-5, F-22)."""

import tracemalloc

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.applications.lifecycle import COMPLETING_FOR
from core.ledger.ledger import Ledger
from core.ledger.state.applications import TERMINATED_AT_MOST, TERMINATED_TEXT
from core.queues.users.identity import Identity
from tests.builders import START, make_ledger, make_pod, make_queue

LONG = 200_000
"""Characters of an annotation; the API server takes 256 KB of them."""

PER_APPLICATION = 3_500
"""Bytes of a small application in the ledger."""


def end(ledger: Ledger, app: str, *, at: int, **facts: object) -> None:
    pod = make_pod(f"p{at}", app=app, node="n1", **facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START + at)
    ledger.apply(on.PodDeleted(PodUid(f"uid-p{at}")), now=START + at)


def ended(ledger: Ledger, app: str) -> bool:
    return ledger.view.identities.ended(app) is not None


@pytest.mark.rule("APP-5")
@pytest.mark.parametrize("said", ["groups", "user", "id", "queue"])
def test_those_that_say_very_much_are_forgotten_oldest_first(said: str) -> None:
    ledger = make_ledger(make_queue("root.a"))
    count = TERMINATED_TEXT // LONG + 2
    for at in range(count):
        text = f"{at}-" + "x" * LONG
        facts: dict[str, object] = {}
        match said:
            case "groups":
                facts["identity"] = Identity("alice", (text,))
            case "user":
                facts["identity"] = Identity(text)
            case "queue":
                facts["queue"] = f"root.{text}"
        end(ledger, text if said == "id" else f"app-{at}", at=at, **facts)
    ledger.apply(on.TimePassed(), now=START + count + COMPLETING_FOR)
    first, last = ((f"{at}-" + "x" * LONG if said == "id" else f"app-{at}") for at in (0, count - 1))
    assert (ended(ledger, first), ended(ledger, last)) == (False, True)


def test_the_memory_of_those_that_say_little() -> None:
    """An application that ends after `TERMINATED_AT_MOST` others takes the place of the oldest."""
    ledger = make_ledger(make_queue("root.a"))
    tenth = TERMINATED_AT_MOST // 10
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for at in range(tenth):
            end(ledger, f"app-{at}", at=0, uid=f"uid-p{at}")
            ledger.apply(on.PodDeleted(PodUid(f"uid-p{at}")), now=START)
        ledger.apply(on.TimePassed(), now=START + COMPLETING_FOR)
        ledger.apply(on.TimePassed(), now=START + 2_000.0)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert ended(ledger, "app-0")
    assert after - before <= tenth * PER_APPLICATION
