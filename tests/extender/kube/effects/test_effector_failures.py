"""Failed effects: which results count as failures, and their reports."""

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import NominateNode, WakePod, WriteRecord
from core.ledger.outcomes import Purpose
from extender.kube.effects import effector as module
from extender.kube.effects.effector import ATTEMPTS, REPORTED_EVERY
from tests.extender.fake_api import Request
from tests.extender.fake_objects import refusal
from tests.extender.kube.effects.effector_bench import PODS, Bench
from tests.extender.rigs import pod_body

UID = PodUid("uid-p")
NOMINATION = NominateNode(UID, "default", "p", NodeName("n1"), Purpose.NODE_RESERVATION)
BOUND = "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"


async def _invalid(_: Request) -> object:
    return refusal(422, BOUND, reason="Invalid")


def _pod(uid: str, node: str) -> dict[str, object]:
    body = pod_body("p", uid=uid)
    body["spec"]["nodeName"] = node
    return body


@pytest.mark.parametrize(
    "there",
    [_pod("uid-p", "n2"), _pod("uid-of-its-successor", ""), None],
    ids=["bound meanwhile", "another one", "gone"],
)
async def test_a_nomination_that_comes_too_late_is_no_failure(
    bench: Bench, there: dict[str, object] | None
) -> None:
    """kube-scheduler has bound the pod during the nomination, so no report is needed."""
    if there is not None:
        bench.api.apply(PODS, there)
    bench.api.break_next(_invalid, method="PATCH")
    async with bench.running():
        bench.effector.perform(NOMINATION)
        await bench.settled(1)
    assert bench.outcomes == {("NominateNode", "object gone"): 1}
    assert bench.learned == [on.NodeNominated(UID, NodeName("n1"), False, Purpose.NODE_RESERVATION)]
    assert bench.reports == []


async def test_another_refusal_of_a_nomination_is_a_failure(bench: Bench) -> None:
    bench.api.apply(PODS, _pod("uid-p", ""))
    bench.api.break_next(_invalid, method="PATCH")
    async with bench.running():
        bench.effector.perform(NOMINATION)
        await bench.settled(1)
    assert bench.outcomes == {("NominateNode", "failed"): 1}
    assert bench.reports == [("NominateNode", "default", "p", f"422 Invalid: {BOUND}")]


async def test_an_unreadable_pod_leaves_open_whether_it_is_too_late(bench: Bench) -> None:
    bench.api.apply(PODS, _pod("uid-p", "n2"))
    bench.api.break_next(_invalid, method="PATCH")
    bench.api.fail_next(403, method="GET")
    async with bench.running():
        bench.effector.perform(NOMINATION)
        await bench.settled(1)
    assert bench.outcomes == {("NominateNode", "failed"): 1}


@pytest.mark.parametrize(("status", "attempts"), [(403, 1), (500, ATTEMPTS)])
async def test_the_reason_of_a_failed_effect_is_reported(bench: Bench, status: int, attempts: int) -> None:
    bench.api.apply(PODS, pod_body("p"))
    bench.api.fail_next(status, method="PATCH", times=attempts)
    async with bench.running():
        bench.effector.perform(WakePod(UID, "default", "p", "1"))
        await bench.settled(1)
    assert len(bench.writes()) == attempts
    assert bench.outcomes == {("WakePod", "failed"): 1}
    ((*what, why),) = bench.reports
    assert what == ["WakePod", "default", "p"]
    assert f"the test wants {status}" in why


@pytest.mark.parametrize(("every", "reports"), [(REPORTED_EVERY, ["p", "p"]), (0.0, ["p", "p", "q"])])
async def test_one_failure_of_each_kind_in_a_while_is_reported(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, every: float, reports: list[str]
) -> None:
    """Without a permission every effect fails, in quick succession."""
    monkeypatch.setattr(module, "REPORTED_EVERY", every)
    for name in ("p", "q"):
        bench.api.apply(PODS, pod_body(name))
    bench.api.fail_next(403, method="PATCH", times=3)
    async with bench.running():
        bench.effector.perform(WakePod(UID, "default", "p", "1"))
        bench.effector.perform(WriteRecord(UID, "default", "p", (("a", "1"),), Purpose.LABELS))
        await bench.settled(2)
        bench.effector.perform(WakePod(PodUid("uid-q"), "default", "q", "1"))
        await bench.settled(3)
    assert [name for _, _, name, _ in bench.reports] == reports
    assert bench.outcomes == {("WakePod", "failed"): 2, ("WriteRecord", "failed"): 1}
