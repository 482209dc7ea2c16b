"""Evictions and deletions by Paddock: their requests and their outcomes. See test_effector."""

from collections.abc import Callable

import pytest
from aiohttp import web

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import DeletePod, EvictPod
from core.ledger.outcomes import EvictionOutcome, Purpose
from extender.kube.effects.effector import ATTEMPTS
from tests.extender.fake_api import Request
from tests.extender.fake_objects import refusal
from tests.extender.kube.effects.effector_bench import PODS, Bench
from tests.extender.rigs import pod_body

POLICY_V1 = "policy/v1"
HIGH = PodUid("uid-high")
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

Make = Callable[..., EvictPod | DeletePod]


def evict(name: str = "p", uid: str = "uid-p") -> EvictPod:
    return EvictPod(PodUid(uid), "default", name, HIGH, "guarantee of root.a")


def delete(name: str = "p", uid: str = "uid-p", *, at_once: bool = False) -> DeletePod:
    return DeletePod(PodUid(uid), "default", name, at_once, HIGH, purpose=Purpose.VICTIM)


def eviction_ended(outcome: EvictionOutcome, uid: str = "uid-p") -> on.PodEvicted:
    return on.PodEvicted(PodUid(uid), outcome, Purpose.VICTIM, HIGH)


async def tried(bench: Bench, effect: EvictPod | DeletePod) -> None:
    async with bench.running():
        bench.effector.perform(effect)
        await bench.settled(1)


async def test_an_eviction_is_of_this_very_pod(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    await tried(bench, evict())
    (sent,) = bench.writes("POST")
    assert sent.path == f"{PODS}/p/eviction"
    assert sent.json == {
        "apiVersion": POLICY_V1,
        "kind": "Eviction",
        "metadata": {"name": "p", "namespace": "default"},
        "deleteOptions": {"preconditions": {"uid": "uid-p"}},
    }
    assert bench.api.find(PODS, "p") is None
    assert bench.learned == [eviction_ended(EvictionOutcome.DONE)]
    assert bench.outcomes == {("EvictPod", "done"): 1}


@pytest.mark.parametrize(("at_once", "grace"), [(False, {}), (True, {"gracePeriodSeconds": 0})])
async def test_a_deletion_is_of_this_very_pod(bench: Bench, at_once: bool, grace: dict[str, int]) -> None:
    bench.api.apply(PODS, pod_body("p"))
    await tried(bench, delete(at_once=at_once))
    (sent,) = bench.writes("DELETE")
    assert sent.path == f"{PODS}/p"
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "uid-p"}}
    assert sent.json == {**options, **grace}
    assert bench.api.find(PODS, "p") is None
    assert bench.learned == [eviction_ended(EvictionOutcome.DONE)]
    assert bench.outcomes == {("DeletePod", "done"): 1}


@pytest.mark.parametrize("make", [evict, delete])
async def test_another_pod_of_the_name_is_left_alone(bench: Bench, make: Make) -> None:
    bench.api.apply(PODS, pod_body("p"))
    await tried(bench, make(uid="uid-of-its-predecessor"))
    assert bench.api.find(PODS, "p") is not None
    assert bench.learned == [eviction_ended(EvictionOutcome.NOT_FOUND, "uid-of-its-predecessor")]
    assert bench.outcomes.keys() == {(type(make()).__name__, "object gone")}


@pytest.mark.parametrize("make", [evict, delete])
async def test_a_deleted_pod(bench: Bench, make: Make) -> None:
    await tried(bench, make())
    assert bench.learned == [eviction_ended(EvictionOutcome.NOT_FOUND)]


async def test_a_budget_that_forbids_it_is_an_answer(bench: Bench) -> None:
    """The eviction is not repeated here. The core chooses another victim, or tries again later."""
    bench.api.apply(PODS, pod_body("p"))
    bench.api.blocked_evictions.add("p")
    await tried(bench, evict())
    assert len(bench.writes("POST")) == 1
    assert bench.learned == [eviction_ended(EvictionOutcome.BUDGET)]
    assert bench.outcomes == {("EvictPod", "budget"): 1}


