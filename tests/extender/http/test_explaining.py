"""Explanations over HTTP: two at once, reused while nothing changes, and one moment or not."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from core.ledger import events as on
from core.ledger.trial.moved import LedgerMovedOn
from extender.http import explaining
from extender.http.door import Door
from extender.http.endpoints import guarded_app
from extender.http.explaining import AT_ONCE, FRESH, REFUSED, TRIED, UNSEARCHED, Explanations
from extender.http.rest import pace
from extender.views.story_line import StoryLine
from tests.builders import make_pod, make_queue
from tests.extender.rigs import Rig

PATH = "/namespaces/default/explanations"


class Stage:
    """Explanations over a ledger in which a pod waits beside two that run. ``ended``: outcomes by number."""

    def __init__(self) -> None:
        self.rig = Rig(make_queue("root.a", max={"vcore": 2000}))
        self.ended: Counter[str] = Counter()
        self.unready = ""
        self.bugs: list[tuple[str, BaseException]] = []
        self.learn("mine", node="n1")
        self.learn("theirs", node="n1", namespace="canary", app="canary")
        self.learn("ask", app="asks")
        self.rig.run_planned()
        self.explanations = Explanations(
            self.rig.engine,
            story=lambda _uid: [StoryLine(1.0, "Refused", "canary")],
            unready=lambda: self.unready,
            ended=lambda outcome: self.ended.update([outcome]),
            on_bug=lambda name, error, _body: self.bugs.append((name, error)),
        )

    def learn(self, name: str, **facts: Any) -> None:
        self.rig.engine.learn(on.PodObserved(make_pod(name, **facts)))

    def client(self) -> "TestClient[Any, Any]":
        async def named(_user: object) -> bool:
            return True

        return TestClient(TestServer(guarded_app(self.explanations.endpoints("", named), Door())))

    async def ask(self, path: str) -> tuple[int, Any]:
        async with self.client() as client, client.get(f"{PATH}/{path}") as response:
            return response.status, json.loads(await response.text())


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_pod_that_waits_is_explained(stage: Stage) -> None:
    status, found = await stage.ask("ask")
    assert (status, found["kind"], found["of"]) == (200, "Explanation", "pod")
    assert found["sentence"] == found["pod"]["sentence"] == "QuotaExceeded: root.a max vcore=2"
    assert (found["oneMoment"], found["namesOthers"]) == (True, True)
    (change, *_) = found["pod"]["remedies"]["changes"]
    assert change["text"] == "raise the max of root.a by 1 cpu"
    assert found["story"] == [{"at": "1970-01-01T00:00:01Z", "what": "Refused", "detail": "canary"}]
    assert stage.ended == {"found": 1}


@pytest.mark.parametrize("name", ["asks", "ask"])
async def test_an_application_is_found_by_its_id_or_by_a_pod(stage: Stage, name: str) -> None:
    status, found = await stage.ask(f"{name}?of=application")
    assert (status, found["metadata"]) == (200, {"namespace": "default", "name": "asks"})
    assert (found["phase"], found["pods"]) == ("Accepted", {"pending": 1})
    assert found["pod"]["pod"]["name"] == "ask"
    assert "story" not in found


@pytest.mark.parametrize(
    ("path", "status"),
    [("none", 404), ("none?of=application", 404), ("none?of=podgroup", 404), ("ask?of=node", 400)],
)
async def test_what_is_unknown_is_said_so(stage: Stage, path: str, status: int) -> None:
    seen, found = await stage.ask(path)
    assert (seen, found["kind"], found["code"]) == (status, "Status", status)
    assert "none" not in found["message"] or status == 400


async def test_before_the_cluster_was_read_nothing_is_explained(stage: Stage) -> None:
    stage.unready = "nodes: not listed yet"
    assert (await stage.ask("ask"))[0] == 503
    assert not stage.ended


async def test_an_explanation_is_reused_until_something_changes(stage: Stage) -> None:
    await stage.ask("ask")
    await stage.ask("ask")
    assert stage.ended == {"found": 1}
    stage.learn("another", app="asks")
    await stage.ask("ask")
    assert stage.ended == {"found": 2}
    stage.rig.time += FRESH + 1
    await stage.ask("ask")
    assert stage.ended == {"found": 3}


async def test_a_third_is_refused_while_two_are_made(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callers with an equal question share one answer."""
    monkeypatch.setattr(pace, "SLICE", 0.0)
    for number in range(AT_ONCE):
        stage.learn(f"more{number}", app="asks")
    async with stage.client() as client:
        names = ["ask", "ask", "more0", "more1"]
        answers = await asyncio.gather(*(client.get(f"{PATH}/{each}") for each in names))
        statuses = sorted(each.status for each in answers)
        assert statuses == [200, 200, 200, 429]
        (refused,) = [each for each in answers if each.status == 429]
        assert refused.headers["Retry-After"] == "1"
        async with client.get(f"{PATH}/more1") as after:
            assert after.status == 200
    assert (stage.ended[REFUSED], stage.ended.total()) == (1, 4)


async def test_a_change_in_between_is_said(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SLICE", 0.0)
    rounds = pace.give_way

    async def changed() -> None:
        stage.learn("mine", node="n1", version=2)
        await rounds()

    monkeypatch.setattr(pace, "give_way", changed)
    status, found = await stage.ask("ask")
    assert (status, found["oneMoment"]) == (200, False)


@pytest.mark.parametrize(("faults", "status"), [(TRIED - 1, 200), (TRIED, 503)])
async def test_a_search_is_begun_again_once_the_ledger_moved_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, faults: int, status: int
) -> None:
    seen = []
    original = explaining.result_of

    async def moved(steps: Any) -> Any:
        seen.append(1)
        if len(seen) <= faults:
            stage.learn("mine", node="n1", version=len(seen) + 1)
            raise LedgerMovedOn
        return await original(steps)

    monkeypatch.setattr(explaining, "result_of", moved)
    assert (await stage.ask("ask"))[0] == status
    assert stage.bugs == []


async def test_any_other_fault_is_a_bug_although_the_ledger_changed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change in between hides no fault."""
    seen = []

    async def faulty(_steps: object) -> None:
        seen.append(1)
        stage.learn("mine", node="n1", version=2)
        raise IndexError

    monkeypatch.setattr(explaining, "result_of", faulty)
    status, found = await stage.ask("ask")
    assert (status, found["reason"], found["message"]) == (500, "InternalError", "internal error")
    ((name, error),) = stage.bugs
    assert (name, type(error), len(seen)) == ("explanations", IndexError, 1)
    monkeypatch.undo()
    assert (await stage.ask("ask"))[0] == 200


async def test_a_pod_that_runs_needs_no_search(stage: Stage) -> None:
    status, found = await stage.ask("mine")
    assert (status, found["sentence"]) == (200, "it has a node")
    assert stage.ended == {UNSEARCHED: 1}
