"""Effects: their requests, which are sent only under the Lease. See test_bind."""

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import (
    MarkFailed,
    NominateNode,
    SetCondition,
    WriteRecord,
)
from core.ledger.outcomes import Purpose
from tests.extender.kube.effects.effector_bench import PODS, Bench, event, wake
from tests.extender.rigs import pod_body

EVENTS = "/api/v1/namespaces/default/events"


async def test_waking_is_an_annotation_on_this_very_pod(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    async with bench.running():
        bench.effector.perform(wake(token="7"))
        await bench.settled(1)
    assert bench.token_of("p") == "7"
    (sent,) = bench.writes()
    assert sent.json["metadata"]["uid"] == "uid-p"
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=True)]
    assert bench.outcomes == {("WakePod", "done"): 1}


@pytest.mark.rule("APP-8")
async def test_marking_a_pod_failed_is_a_patch_of_its_status(bench: Bench) -> None:
    marking = MarkFailed(PodUid("uid-p"), "default", "p", "ApplicationRejected", "m" * 2000)
    async with bench.running():
        bench.effector.perform(marking)
        await bench.settled(1)
    (sent,) = bench.writes()
    assert sent.path == f"{PODS}/p/status"
    status = {"phase": "Failed", "reason": "ApplicationRejected", "message": "m" * 1000}
    assert sent.json == {"metadata": {"uid": "uid-p"}, "status": status}


@pytest.mark.parametrize(("node", "written"), [("n1", "n1"), ("", None)])
async def test_a_nomination_is_a_patch_of_the_status(bench: Bench, node: str, written: str | None) -> None:
    bench.api.apply(PODS, pod_body("p"))
    nomination = NominateNode(PodUid("uid-p"), "default", "p", NodeName(node), Purpose.NODE_RESERVATION)
    async with bench.running():
        bench.effector.perform(nomination)
        await bench.settled(1)
        bench.leading = False
        bench.effector.perform(nomination)
        await bench.settled(2)
    (sent,) = bench.writes()
    assert sent.path == f"{PODS}/p/status"
    assert sent.json == {"metadata": {"uid": "uid-p"}, "status": {"nominatedNodeName": written}}
    assert bench.learned == [
        on.NodeNominated(PodUid("uid-p"), NodeName(node), True, Purpose.NODE_RESERVATION),
        on.NodeNominated(PodUid("uid-p"), NodeName(node), False, Purpose.NODE_RESERVATION),
    ]


async def test_records_are_annotations_and_each_is_written(bench: Bench) -> None:
    bench.api.apply(PODS, pod_body("p"))
    for entries in ((("a", "1"), ("b", "2")), (("a", None),)):
        bench.effector.perform(WriteRecord(PodUid("uid-p"), "default", "p", entries, Purpose.LABELS))
    async with bench.running():
        await bench.settled(2)
    pod = bench.api.find(PODS, "p")
    assert pod is not None
    assert pod["metadata"]["annotations"] == {"b": "2"}
    assert [each.json["metadata"]["uid"] for each in bench.writes()] == ["uid-p", "uid-p"]
    assert bench.learned == [
        on.RecordWritten(PodUid("uid-p"), (("a", "1"), ("b", "2")), True, Purpose.LABELS),
        on.RecordWritten(PodUid("uid-p"), (("a", None),), True, Purpose.LABELS),
    ]


async def test_a_condition_is_merged_into_the_status(bench: Bench) -> None:
    wanted = SetCondition(
        PodUid("uid-p"), "default", "p", "paddock.dev/Admitted", False, "QuotaExceeded", "m" * 2000
    )
    async with bench.running():
        bench.effector.perform(wanted)
        await bench.settled(1)
        bench.leading = False
        bench.effector.perform(wanted)
        await bench.settled(2)
    (sent,) = bench.writes()
    (condition,) = sent.json["status"]["conditions"]
    assert sent.path == f"{PODS}/p/status"
    assert condition.pop("lastTransitionTime").endswith("Z")
    assert condition == {
        "type": "paddock.dev/Admitted",
        "status": "False",
        "reason": "QuotaExceeded",
        "message": "m" * 1000,
    }
    assert bench.learned[-1] == on.GateReportFailed(PodUid("uid-p"))


async def test_an_event_as_it_is_written(bench: Bench) -> None:
    async with bench.running():
        bench.effector.perform(event("m" * 2000))
        await bench.settled(1)
    (sent,) = bench.writes("POST")
    written = sent.json
    assert written["involvedObject"] == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "namespace": "default",
        "name": "yunikorn-configs",
        "uid": "uid-c",
    }
    assert (written["reason"], written["type"], written["source"]) == (
        "ConfigurationRefused",
        "Warning",
        {"component": "paddock"},
    )
    assert len(written["message"]) == 1000
    assert bench.learned == []


async def test_an_instance_that_does_not_lead_does_nothing(bench: Bench) -> None:
    bench.leading = False
    async with bench.running():
        bench.effector.perform(wake())
        bench.effector.perform(event())
        await bench.settled(2)
    assert bench.api.requests == []
    assert bench.outcomes == {("WakePod", "not leading"): 1, ("PostEvent", "not leading"): 1}
    assert bench.learned == [on.PodWoken(PodUid("uid-p"), reached=False)]


async def test_what_waited_when_the_lease_was_lost_is_dropped(bench: Bench) -> None:
    bench.effector.perform(wake())
    bench.leading = False
    async with bench.running():
        await bench.settled(1)
    assert bench.api.requests == []
    assert bench.outcomes == {("WakePod", "not leading"): 1}
