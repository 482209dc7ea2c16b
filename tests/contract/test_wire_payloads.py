"""Recorded requests of real kube-schedulers, sent again over HTTP. Each version has a folder of files."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from e2e.programs.minors import versions
from extender.wire.calls.extender_v1 import whole_pod_from
from extender.wire.translate import pod_from
from tests.builders import charges, make_ledger, make_queue
from tests.extender.rigs import Rig, answers_of, serving

PAYLOADS = Path(__file__).parent / "payloads"
FILES = sorted(PAYLOADS.rglob("*.json"))
MODES = sorted(path for path in PAYLOADS.glob("*/*") if path.is_dir())


def rig_for_payloads(cpu: int = 100_000) -> Rig:
    blue = make_queue("root.tenants.blue", max={"vcore": cpu})
    # The recorded pod defines task groups, and without its placeholders it would have to wait.
    settings = LedgerSettings(gangs=False)
    ledger = make_ledger(make_queue("root.tenants", leaf=False), blue, nodes=3, settings=settings)
    return Rig(ledger=ledger)


def payload(path: Path) -> bytes:
    return path.read_bytes()


def mode_id(path: Path) -> str:
    return str(path.relative_to(PAYLOADS))


def offered_nodes(body: dict[str, Any]) -> list[str]:
    if body["NodeNames"] is not None:
        return list(body["NodeNames"])
    return [node["metadata"]["name"] for node in body["Nodes"]["items"]]


def answered_nodes(answer: dict[str, Any]) -> list[str]:
    return (
        answer["NodeNames"]
        if "NodeNames" in answer
        else [node["metadata"]["name"] for node in answer["Nodes"]["items"]]
    )


def test_there_is_a_payload_of_each_verb_in_both_modes_and_each_minor_version() -> None:
    folders = [f"kube-scheduler-{version.removeprefix('v')}" for version in versions()]
    expected = product(folders, ("names", "nodes"), ("bind", "filter", "preempt", "prioritize"))
    found = [path.relative_to(PAYLOADS).with_suffix("").parts for path in FILES]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("path", FILES, ids=mode_id)
async def test_every_payload_is_answered_without_a_fault(path: Path) -> None:
    rig = rig_for_payloads()
    body = payload(path)
    if path.stem == "bind":
        asked = payload(path.parent / "filter.json")
        rig.verbs.filter(asked)
        show(rig, json.loads(asked))
    async with serving(answers_of(rig)) as door:
        status, answer = await door.post(path.stem, body)
    assert status == 200
    assert door.faults == [], answer
    assert "Error" not in answer
    assert rig.audit() == ()


@pytest.mark.parametrize("mode", MODES, ids=mode_id)
async def test_a_pod_from_filter_to_bind(mode: Path) -> None:
    rig = rig_for_payloads()
    body, asked = json.loads(payload(mode / "filter.json")), json.loads(payload(mode / "bind.json"))
    async with serving(answers_of(rig)) as door:
        _, filtered = await door.post("filter", json.dumps(body).encode())
        assert answered_nodes(filtered) == offered_nodes(body)
        show(rig, body)
        _, bound = await door.post("bind", payload(mode / "bind.json"))
        assert bound == {}
    (posted,) = rig.api.posted
    assert (posted.uid, posted.node) == (body["Pod"]["metadata"]["uid"], asked["Node"])
    blue = rig.engine.view.tree.get("root.tenants.blue")
    assert blue is not None
    assert blue.allocated.get("vcore") == pod_of(body).size.get("vcore") > 0


def pod_of(body: dict[str, Any]) -> Any:
    return pod_from(whole_pod_from(json.dumps(body).encode()))


def show(rig: Rig, body: dict[str, Any]) -> None:
    """Let the watch show the pod of a filter body, since bind needs more than a body (F-18)."""
    rig.engine.learn(on.PodObserved(pod_of(body)))


@pytest.mark.parametrize("mode", MODES, ids=mode_id)
def test_what_is_read_of_the_recorded_pod(mode: Path) -> None:
    body = json.loads(payload(mode / "filter.json"))
    pod = pod_of(body)
    meta = body["Pod"]["metadata"]
    assert (pod.name, pod.namespace, pod.uid) == (meta["name"], meta["namespace"], meta["uid"])
    assert (pod.app_id, pod.queue) == ("spark-0001", "root.tenants.blue")
    assert pod.version == int(meta["resourceVersion"])
    assert pod.created > 1_700_000_000


@pytest.mark.parametrize("mode", MODES, ids=mode_id)
def test_a_refusal_names_every_node_of_the_request_in_its_own_shape(mode: Path) -> None:
    rig = rig_for_payloads(cpu=1)
    body = payload(mode / "filter.json")
    answer = json.loads(rig.verbs.filter(body))
    assert answered_nodes(answer) == []
    texts = answer["FailedAndUnresolvableNodes"]
    assert set(texts) >= set(offered_nodes(json.loads(body)))
    assert len(set(texts.values())) == 1


@pytest.mark.parametrize("mode", MODES, ids=mode_id)
def test_preempt_answers_uids_for_the_recorded_candidates(mode: Path) -> None:
    body = json.loads(payload(mode / "preempt.json"))
    full, meta = body["NodeNameToVictims"], body["NodeNameToMetaVictims"]
    wanted = {
        node: [pod["UID"] if meta else pod["metadata"]["uid"] for pod in victims["Pods"]]
        for node, victims in (meta or full).items()
    }
    answer = json.loads(rig_for_payloads().verbs.preempt(json.dumps(body).encode()))
    assert wanted
    assert {
        node: [pod["UID"] for pod in victims["Pods"]]
        for node, victims in answer["NodeNameToMetaVictims"].items()
    } == wanted


@pytest.mark.parametrize("mode", MODES, ids=mode_id)
def test_the_watch_confirms_what_the_body_taught(mode: Path) -> None:
    rig = rig_for_payloads()
    body = json.loads(payload(mode / "filter.json"))
    rig.verbs.filter(json.dumps(body).encode())
    charged = charges(rig.ledger)
    show(rig, body)
    assert charges(rig.ledger) == charged
    assert list(charged) == [PodUid(body["Pod"]["metadata"]["uid"])]
