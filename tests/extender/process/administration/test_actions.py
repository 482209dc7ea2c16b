"""ACT-1 to ACT-7: actions of administrators against a whole server, with and without the right."""

import asyncio
import json
import time
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest

from extender.actions.stored import CONFIG_MAP, KEY
from extender.http.aggregated import ROOT
from tests.extender.app_bench import CONFIG_MAPS, document, kubeconfig, server, undone
from tests.extender.process.test_front_door import ALICE, Stage, stage
from tests.extender.reflector_bench import until

__all__ = ["kubeconfig", "server", "stage", "undone"]

PATH = f"{ROOT}/actions"
CLOSE = {"action": "close", "queue": "root.a", "reason": "drain"}
OPEN = {"action": "open", "queue": "root.a"}
AUDIT_ID = "6e1c2f0c-94e5-4f7c-9f3f-0d3f3f1d2a11"


async def act(
    stage: Stage, asked: Any, headers: dict[str, str] = ALICE, *, certificate: str = "proxy-old"
) -> tuple[int, Any]:
    """Status and answer of a request."""
    url = f"https://localhost:{stage.ports['aggregated_port']}{PATH}"
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers=headers, ssl=stage.context(certificate)) as response,
    ):
        return response.status, json.loads(await response.text())


async def begun(stage: Stage, *rights: str, **overrides: Any) -> None:
    """Start with actions, and give alice the right to administer some queues."""
    stage.played.rights |= {("alice", "administer", f"queues {each}") for each in rights}
    await stage.start(admin_enabled="true", **overrides)
    await stage.until_proxied("proxy-old", 200)


def stored(stage: Stage) -> list[Any]:
    found = stage.server.api.find(CONFIG_MAPS, CONFIG_MAP, "paddock-system")
    return json.loads(found["data"][KEY])["closedQueues"] if found else []


def events(stage: Stage) -> list[tuple[str, str]]:
    sent = [each.json for each in stage.server.api.requests if each.path.endswith("/events")]
    return [
        (each["reason"], each["message"]) for each in sent if each["involvedObject"]["name"] == CONFIG_MAP
    ]


