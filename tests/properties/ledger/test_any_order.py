"""Filter, bind and the watch report pods in any order and repeatedly, and the charges are equal."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger import events as on
from core.ledger.ledger import Ledger
from tests.builders import START, bind_called, drifts, filtered
from tests.properties.ledger.history_world import NODES, QUICK, fresh, person, state_of

CALLS = ("offer", "observe", "filter", "bind", "bound", "observe bound")


@st.composite
def shuffled_calls(draw: st.DrawFn) -> list[tuple[str, int]]:
    """All events of two pods on their way to a node, in any order and with repetitions."""
    once = [(call, at) for call in CALLS for at in (0, 1)]
    repeats = draw(st.lists(st.sampled_from(once), max_size=12))
    return draw(st.permutations([*once, *repeats]))


def tell(ledger: Ledger, call: str, at: int) -> None:
    pod = replace(person(at), version=1)
    bound = replace(pod, version=2, node=NODES[0])
    match call:
        case "offer":
            ledger.apply(on.PodOffered(pod), now=START)
        case "observe":
            ledger.apply(on.PodObserved(pod), now=START)
        case "filter":
            filtered(ledger, pod.uid, now=START)
        case "bind":
            bind_called(ledger, pod.uid, NODES[0], now=START)
        case "bound":
            ledger.apply(on.PodBound(pod.uid, NODES[0]), now=START)
        case "observe bound":
            ledger.apply(on.PodObserved(bound), now=START)


@settings(QUICK, max_examples=250)
@given(calls=shuffled_calls())
def test_any_order_with_repeats_ends_in_the_same_charges(calls: list[tuple[str, int]]) -> None:
    shuffled, straight = fresh(), fresh()
    for call, at in calls:
        tell(shuffled, call, at)
        assert drifts(shuffled) == []
    for call in CALLS:
        for at in (0, 1):
            tell(straight, call, at)
    assert state_of(shuffled) == state_of(straight)
    assert shuffled.view.tree.root.allocated.get("pods") == 2
    assert len(shuffled.view.reserved) == 0
