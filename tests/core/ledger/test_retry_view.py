"""Filter calls for pods with a reservation: decided as without it, and without a change of any index."""

from collections.abc import Iterator
from copy import deepcopy

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from core.decisions.admission import decide_admission
from core.decisions.decision import Admitted, Refused
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.state.timers import TimerKind
from core.queues.spec import PartitionSpec
from core.workload.ask import Reservation
from core.workload.nodes.node import NodeFacts
from tests.builders import (
    START,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    usage,
    woken,
)
from tests.properties.admission.turn_world import QUICK, World, clusters, documents, steps

UID = PodUid("uid-pod")


def facts_in(value: object, path: str = "", seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, str]]:
    """Every value below an object, by its path; nothing twice on one path."""
    if id(value) in seen:
        return
    seen |= {id(value)}
    names = [
        *getattr(value, "__dict__", ()),
        *(n for c in type(value).__mro__ for n in vars(c).get("__slots__", ())),
    ]
    if isinstance(value, dict):
        yield path, f"{len(value)} keys in order"
        for at, (key, each) in enumerate(value.items()):
            yield f"{path}#{at}", repr(key)
            yield from facts_in(each, f"{path}[{key}]", seen)
    elif isinstance(value, list | tuple):
        yield path, f"{len(value)} values"
        for at, each in enumerate(value):
            yield from facts_in(each, f"{path}[{at}]", seen)
    elif names and not callable(value):
        for name in names:
            yield from facts_in(getattr(value, name, None), f"{path}.{name}", seen)
    elif not callable(value):
        yield path, repr(sorted(value, key=repr) if isinstance(value, set | frozenset) else value)


def changed(ledger: Ledger, *events: on.Event, now: float) -> set[str]:
    """Paths of all that a view shows differently after events."""
    before = dict(facts_in(ledger.view))
    for each in events:
        ledger.apply(each, now=now)
    after = dict(facts_in(ledger.view))
    return {
        path.removeprefix("._state")
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }


@pytest.fixture
def ledger() -> Ledger:
    """A pod that was admitted by its turn, beside one that waits."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1500}), make_queue("root.b"), nodes=0)
    ledger.apply(on.PodObserved(make_pod("other", app="other", priority=-1)), now=START)
    ledger.apply(on.PodObserved(make_pod()), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=8000)), now=START)
    woken(ledger, now=START)
    assert isinstance(filtered(ledger, UID, now=START), Admitted)
    woken(ledger, now=START)
    return ledger


def test_a_retry_changes_no_index_and_requests_no_cycle(ledger: Ledger) -> None:
    ledger.apply(on.PodDeleted(PodUid("uid-other")), now=START)
    woken(ledger, now=START)
    verdict = decide_admission(ledger.view, UID, now=START + 1)
    assert isinstance(verdict, Admitted)
    assert len(verdict.events) == 1
    paths = changed(ledger, *verdict.events, now=START + 1)
    of_pod = f".pods.records[{UID}].admission.reservation"
    its_timer = f".timers.due[({TimerKind.RESERVATION!r}, {UID!r})]"
    # The list of settled pods is for readers outside the ledger, and has no effect inside.
    called = f".pods.records[{UID}].admission.called_at"
    notes = ".now", ".turns.asked_at", ".turns.came_round", called, ".pods.settled"
    own = of_pod, its_timer, f".timers.heaps[{int(TimerKind.RESERVATION)}]", *notes
    assert {path for path in paths if not path.startswith(own)} == set()
    assert f"{of_pod}.running_since" in paths
    assert not ledger.view.cycle_wanted


def test_a_retry_begins_the_time_of_the_reservation_anew(ledger: Ledger) -> None:
    ledger.apply(on.PodDeleted(PodUid("uid-other")), now=START)
    filtered(ledger, UID, now=START + 20)
    ledger.apply(on.TimePassed(), now=START + 49)
    assert usage(ledger, "root.a") == (0, 1000, 0)
    assert reservation(ledger) == Reservation(30.0, START + 20, 1)


def test_a_retry_waits_for_its_turn_where_another_pod_may_want_the_capacity(ledger: Ledger) -> None:
    refused = filtered(ledger, UID, now=START + 1)
    assert isinstance(refused, Refused)
    assert refused.refusal.text == "WaitingForTurn: root.a"
    assert usage(ledger, "root.a") == (0, 0, 2000)
    assert woken(ledger, now=START + 1) == [UID]


def test_a_retry_over_a_lowered_max_is_refused(ledger: Ledger) -> None:
    partition = make_partition(make_queue("root.a", max={"vcore": 900}))
    ledger.apply(on.Configured(partition, ledger.view.settings), now=START)
    refused = filtered(ledger, UID, now=START + 1)
    assert isinstance(refused, Refused)
    assert refused.refusal.text == "QuotaExceeded: root.a max vcore=900m"


def reservation(ledger: Ledger) -> Reservation | None:
    record = ledger.view.pod(UID)
    assert record is not None
    return record.admission.reservation


# -- as if it held none ------------------------------


@settings(QUICK, max_examples=120)
@given(
    st.tuples(documents(("", "fair", "stateaware")), documents(("", "fair", "stateaware"))),
    clusters(),
    st.lists(steps, min_size=10, max_size=40),
)
def test_a_retry_is_answered_as_if_the_reservation_had_ended_before(
    documents: tuple[PartitionSpec, PartitionSpec], nodes: list[NodeFacts], history: list[tuple[object, ...]]
) -> None:
    world = World(list(documents), nodes)
    for step in history:
        world.step(step)
        for uid in sorted(world.ledger.view.reserved):
            compare(world, uid)
        if step[0] in ("delete", "wait", "ask"):
            world.run_passes()


def compare(world: World, uid: PodUid) -> None:
    names = tuple(world.ledger.view.nodes)
    answer = decide_admission(world.ledger.view, uid, now=world.now, offered=lambda: names)
    ended = deepcopy(world.ledger)
    ended.apply(on.FilterCalled(uid), now=world.now)
    expected = decide_admission(ended.view, uid, now=world.now, offered=lambda: names)
    assert summary(answer) == summary(expected), world.trace()
    event(f"retry: {summary(answer)[0]}")


def summary(answer: object) -> tuple[object, ...]:
    match answer:
        case Admitted(_, besides):
            return "admitted", besides
        case Refused(refusal, sent):
            return refusal.code, refusal, sent
        case _:
            return (answer,)
