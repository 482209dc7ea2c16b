"""For pods of any size, no slice of a cycle and no verb does more than a fixed amount of work (F-17).

Work is counted and not timed. A step is a line or a call of Python, and takes up to 0.2 microseconds. The
slice in which an ordinary pod searches for a node to reserve has 36,000 steps.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from core.decisions.explain import explain
from core.decisions.preemption.planning import Planning
from core.ids import NO_NODE, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.workload.nodes.affinity import MOST_WEIGHED, UNREAD
from core.workload.nodes.free_capacity import LIGHT
from core.workload.pod import PodFacts
from extender.wire.translate import POD, pod_from
from tests.builders import START, filtered, make_ledger, make_node, make_queue
from tests.effort import effort
from tests.extender.hostile_pods import SHAPES, Shape, expressions, needing, pod_of

NODES = 100
PODS = 3

PER_SLICE = 60_000
PER_VERB = PER_EVENT = 30_000
PER_AUDIT_STEP = 150_000
PER_DECODING, PER_KILOBYTE = 30_000, 5_000
"""Bytes of a body that is decoded: it is read once, and little of it is checked."""


def cluster(count: int = NODES) -> Ledger:
    """Each node has a unique label, as real nodes do."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}), nodes=0)
    for at in range(count):
        node = replace(make_node(f"n{at}", cpu=4000), labels={"kubernetes.io/hostname": f"n{at}"})
        ledger.apply(on.ObjectObserved(on.NODES, node), now=START)
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START)
    return ledger


def _read(body: bytes) -> PodFacts:
    return pod_from(POD.decode(body))


def _explained(ledger: Ledger, uid: PodUid) -> object:
    record = ledger.view.pod(uid)
    return explain(ledger.view, record) if record is not None else None


def slices(ledger: Ledger, now: float) -> int:
    """The largest work of a slice, of all requested slices."""
    most = 0
    while ledger.view.cycle_wanted:
        most = max(most, effort(lambda: ledger.apply(on.CycleDue(), now=now)))
    return most


def every(calls: list[Callable[[], object]]) -> int:
    return max(effort(call) for call in calls)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_pod_that_says_much_costs_no_more_than_so_much(shape: Shape) -> None:
    bodies = [pod_of(at, **shape(at)) for at in range(PODS)]
    decoded = [partial(_read, each) for each in bodies]
    assert every(decoded) <= PER_DECODING + PER_KILOBYTE * len(bodies[0]) // 1024
    pods, ledger = [_read(each) for each in bodies], cluster()
    assert every([partial(ledger.apply, on.PodObserved(pod), now=START) for pod in pods]) <= PER_EVENT
    for at in (START, START + 3, START + 20):
        assert every([partial(filtered, ledger, pod.uid, now=at) for pod in pods]) <= PER_VERB
        assert every([partial(ledger.apply, on.TimePassed(), now=at)]) <= PER_EVENT
        assert slices(ledger, at) <= PER_SLICE
        assert every([partial(_explained, ledger, pod.uid) for pod in pods]) <= PER_VERB
    steps = ledger.audit_steps()
    assert every([partial(next, steps, None)] * 100) <= PER_AUDIT_STEP


@pytest.mark.parametrize(
    "name", ["31 terms of its own", "60 tolerations of its own", "a label selected of its own"]
)
def test_many_pods_of_which_each_wants_other_nodes(name: str) -> None:
    """A result about one pod is worth nothing for the next."""
    ledger = cluster()
    for at in range(12):
        ledger.apply(on.PodObserved(_read(pod_of(at, **SHAPES[name](at)))), now=START)
    for at in range(PODS):
        filtered(ledger, f"uid-{at}", now=START)
    assert slices(ledger, START) <= PER_SLICE
    assert every([partial(ledger.apply, on.TimePassed(), now=START + 3)]) <= PER_SLICE
    assert slices(ledger, START + 3) <= PER_SLICE


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_plan_for_a_pod_that_says_much(shape: Shape) -> None:
    ledger = cluster()
    pod = _read(pod_of(0, **shape(0)))
    ledger.apply(on.PodObserved(pod), now=START)
    planning = Planning(ledger.view, pod.uid, now=START + 60)
    while planning.result is None:
        assert effort(planning.slice) <= PER_SLICE


# -- what kube-scheduler judges alone ------------------------------


def unread_pod(number: int) -> on.PodObserved:
    terms = (expressions(f"k{at}") for at in range(MOST_WEIGHED + 1))
    return on.PodObserved(_read(pod_of(number, **needing(*terms))))


def test_a_pod_that_says_too_much_is_judged_by_its_queue_alone() -> None:
    """The pod gets its turn when its quota suffices, and no node is reserved for it."""
    ledger = cluster(1)
    for number in range(3):
        ledger.apply(unread_pod(number), now=START)
    facts = [ledger.view.pod(PodUid(f"uid-{number}")) for number in range(3)]
    assert all(each is not None and each.facts.constraints is UNREAD and each.facts.complex for each in facts)
    answers = [type(filtered(ledger, f"uid-{number}", now=START)).__name__ for number in range(3)]
    slices(ledger, START)
    turns = [turn.node for turn in ledger.view.turns.values()]
    assert (len(turns), set(turns)) == (2, {NO_NODE})
    assert answers == ["Refused"] * 3
    answers = [type(filtered(ledger, f"uid-{number}", now=START)).__name__ for number in range(3)]
    assert answers == ["Admitted", "Admitted", "Refused"]
    assert ledger.view.free_on(next(iter(ledger.view.nodes)))["vcore"] == 4000


def test_what_is_said_twice_counts_once() -> None:
    """Equal terms, expressions and values: all of it is read."""
    twice = [expressions("k", "k", values=3) for _ in range(MOST_WEIGHED)]
    once = _read(pod_of(0, **needing(expressions("k", values=3))))
    assert _read(pod_of(0, **needing(*twice))).constraints == once.constraints
    assert not once.constraints.unread


def test_a_search_that_does_not_end_at_once_goes_on_in_the_next_slice() -> None:
    """Only the last node fits, and each of the others must be checked."""
    ledger = cluster()
    needs = [expressions(f"k{at}") for at in range(LIGHT)] + [expressions("kubernetes.io/hostname", "kind")]
    last = replace(make_node("z", cpu=4000), labels={"kubernetes.io/hostname": "v0", "kind": "v0"})
    ledger.apply(on.ObjectObserved(on.NODES, last), now=START)
    slices(ledger, START)
    for at in range(PODS):
        ledger.apply(on.PodObserved(_read(pod_of(at, **needing(*needs)))), now=START)
    for at in range(PODS):
        filtered(ledger, f"uid-{at}", now=START)
    assert slices(ledger, START) <= PER_SLICE
    assert [turn.node for turn in ledger.view.turns.values()] == ["z", "z"]
    changed = replace(last, labels={})
    ledger.apply(on.ObjectObserved(on.NODES, changed), now=START)
    for at in range(PODS):
        ledger.apply(on.PodDeleted(PodUid(f"uid-{at}")), now=START)
    ledger.apply(on.PodObserved(_read(pod_of(PODS, **needing(*needs)))), now=START)
    slices(ledger, START)
    assert not ledger.view.turns, "that the node would do is no longer believed"
