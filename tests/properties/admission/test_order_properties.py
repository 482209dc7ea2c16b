"""Properties of the order: comparators, priorities after any history, fences, and permuted asks."""

from dataclasses import replace
from itertools import permutations
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.pods.record import PodRecord
from core.ledger.settings import LedgerSettings
from core.queues.ordering import Contender, first_of, goes_before
from core.queues.ordering import order_key as queue_key
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.queues.spec import NodeSortSpec, PartitionSpec
from core.resource import Resource
from core.workload.application import Application
from core.workload.nodes.ranking import NodeRanking, score_of
from core.workload.ordering import Applicant, order_key
from core.workload.states import AppState
from tests.builders import (
    START,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    woken,
)

QUICK = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
MIN, MAX = -(2**31), 2**31 - 1

# -- comparators ------------------------------

amounts = st.dictionaries(st.sampled_from(("memory", "pods", "vcore")), st.integers(0, 2), max_size=3)
contenders = st.builds(
    lambda priority, share, pending: Contender(
        QueuePath(""), queue_key(priority, share, by_priority=True), Resource(pending)
    ),
    st.integers(0, 1),
    st.sampled_from((0.0, 0.5)),
    amounts,
)


@pytest.mark.rule("SORT-1", "SORT-2")
@settings(QUICK, max_examples=500)
@given(st.tuples(contenders, contenders, contenders))
def test_queues_are_in_a_strict_order(three: tuple[Contender, Contender, Contender]) -> None:
    one, other, third = three
    assert not goes_before(one, one)
    assert not (goes_before(one, other) and goes_before(other, one))
    if goes_before(one, other) and goes_before(other, third):
        assert goes_before(one, third)


@settings(QUICK, max_examples=200)
@given(st.lists(contenders, min_size=1, max_size=5))
def test_the_first_of_queues_does_not_depend_on_the_order_of_sightings(drawn: list[Contender]) -> None:
    named = [each._replace(path=QueuePath(f"root.{at}")) for at, each in enumerate(drawn)]
    (first,) = {first_of(sorted(order, key=lambda each: each.path)) for order in permutations(named)}
    assert first is not None
    assert not any(goes_before(each, first) for each in named)


used = st.dictionaries(st.sampled_from(("memory", "vcore")), st.integers(-1, 2), max_size=2)


@st.composite
def applicants(draw: st.DrawFn) -> list[Applicant]:
    return [
        Applicant(
            AppId(f"app-{at}", "default"),
            draw(st.integers(0, 1)),
            float(draw(st.integers(0, 1))),
            AppState.RUNNING,
            Resource(draw(used)),
        )
        for at in range(draw(st.integers(1, 5)))
    ]


@pytest.mark.rule("SORT-5", "SORT-7")
@pytest.mark.parametrize("policy", SortPolicy)
@settings(QUICK, max_examples=60)
@given(applicants=applicants(), by_priority=st.booleans(), due=st.none() | amounts)
def test_applications_are_in_one_order_however_they_come(
    policy: SortPolicy, applicants: list[Applicant], by_priority: bool, due: dict[str, int] | None
) -> None:
    guaranteed = Resource(due) if due is not None else None
    keys = {
        each.id: order_key(each, policy, by_priority=by_priority, guaranteed=guaranteed)
        for each in applicants
    }
    assert len(set(keys.values())) == len(applicants)
    orders = {tuple(sorted(order, key=keys.__getitem__)) for order in permutations(keys)}
    assert len(orders) == 1


# -- priorities after any history ------------------------------

LEAVES = ("root.p.a", "root.p.b", "root.p.q.c", "root.d")
PARENTS = ("root.p", "root.p.q")
OFFSETS = ("0", "1", "-2", str(MAX), str(MIN))


@st.composite
def documents(draw: st.DrawFn) -> PartitionSpec:
    """Some of the queues, with offsets and fences."""
    leaves = [leaf for leaf in LEAVES if draw(st.integers(0, 4))]
    paths = [each for each in PARENTS if any(leaf.startswith(each + ".") for leaf in leaves)] + leaves
    specs = []
    for path in paths:
        policy, offset = draw(st.sampled_from(("default", "fence"))), draw(st.sampled_from(OFFSETS))
        specs.append(
            replace(
                make_queue(path, leaf=path in leaves),
                properties={"priority.policy": policy, "priority.offset": offset},
            )
        )
    return make_partition(*specs)


which = st.integers(0, 7)
happenings = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(LEAVES), st.sampled_from((MIN, MIN + 1, -5, 0, 0, 3, 7, MAX))),
    st.tuples(st.just("ask"), st.sampled_from(LEAVES), st.integers(-2, 2)),
    st.tuples(st.sampled_from(("place", "bind", "go")), which),
    st.tuples(st.just("reload"), documents()),
    st.tuples(st.just("clean")),
    st.tuples(st.just("wait"), st.sampled_from((2.0, 31.0))),
)