async def test_a_pod_of_two_budgets_is_forbidden_too(bench: Bench) -> None:
    """The API server answers 500 with nothing but a text; a repetition would be useless."""

    async def several(_: Request) -> web.Response:
        return refusal(500, SEVERAL)

    bench.api.break_next(several, method="POST", times=ATTEMPTS)
    await tried(bench, evict())
    assert len(bench.writes("POST")) == 1
    assert bench.learned == [eviction_ended(EvictionOutcome.BUDGET)]


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize(("make", "method"), [(evict, "POST"), (delete, "DELETE")])
async def test_a_server_that_is_overloaded_is_asked_again(
    bench: Bench, make: Make, method: str, status: int
) -> None:
    """A 429 without the cause is API priority and fairness, no budget."""
    bench.api.apply(PODS, pod_body("p"))
    bench.api.fail_next(status, method=method, times=2)
    await tried(bench, make())
    assert len(bench.writes(method)) == 3
    assert bench.pauses == [0.2, 0.4]
    assert bench.learned == [eviction_ended(EvictionOutcome.DONE)]


async def test_a_budget_met_after_trouble(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    bench.api.blocked_evictions.add("p")
    bench.api.fail_next(429, method="POST")
    await tried(bench, evict())
    assert len(bench.writes("POST")) == 2
    assert bench.learned == [eviction_ended(EvictionOutcome.BUDGET)]


@pytest.mark.parametrize(("make", "method"), [(evict, "POST"), (delete, "DELETE")])
async def test_trouble_without_end_has_failed(bench: Bench, make: Make, method: str) -> None:
    bench.api.apply(PODS, pod_body("p"))
    bench.api.fail_next(503, method=method, times=100)
    await tried(bench, make())
    assert len(bench.writes(method)) == ATTEMPTS
    assert bench.learned == [eviction_ended(EvictionOutcome.FAILED)]
    assert bench.outcomes.keys() == {(type(make()).__name__, "failed")}


async def test_a_missing_permission_has_failed_at_once(bench: Bench) -> None:
    bench.api.fail_next(403, method="POST", times=100)
    await tried(bench, evict())
    assert len(bench.writes("POST")) == 1
    assert bench.learned == [eviction_ended(EvictionOutcome.FAILED)]


async def test_a_lost_reply_is_not_taken_for_a_second_victim(bench: Bench) -> None:
    """The repetition names the same UID. It finds the pod terminating or deleted, and affects no other."""
    bench.api.apply(PODS, pod_body("p"))
    bench.api.lose_next_reply(method="POST")
    await tried(bench, evict())
    assert [each.json["deleteOptions"] for each in bench.writes("POST")] == [
        {"preconditions": {"uid": "uid-p"}}
    ] * 2
    assert bench.learned == [eviction_ended(EvictionOutcome.NOT_FOUND)]


@pytest.mark.parametrize("make", [evict, delete])
async def test_an_instance_that_does_not_lead_evicts_no_pod(bench: Bench, make: Make) -> None:
    bench.api.apply(PODS, pod_body("p"))
    bench.leading = False
    await tried(bench, make())
    assert bench.api.requests == []
    assert bench.learned == [eviction_ended(EvictionOutcome.FAILED)]
    assert bench.outcomes.keys() == {(type(make()).__name__, "not leading")}


async def test_a_lease_lost_meanwhile_spares_the_pods_that_still_wait(bench: Bench) -> None:
    for name in ("p", "q"):
        bench.api.apply(PODS, pod_body(name))
        bench.effector.perform(evict(name, f"uid-{name}"))
    bench.leading = False
    async with bench.running():
        await bench.settled(2)
    assert bench.api.requests == []
    assert bench.learned == [eviction_ended(EvictionOutcome.FAILED, f"uid-{name}") for name in "pq"]
