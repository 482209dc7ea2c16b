"""ACT-30 to ACT-36: applications that administrators move, against a whole server and a fake API server."""

import json
from typing import Any

import pytest

from extender.actions.stored import CONFIG_MAP, KEY
from tests.extender.app_bench import CONFIG_MAPS, kubeconfig, server, undone
from tests.extender.process.administration.test_actions import act, audit, begun, events
from tests.extender.process.test_front_door import Stage, stage
from tests.extender.reflector_bench import until

__all__ = ["kubeconfig", "server", "stage", "undone"]

MOVE = {"action": "move", "application": "one", "namespace": "default", "queue": "root.b", "reason": "quota"}


def stored(stage: Stage) -> list[Any]:
    found = stage.server.api.find(CONFIG_MAPS, CONFIG_MAP, "paddock-system")
    return json.loads(found["data"][KEY]).get("movedApplications", []) if found else []


async def queue_of(stage: Stage, name: str = "one") -> str:
    _, text = await stage.server.get("/ws/v1/partition/default/applications/active")
    return next(str(each["queueName"]) for each in json.loads(text) if each["applicationID"] == name)


async def running(stage: Stage, *rights: str, **overrides: Any) -> None:
    """Start with two applications of one running pod each, in ``root.a``."""
    stage.server.pod("a", node="n1", app="one")
    stage.server.pod("b", node="n1", app="two")
    await begun(stage, *rights, **overrides)


@pytest.mark.rule("ACT-30", "ACT-35", "ACT-7")
async def test_an_application_is_moved_once(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    await running(stage, "root.a", "root.b")
    status, answer = await act(stage, {**MOVE, "dryRun": True})
    assert (status, answer["changed"], answer["pods"], stored(stage)) == (200, True, ["default/a"], [])
    assert await queue_of(stage) == "root.a"
    status, answer = await act(stage, {**MOVE, "queue": "root.B"})
    assert (status, answer["message"]) == (200, "default/one is moved from root.a to root.b (1 pod)")
    assert (answer["source"], answer["queue"], answer["changed"]) == ("root.a", "root.b", True)
    (entry,) = stored(stage)
    assert (entry["by"], entry["queue"], entry["source"], entry["reason"]) == (
        "alice",
        "root.b",
        "root.a",
        "quota",
    )
    assert (await queue_of(stage), await queue_of(stage, "two")) == ("root.b", "root.a")
    status, answer = await act(stage, MOVE)
    assert (status, answer["changed"], answer["message"]) == (200, False, "default/one is in root.b already")
    assert stored(stage) == [entry]
    lines = audit(capsys)
    assert [(each["action"], each["target"], each["result"]) for each in lines] == [
        ("move", "default/one to root.b", "changed"),
        ("move", "default/one to root.B", "changed"),
        ("move", "default/one to root.b", "unchanged"),
    ]
    await until(lambda: "ApplicationMoved" in {reason for reason, _ in events(stage)})


@pytest.mark.rule("ACT-2", "ACT-31")
@pytest.mark.parametrize(
    ("asked", "rights", "status"),
    [
        (MOVE, ("root.a",), 403),
        (MOVE, ("root.b",), 403),
        (MOVE | {"application": "none"}, ("root.b",), 403),
        (MOVE | {"queue": "root.none"}, ("root.a",), 403),
        (MOVE | {"queue": "root.none"}, ("root",), 404),
        (MOVE | {"application": "none"}, ("root",), 404),
        (MOVE | {"queue": "root"}, ("root",), 409),
        (MOVE | {"queue": "a b"}, ("root",), 400),
        (MOVE | {"force": True}, ("root",), 400),
        (MOVE, ("root",), 200),
    ],
)
async def test_the_rights_it_needs(
    stage: Stage, asked: dict[str, Any], rights: tuple[str, ...], status: int
) -> None:
    await running(stage, *rights)
    assert (await act(stage, asked))[0] == status
    assert len(stored(stage)) == (status == 200)


@pytest.mark.rule("ACT-36")
async def test_the_application_of_a_whole_namespace_needs_a_word_more(stage: Stage) -> None:
    stage.server.pod("c", node="n1", app="yunikorn-default-autogen")
    await running(stage, "root")
    asked = MOVE | {"application": "yunikorn-default-autogen"}
    status, answer = await act(stage, asked)
    assert (status, "generated" in answer["message"], stored(stage)) == (409, True, [])
    assert (await act(stage, {**asked, "generated": True}))[1]["pods"] == ["default/c"]


@pytest.mark.rule("ACT-3", "ACT-30")
async def test_nothing_is_moved_before_the_order_is_stored(stage: Stage) -> None:
    await running(stage, "root")
    for _ in range(20):
        stage.server.api.fail_next(500, method="POST", path="/configmaps")
    assert (await act(stage, MOVE))[0] == 503
    assert (stored(stage), await queue_of(stage)) == ([], "root.a")


@pytest.mark.rule("ACT-33", "ACT-5")
async def test_a_process_that_ended_after_the_commit_finds_the_order(stage: Stage) -> None:
    entry = {"namespace": "default", "application": "one", "by": "ann", "since": "2026-01-01T00:00:00Z"}
    entry |= {"queue": "root.b", "source": "root.a", "user": "nobody"}
    text = json.dumps({"version": 3, "movedApplications": [entry]})
    meta = {"name": CONFIG_MAP, "namespace": "paddock-system"}
    stage.server.api.apply(CONFIG_MAPS, {"metadata": meta, "data": {KEY: text}})
    await running(stage, "root")
    assert await queue_of(stage) == "root.b"
    assert (await act(stage, MOVE))[1]["changed"] is False


@pytest.mark.rule("ACT-4")
async def test_no_application_is_moved_while_the_store_is_full(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extender.actions.stored.MOST_ENTRIES", 0)
    await running(stage, "root")
    assert (await act(stage, MOVE))[0] == 409
    assert await queue_of(stage) == "root.a"