def happen(ledger: Ledger, what: tuple[object, ...], at: int, now: float) -> float:
    pods = sorted(record.uid for record in ledger.view.pods())
    match what:
        case ("ask", str(leaf), int(priority)):
            pod = make_pod(f"p{at:02}", queue=leaf, app=f"{leaf}-{at % 2}", priority=priority)
            ledger.apply(on.PodObserved(pod), now=now)
        case ("place" | "bind" | "go" as how, int(chosen)) if pods:
            uid = pods[chosen % len(pods)]
            if how == "place":
                filtered(ledger, uid, now=now)
            else:
                departure: on.Event = on.PodDeleted(uid) if how == "go" else on.PodBound(uid, NodeName("n1"))
                ledger.apply(departure, now=now)
        case ("reload", PartitionSpec() as document):
            if not ledger.view.conflicts(document):
                ledger.apply(on.Configured(document, LedgerSettings()), now=now)
        case ("clean",):
            ledger.apply(on.CleanerDue(), now=now)
        case ("wait", float(seconds)):
            now += seconds
            ledger.apply(on.TimePassed(), now=now)
    return now


def shown(ledger: Ledger, queue: Queue) -> int:
    """PRI-2 to PRI-4, computed from the pods alone."""
    view = ledger.view
    raw = max((shown(ledger, child) for child in queue.children.values()), default=MIN)
    for record in view.pods():
        if record.is_ask and record.admission.reservation is None and view.queue_of(record) is queue:
            raw = max(raw, record.facts.priority)
    own = queue.spec.properties if not queue.is_root else {}
    if raw == MIN or queue.is_root:
        return raw
    offset = int(own.get("priority.offset", "0"))
    return offset if own.get("priority.policy") == "fence" else max(MIN, min(MAX, raw + offset))


def asked_most(ledger: Ledger, application: Application) -> int:
    """PRI-2: the best of an application's asks that wait in a queue."""
    records = (ledger.view.pod(uid) for uid in application.pods)
    waiting = [
        each for each in records if each is not None and each.is_ask and each.admission.reservation is None
    ]
    placed = application.queue is not None
    return max((each.facts.priority for each in waiting if placed), default=MIN)


@pytest.mark.rule("PRI-2", "PRI-4", "PRI-5")
@settings(QUICK, max_examples=250)
@given(documents(), st.lists(happenings, min_size=5, max_size=30))
def test_priorities_are_what_a_full_recomputation_says(
    document: PartitionSpec, history: list[tuple[object, ...]]
) -> None:
    ledger, now = make_ledger(*document.queues[1:]), START
    for at, what in enumerate(history):
        now = happen(ledger, what, at, now)
        for queue in ledger.view.tree:
            assert queue.priority == shown(ledger, queue), (queue, what)
        for application in ledger.view.applications():
            assert max(application.asked, default=MIN) == asked_most(ledger, application), what


# -- turns, one slot at a time ------------------------------


def handed_out(ledger: Ledger, uids: list[PodUid]) -> list[str]:
    """The pods that are placed when capacity appears one core at a time, a node for each."""
    order: list[str] = []
    for at in range(len(uids)):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(f"slot{at:02}", cpu=1000)), now=START)
        woken(ledger, now=START)
        turns = [uid for uid in uids if ledger.view.has_turn(uid)]
        assert len(turns) == 1
        filtered(ledger, turns[0], now=START)
        ledger.apply(on.PodBound(turns[0], NodeName(f"slot{at:02}")), now=START)
        order += turns
    return order


Asks = list[tuple[str, int]]

OUTSIDE = ("root.p.b", "root.d")
INSIDE = ("root.p.f.x", "root.p.f.y")
asks = st.lists(st.tuples(st.sampled_from((*OUTSIDE, *INSIDE)), st.integers(0, 3)), min_size=3, max_size=9)


def fenced(asks: Asks, offsets: tuple[str, ...], outer: str, inside: list[int] | None) -> list[str]:
    """The order outside of a fenced queue, in which all pods inside count as equal.

    ``inside``: other priorities for the pods inside.
    """
    fence = {"priority.policy": "fence", "priority.offset": outer}
    ledger = make_ledger(
        make_queue("root.p", leaf=False),
        replace(make_queue("root.p.f", leaf=False), properties=fence),
        *(
            replace(make_queue(path), properties={"priority.offset": offset})
            for path, offset in zip(INSIDE, offsets, strict=True)
        ),
        *(make_queue(path) for path in OUTSIDE),
        nodes=0,
    )
    uids = []
    for at, (leaf, priority) in enumerate(asks):
        changed = inside[at] if inside is not None and leaf in INSIDE else priority
        # MIN cannot be distinguished from no ask (PRI-2).
        pod = make_pod(f"p{at:02}", queue=leaf, app=leaf, priority=max(changed, MIN + 1), created=START - at)
        ledger.apply(on.PodObserved(pod), now=START)
        uids.append(pod.uid)
    return [
        uid if asks[int(uid[-2:])][0] in OUTSIDE else "one of those inside"
        for uid in handed_out(ledger, uids)
    ]


