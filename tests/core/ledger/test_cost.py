"""Work of the ledger for each step of a pod's life, while forty asks wait in another queue.

The bounds are a fiftieth above what each step takes now, so that none grows unnoticed.
"""

from collections.abc import Callable
from functools import partial

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from tests.builders import START, bind_called, filtered, make_ledger, make_pod, make_queue, woken
from tests.effort import effort

MOST = {
    "shown": 1_297,
    "filtered": 1_963,
    "filtered again": 2_001,
    "refused": 641,
    "bound": 1_912,
    "gone": 900,
}


def busy_ledger() -> Ledger:
    ledger = make_ledger(
        make_queue("root.a", max={"vcore": 100_000}), make_queue("root.b", max={"vcore": 500}), nodes=3
    )
    for at in range(40):
        ledger.apply(on.PodObserved(make_pod(f"w{at}", queue="root.b", app=f"b{at % 5}")), now=START)
    ledger.apply(on.PodObserved(make_pod("beside")), now=START)
    filtered(ledger, "uid-beside", now=START)
    return ledger


def live(ledger: Ledger, name: str, now: float, take: Callable[[str, Callable[[], object]], object]) -> None:
    """The life of a pod, and the refusal of an ask beside it. ``take(name, step)``: called for each step."""
    pod, uid = make_pod(name), PodUid(f"uid-{name}")

    def bind() -> None:
        bind_called(ledger, uid, now=now)
        ledger.apply(on.PodBound(uid, NodeName("n1")), now=now)

    steps: dict[str, Callable[[], object]] = {
        "shown": lambda: ledger.apply(on.PodObserved(pod), now=now),
        "filtered": lambda: filtered(ledger, uid, now=now),
        "filtered again": lambda: filtered(ledger, uid, now=now),
        "refused": lambda: filtered(ledger, "uid-w0", now=now),
        "bound": bind,
        "gone": lambda: ledger.apply(on.PodDeleted(uid), now=now),
    }
    for step, call in steps.items():
        woken(ledger, now=now)
        take(step, call)
    woken(ledger, now=now)


def test_no_step_takes_more_work_than_now() -> None:
    ledger, found = busy_ledger(), dict[str, int]()
    # The first count of a step is higher than later ones.
    for at in range(3):
        live(ledger, f"p{at}", START + 10 * at, lambda each, call: found.update({each: effort(call)}))
    assert {step: steps for step, steps in found.items() if steps >= MOST[step]} == {}


def cost_of_a_cycle(queues: int) -> int:
    """Work of a cycle for an ask of one queue, after a pod of another has ended."""
    ledger = make_ledger(
        *(make_queue(f"root.q{at}", max={"vcore": 100_000}) for at in range(queues)), nodes=3
    )
    ledger.apply(on.PodObserved(make_pod("waits", queue="root.q1")), now=START)
    found = 0
    for at in range(2):
        ledger.apply(on.PodObserved(make_pod(f"p{at}", queue="root.q0", node="n1")), now=START + at)
        ledger.apply(on.PodDeleted(PodUid(f"uid-p{at}")), now=START + at)
        assert ledger.view.cycle_wanted
        found = effort(partial(woken, ledger, now=START + at))
    return found


def test_a_cycle_costs_the_same_however_many_queues_have_no_asks() -> None:
    assert cost_of_a_cycle(400) < 1.1 * cost_of_a_cycle(10)