def audit(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    lines = [json.loads(each) for each in capsys.readouterr().out.splitlines()]
    return [each for each in lines if each.get("event") == "audit"]


async def status_of(stage: Stage, queue: str = "root.a") -> str:
    _, text = await stage.server.get(f"/ws/v1/partition/default/queue/{queue}")
    return str(json.loads(text)["status"])


@pytest.mark.rule("ACT-2", "ACT-6", "ACT-7")
async def test_a_queue_is_closed_and_opened(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    await begun(stage, "root.a")
    dry, answer = await act(stage, {**CLOSE, "dryRun": True})
    assert (dry, answer["changed"], answer["dryRun"], stored(stage)) == (200, True, True, [])
    status, answer = await act(stage, {**CLOSE, "queue": "root.A"}, ALICE | {"Audit-ID": AUDIT_ID})
    assert (status, answer["message"], answer["changed"]) == (200, "root.a is closed", True)
    assert [(each["queue"], each["by"], each["reason"]) for each in stored(stage)] == [
        ("root.a", "alice", "drain")
    ]
    assert await status_of(stage) == "Draining"
    again, answer = await act(stage, CLOSE)
    assert (again, answer["changed"], answer["message"]) == (200, False, "root.a is closed already")
    assert (await act(stage, OPEN))[1]["message"] == "root.a is open"
    assert (stored(stage), await status_of(stage)) == ([], "Active")
    lines = audit(capsys)
    assert [(each["action"], each["result"], each["dryRun"]) for each in lines] == [
        ("close", "changed", True),
        ("close", "changed", False),
        ("close", "unchanged", False),
        ("open", "changed", False),
    ]
    assert lines[1]["requestId"] == AUDIT_ID
    assert {(each["user"], tuple(each["groups"])) for each in lines} == {("alice", ("team",))}
    await until(lambda: len(events(stage)) == 3)
    assert events(stage)[0] == ("QueueClosed", "root.a is closed, by alice: drain")
    _, metrics = await stage.server.get("/metrics")
    assert 'paddock_actions_total{action="close",result="changed"} 2.0' in metrics


@pytest.mark.rule("ACT-2")
async def test_the_right_to_a_queue_above_is_enough_and_one_beside_is_not(stage: Stage) -> None:
    await begun(stage, "root.b")
    refused, answer = await act(stage, CLOSE)
    need = "the caller may not do this: this needs the right to administer root.a, or a queue above it"
    assert (refused, answer["message"], stored(stage)) == (403, need, [])
    names = [spec["resourceAttributes"].get("name") for _, spec in stage.played.asked[-2:]]
    assert names == ["root.a", "root"]
    assert (await act(stage, {**CLOSE, "queue": "root"}))[0] == 403
    assert (await act(stage, {**CLOSE, "queue": "root.b"}))[0] == 200
    # A queue that does not exist is refused like one that does.
    assert (await act(stage, {**CLOSE, "queue": "root.none"}))[0] == 403
    await until(lambda: "ActionRefused" in {reason for reason, _ in events(stage)})


async def test_the_right_to_the_root_is_one_to_all(stage: Stage) -> None:
    await begun(stage, "root")
    assert (await act(stage, CLOSE))[0] == 200
    assert (await act(stage, {**CLOSE, "queue": "root.none"}))[0] == 404
    assert [each["queue"] for each in stored(stage)] == ["root.a"]


@pytest.mark.rule("ACT-2")
@pytest.mark.parametrize(
    ("acl", "user", "setting", "status"),
    [
        ("alice", "alice", "true", 200),
        (" team", "alice", "true", 200),
        ("alice", "alice", "false", 403),
        ("*", "alice", "true", 403),
        ("* team", "mallory", "true", 403),
        ("bob", "alice", "true", 403),
        ("system:admin", "system:admin", "true", 403),
    ],
)
async def test_admin_acls_count_by_a_setting_and_by_name(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, acl: str, user: str, setting: str, status: int
) -> None:
    text = document().replace("submitacl: '*'", f"submitacl: '*'\n        adminacl: {acl!r}")
    monkeypatch.setattr("tests.extender.process.test_front_door.document", lambda: text)
    stage.played.rights |= {(user, "create", "actions")}
    await begun(stage, admin_acl=setting)
    headers = {"X-Remote-User": user, "X-Remote-Group": "team" if user == "alice" else "others"}
    assert (await act(stage, CLOSE, headers))[0] == status


@pytest.mark.rule("ACT-1")
async def test_no_other_port_and_no_forged_name_acts(stage: Stage) -> None:
    await begun(stage, "root")
    body = json.dumps(CLOSE).encode()
    for headers in (ALICE, {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}):
        assert (await act(stage, CLOSE, headers, certificate=""))[0] == 401
        url = f"http://127.0.0.1:{stage.server.admin}{PATH}"
        async with stage.server.session.post(url, data=body, headers=headers) as response:
            assert response.status == 403
    url = f"https://localhost:{stage.ports['rest_port']}{PATH}"
    stage.played.rights |= {("prometheus", "create", "actions"), ("prometheus", "administer", "queues root")}
    good = {"Authorization": "Bearer good"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers=good, ssl=stage.context()) as response,
    ):
        assert response.status == 404
    assert stored(stage) == []


@pytest.mark.rule("ACT-6")
async def test_no_value_of_a_caller_breaks_the_audit_log(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    await begun(stage)
    hostile = 'x"}\n{"event": "audit", "user": "root"}\r\u2028\u0085\x1b]0;x\x07\u202e[red]'
    for asked in (
        {**CLOSE, "queue": hostile},
        {**CLOSE, "reason": hostile},
        json.dumps({**CLOSE, "reason": hostile}, ensure_ascii=False).encode(),
        hostile.encode(),
        b"\xff" * 100,
        b"{" * 20_000,
    ):
        status, _ = await act(stage, asked, ALICE | {"Audit-ID": 'x", "user": "root'})
        assert status in (400, 403)
    text = capsys.readouterr().out
    assert text.isascii()
    lines = [json.loads(each) for each in text.splitlines() if each]
    found = [each for each in lines if each.get("event") == "audit"]
    assert [each["result"] for each in found] == ["refused"] * 6
    assert {each["user"] for each in found} == {"alice"}
    for _, message in events(stage):
        assert message.isprintable()


@pytest.mark.rule("ACT-12", "ACT-14")
async def test_a_queue_that_opens_by_itself_is_shown_as_open(stage: Stage) -> None:
    """Nothing else happens in the cluster, so no other event makes the answer anew."""
    await begun(stage, "root.a")
    end = datetime.fromtimestamp(time.time() + 2, UTC).isoformat()
    assert (await act(stage, CLOSE | {"until": end}))[0] == 200
    assert await status_of(stage) == "Draining"
    # The ledger's clock opens it. Only then may the answer change.
    app = stage.server.app
    assert app is not None
    await until(lambda: not app.engine.view.tree.closures)
    assert await status_of(stage) == "Active"


@pytest.mark.rule("ACT-5")
async def test_orders_are_in_force_before_a_pod_is_read(stage: Stage) -> None:
    text = {"version": 1, "closedQueues": [{"queue": "root.a", "by": "ann", "since": "2026-01-01T00:00:00Z"}]}
    meta = {"name": CONFIG_MAP, "namespace": "paddock-system"}
    stage.server.api.apply(CONFIG_MAPS, {"metadata": meta, "data": {KEY: "{}"}})
    stage.server.configure(document(), paddock__admin__enabled="true")
    stage.server.start()
    await stage.server.until_shown("/readyz", "[-] actions: actions.json")
    assert stage.server.app is not None
    assert not stage.server.app.synced.is_set()
    stage.server.api.apply(CONFIG_MAPS, {"metadata": meta, "data": {KEY: json.dumps(text)}})
    async with asyncio.timeout(5):
        await stage.server.app.synced.wait()
    # The REST interface answers a moment after the caches are synced.
    await stage.server.until_shown("/ws/v1/partition/default/queue/root.a", '"status"')
    assert await status_of(stage) == "Draining"


@pytest.mark.rule("ACT-3")
async def test_a_restart_finds_what_was_ordered(stage: Stage) -> None:
    await begun(stage, "root.a")
    assert (await act(stage, CLOSE))[0] == 200
    await stage.server.stop()
    await stage.start(admin_enabled="true")
    assert await status_of(stage) == "Draining"


async def test_without_the_setting_there_are_no_actions(stage: Stage) -> None:
    stage.played.rights |= {("alice", "administer", "queues root")}
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    status, answer = await act(stage, CLOSE)
    assert (status, "switched off" in answer["message"]) == (501, True)
    assert not any(CONFIG_MAP in str(each.query) for each in stage.server.api.requests)