@pytest.mark.rule("PRI-7")
@settings(QUICK, max_examples=120)
@given(
    asks,
    st.tuples(*(st.sampled_from(("0", "5", "-5")) for _ in INSIDE)),
    st.sampled_from(("0", "2", "-1")),
    st.lists(st.integers(-1000, 1000), min_size=9, max_size=9),
)
def test_nothing_inside_a_fence_changes_the_order_outside(
    asks: Asks, offsets: tuple[str, ...], outer: str, inside: list[int]
) -> None:
    assert fenced(asks, offsets, outer, inside) == fenced(asks, ("0", "0"), outer, None)


# -- the same asks, told in another order ------------------------------


class Arrangement(NamedTuple):
    """An order of leaves in the document, of asks, and of nodes."""

    leaves: list[str]
    asks: list[int]
    nodes: list[int]


def turns_of(
    asks: Asks, policies: dict[str, str], arrangement: Arrangement, cores: int
) -> list[tuple[str, str]]:
    """Asks that get a turn, in order and with their nodes, if the nodes are created after all asks."""
    ledger = make_ledger(
        make_queue("root.p", leaf=False),
        make_queue("root.p.f", leaf=False),
        *(
            replace(make_queue(path), properties={"application.sort.policy": policies[path]})
            for path in arrangement.leaves
        ),
        nodes=0,
    )
    for at in arrangement.asks:
        leaf, priority = asks[at]
        pod = make_pod(
            f"p{at:02}", cpu=500, queue=leaf, app=f"{leaf}-{at % 3}", priority=priority, created=START - at
        )
        ledger.apply(on.PodObserved(pod), now=START)
    for at in arrangement.nodes:
        ledger.apply(on.ObjectObserved(on.NODES, make_node(f"n{at}", cpu=500 * cores)), now=START)
    woken(ledger, now=START)
    return [(uid, turn.node) for uid, turn in ledger.view.turns.items()]


@settings(QUICK, max_examples=150)
@given(st.data(), asks, st.integers(1, 3))
def test_asks_get_the_same_turns_whatever_the_order_of_events(
    data: st.DataObject, asks: Asks, cores: int
) -> None:
    leaves = [*OUTSIDE, *INSIDE]
    policies = {path: data.draw(st.sampled_from(("fifo", "fair", "stateaware"))) for path in leaves}
    straight = Arrangement(leaves, list(range(len(asks))), [0, 1])
    shuffled = Arrangement(*(data.draw(st.permutations(each)) for each in straight))
    arrangement = turns_of(asks, policies, shuffled, cores)
    assert arrangement == turns_of(asks, policies, straight, cores)
    assert arrangement


# -- requests and nodes ------------------------------

ages = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=5)


@pytest.mark.rule("REQ-1", "REQ-2")
@settings(QUICK, max_examples=100)
@given(ages)
def test_requests_are_in_one_order_by_priority_age_and_arrival(facts: list[tuple[int, int]]) -> None:
    records = [
        PodRecord(make_pod(f"p{at}", priority=priority, created=float(created)), seq=at)
        for at, (priority, created) in enumerate(facts)
    ]
    wanted = sorted(range(len(facts)), key=lambda at: (-facts[at][0], facts[at][1], at))
    for order in permutations(records):
        assert [record.seq for record in sorted(order, key=lambda each: each.rank)] == wanted


uses = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5)


@pytest.mark.rule("NODE-1")
@settings(QUICK, max_examples=100)
@given(uses, st.sampled_from(("fair", "binpacking")), st.randoms(use_true_random=False))
def test_nodes_are_in_one_order_however_they_come(
    uses: list[tuple[int, int]], policy: str, chance: Random
) -> None:
    sort = NodeSortSpec(policy, {}, named=True)
    capacity = Resource({"vcore": 4, "memory": 4})
    scores = {
        NodeName(f"n{at}"): score_of(sort, capacity, {"vcore": 4 - cores, "memory": 4 - memory})
        for at, (cores, memory) in enumerate(uses)
    }
    ranking, names = NodeRanking(), list(scores)
    chance.shuffle(names)
    ranking.settle(sort, names, scores.__getitem__)
    for name in names:
        ranking.note_change(name)
        ranking.settle(sort, names, scores.__getitem__)
    assert list(ranking.among(frozenset(names))) == sorted(scores, key=lambda name: (scores[name], name))
