"""Pods that do not exist: how many would get their turn, and what the next one would wait for."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.decisions.arriving import ArrivalExplanation, explain_arrival
from core.decisions.explanation.values import Barrier, Remedy
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import RuleSpec
from core.queues.users.identity import Identity
from core.reasons import Code
from core.workload.pod import OWN_GATE, PodFacts
from tests.builders import START, make_gang, make_ledger, make_node, make_partition, make_pod, make_queue
from tests.core.decisions.explanation.scenes import BARRIERS, SCENES, cycled, limited, observed
from tests.picture import picture_of

A = "root.a"
ALICE = Identity("alice", ("dev",))


def new_pods(count: int = 1, **facts: object) -> list[PodFacts]:
    facts = {"app": "new", "created": START, "identity": ALICE, **facts}
    return [make_pod(f"new-{each}", **facts) for each in range(count)]  # type: ignore[arg-type]


def explained(ledger: Ledger, pods: Sequence[PodFacts]) -> ArrivalExplanation:
    steps = explain_arrival(ledger.view, pods, now=START)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: ArrivalExplanation = end.value
            return found


def code_of(found: ArrivalExplanation) -> str:
    assert found.first is not None
    return found.first.obstacles[0].code.value


def test_pods_that_fit_would_run_now() -> None:
    found = explained(make_ledger(make_queue(A)), new_pods(3))
    assert (found.queue, found.pods, found.placed, found.first) == (A, 3, 3, None)
    assert found.sentence == "each of the 3 pods would get its turn now"


@pytest.mark.parametrize(("cap", "placed"), [(500, 0), (1000, 1), (2500, 2), (3000, 3)])
def test_as_many_would_run_as_the_limit_leaves(cap: int, placed: int) -> None:
    found = explained(make_ledger(make_queue(A, max={"vcore": cap})), new_pods(3))
    assert found.placed == placed
    if placed < 3:
        assert found.first is not None
        (obstacle,) = found.first.obstacles
        assert obstacle.limit is not None
        assert (obstacle.limit.bound, obstacle.limit.short) == (cap, 1000 - (cap - placed * 1000))
        assert f"{A} may use" in found.sentence


def test_a_change_is_named_that_frees_the_next_one() -> None:
    ledger = make_ledger(make_queue(A, max={"vcore": 1000}))
    observed(ledger, "runs", node="n1", app="first")
    found = explained(cycled(ledger), new_pods())
    assert found.first is not None
    assert found.first.remedies is not None
    assert found.first.remedies.remedy is Remedy.FOUND
    assert found.first.obstacles[0].holders[0].name == "first"


def test_pods_that_wait_longer_go_first() -> None:
    ledger = make_ledger(make_queue(A, max={"vcore": 1000}))
    observed(ledger, "elder", app="elder", created=START - 60)
    found = explained(ledger, new_pods())
    assert found.placed == 0
    assert explained(ledger, new_pods(priority=5)).placed == 1


def test_an_application_that_runs_takes_the_pods_in() -> None:
    ledger = make_ledger(replace(make_queue(A), max_applications=1))
    observed(ledger, "runs", node="n1", app="first")
    assert code_of(explained(ledger, new_pods())) == Code.MAX_APPLICATIONS_REACHED
    assert explained(ledger, new_pods(app="first")).placed == 1


def test_limits_of_the_user_count() -> None:
    found = explained(make_ledger(limited("user", max=500)), new_pods())
    assert code_of(found) == Code.USER_QUOTA_EXCEEDED
    other = new_pods(identity=Identity("bob", ("ops",)))
    assert explained(make_ledger(limited("user", max=500)), other).placed == 1


def test_a_size_that_no_node_has_is_named() -> None:
    ledger = make_ledger(make_queue(A), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
    assert code_of(explained(ledger, new_pods(cpu=1500))) == Code.UNSCHEDULABLE
    assert explained(ledger, new_pods(4)).placed == 2


@pytest.mark.parametrize(
    ("queue", "code"), [("root.none", Code.PLACEMENT_FAILED), ("root.p", Code.QUEUE_NOT_LEAF)]
)
def test_a_queue_that_takes_no_application_is_named(queue: str, code: Code) -> None:
    ledger = make_ledger(make_queue(A), make_queue("root.p", leaf=False), make_queue("root.p.b"))
    found = explained(ledger, new_pods(queue=queue))
    assert (found.placed, found.queue, code_of(found)) == (0, None, code)


def test_a_queue_without_access_says_nothing_else() -> None:
    ledger = SCENES[Code.ACCESS_DENIED]()[0]
    found = explained(ledger, new_pods())
    assert code_of(found) == Code.ACCESS_DENIED
    assert found.first is not None
    assert len(found.first.obstacles) == 1


def test_a_dynamic_queue_is_only_made_in_the_copy() -> None:
    ledger = make_ledger(make_queue("root.p", leaf=False))
    partition = replace(
        make_partition(make_queue("root.p", leaf=False)),
        rules=(RuleSpec("user", create=True, parent=RuleSpec("fixed", value="root.p")),),
    )
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)
    before = len(ledger.view.tree)
    found = explained(ledger, new_pods(2, queue=""))
    assert (found.queue, found.placed) == ("root.p.alice", 2)
    assert len(ledger.view.tree) == before
    assert ledger.view.tree.get("root.p.alice") is None
    parent = ledger.view.tree.get("root.p")
    assert parent is not None
    assert not parent.children


def test_a_gang_is_played_as_its_placeholders() -> None:
    ledger = make_ledger(make_queue(A, max={"vcore": 3000}))
    found = explained(ledger, new_pods(gang=make_gang(4), task_group="g"))
    assert (found.pods, found.placed) == (4, 3)


@pytest.mark.parametrize("cpu", [500, 1000, 4000])
@pytest.mark.parametrize("scene", [*SCENES, *BARRIERS])
def test_as_many_get_their_turn_when_they_are_created(scene: Code | Barrier, cpu: int) -> None:
    make = SCENES[scene] if isinstance(scene, Code) else BARRIERS[scene]
    ledger, _ = make()
    created = new_pods(4, cpu=cpu, gates=(OWN_GATE,), created=START)
    found = explained(ledger, created)
    for each in created:
        ledger.apply(on.PodObserved(each), now=START)
    cycled(ledger)
    assert found.placed == sum(ledger.view.has_turn(each.uid) for each in created)


@pytest.mark.parametrize("code", SCENES)
def test_nothing_is_changed(code: Code) -> None:
    ledger, _ = SCENES[code]()
    before = picture_of(ledger)
    explained(ledger, new_pods(3))
    explained(ledger, [replace(each, uid=PodUid(f"b-{each.uid}"), app_id="app-1") for each in new_pods(2)])
    assert picture_of(ledger) == before
