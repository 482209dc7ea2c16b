"""Simulations over HTTP: for the caller's own pods, one at a time, and without any change."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from core.ledger import events as on
from core.ledger.trial.moved import LedgerMovedOn
from extender.http.access.delegated import USER
from extender.http.door import Door
from extender.http.endpoints import guarded_app
from extender.http.intake import SMALL
from extender.http.rest import simulating
from extender.http.rest.simulating import TRIED, Simulations
from extender.identity.caller import AuthenticatedUser
from tests.builders import make_pod, make_queue
from tests.extender.rigs import Rig

PATH = "/namespaces/default/explanations"
ALICE = AuthenticatedUser("alice", ("dev", "system:authenticated"))


def pod(cpu: str = "1", *, owner: Mapping[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    annotations = {"yunikorn.apache.org/user.info": json.dumps(owner)} if owner else {}
    return {
        "metadata": {
            "name": "new",
            "labels": {"applicationId": "new", "queue": "root.a"},
            "annotations": annotations,
        },
        "spec": {
            "schedulerName": "yunikorn",
            "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
            **spec,
        },
    }


class Stage:
    """A queue of two cores, one of which a pod of another namespace uses. ``user``: the caller."""

    def __init__(self) -> None:
        self.rig = Rig(make_queue("root.a", max={"vcore": 2000}))
        self.bugs: list[BaseException] = []
        self.unready = ""
        self.user: AuthenticatedUser | None = None
        self.named = False
        facts = {"node": "n1", "namespace": "canary", "app": "canary"}
        self.rig.engine.learn(on.PodObserved(make_pod("theirs", **facts)))  # type: ignore[arg-type]
        self.simulations = Simulations(
            self.rig.engine,
            unready=lambda: self.unready,
            on_bug=lambda _name, error, _body: self.bugs.append(error),
        )

    def client(self) -> "TestClient[Any, Any]":
        async def may_name(_user: object) -> bool:
            return self.named

        @web.middleware
        async def login(request: web.Request, handler: Any) -> web.StreamResponse:
            if self.user is not None:
                request[USER] = self.user
            response: web.StreamResponse = await handler(request)
            return response

        return TestClient(TestServer(guarded_app((self.simulations.endpoint("", may_name),), Door(), login)))

    async def post(self, body: object) -> tuple[int, Any]:
        given = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.client() as client, client.post(PATH, data=given) as response:
            return response.status, json.loads(await response.text())


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_as_many_pods_as_fit_would_run(stage: Stage) -> None:
    before = stage.rig.engine.version
    status, found = await stage.post({"count": 3, "pod": pod()})
    assert status == 200
    assert (found["pods"], found["placed"], found["queue"], found["oneMoment"]) == (3, 1, "root.a", True)
    assert found["sentence"] == ("1 of 3 pods would get a turn now, and the next waits: root.a may use 2 cpu")
    assert found["metadata"] == {"namespace": "default", "name": "new-0"}
    assert stage.rig.engine.version == before
    assert stage.rig.engine.view.pod_named("default", "new-0") is None


async def test_one_pod_is_the_default(stage: Stage) -> None:
    _, found = await stage.post({"pod": pod()})
    assert (found["pods"], found["placed"], found.get("pod")) == (1, 1, None)


@pytest.mark.parametrize("named", [False, True])
async def test_others_are_summed_for_callers_without_the_right(stage: Stage, named: bool) -> None:
    stage.user, stage.named = ALICE, named
    status, found = await stage.post({"pod": pod("2")})
    assert (status, found["placed"]) == (200, 0)
    assert ("canary" in json.dumps(found)) is named


@pytest.mark.parametrize(
    ("owner", "status"),
    [
        (None, 200),
        ({"user": "alice", "groups": ["dev"]}, 200),
        ({"user": "bob", "groups": ["dev"]}, 403),
        ({"user": "alice", "groups": ["ops"]}, 403),
        ({"groups": ["ops"]}, 403),
    ],
)
async def test_a_tenant_asks_for_itself_only(
    stage: Stage, owner: Mapping[str, Any] | None, status: int
) -> None:
    stage.user = ALICE
    assert (await stage.post({"pod": pod(owner=owner)}))[0] == status
    stage.named = True
    assert (await stage.post({"pod": pod(owner=owner)}))[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        {"count": 0, "pod": pod()},
        {"count": 1001, "pod": pod()},
        {"count": "x", "pod": pod()},
        {"pod": pod("much")},
        {"pod": {"metadata": {"name": "plain"}, "spec": {"containers": []}}},
        {"pod": pod(), "padding": "x" * SMALL},
    ],
)
async def test_a_body_that_is_no_simulation_is_refused(stage: Stage, body: object) -> None:
    status, found = await stage.post(body)
    assert (status, bool(found["message"])) == (400, True)
    assert not stage.bugs


async def test_the_body_cannot_claim_what_only_the_cluster_knows(stage: Stage) -> None:
    claimed = pod(nodeName="n1")
    claimed["metadata"] |= {
        "uid": "uid-theirs",
        "namespace": "canary",
        "deletionTimestamp": "2027-01-01T00:00:00Z",
    }
    status, found = await stage.post({"pod": claimed})
    assert (status, found["placed"], found["metadata"]["namespace"]) == (200, 1, "default")


async def test_it_is_refused_while_paddock_is_not_ready(stage: Stage) -> None:
    stage.unready = "pods: not listed"
    assert await _status_and_message(stage) == (503, "pods: not listed")


async def test_one_is_made_at_a_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()
    real = simulating.result_of

    async def slow(steps: Any) -> Any:
        begun.set()
        await may_end.wait()
        return await real(steps)

    monkeypatch.setattr(simulating, "result_of", slow)
    async with stage.client() as client:
        first = asyncio.create_task(client.post(PATH, json={"pod": pod()}))
        await begun.wait()
        async with client.post(PATH, json={"pod": pod()}) as second:
            assert second.status == 429
        may_end.set()
        assert (await first).status == 200


async def test_a_change_in_between_leads_to_another_attempt(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = simulating.result_of, [TRIED - 1]

    async def moving(steps: Any) -> Any:
        if left[0]:
            left[0] -= 1
            stage.rig.engine.learn(on.PodObserved(make_pod(f"other-{left[0]}", cpu=1)))
            raise LedgerMovedOn
        return await real(steps)

    monkeypatch.setattr(simulating, "result_of", moving)
    assert (await stage.post({"pod": pod()}))[0] == 200
    left[0] = TRIED
    assert (await _status_and_message(stage))[0] == 503
    assert not stage.bugs


async def test_a_bug_is_logged_and_answered(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_steps: Any) -> Any:
        raise KeyError("a bug")

    monkeypatch.setattr(simulating, "result_of", broken)
    assert await _status_and_message(stage) == (500, "internal error")
    assert [str(each) for each in stage.bugs] == ["'a bug'"]


async def _status_and_message(stage: Stage) -> tuple[int, str]:
    status, found = await stage.post({"pod": pod()})
    return status, str(found.get("message"))
