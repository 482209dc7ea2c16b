"""ACT-50 to ACT-55: queue documents that a whole server compares and writes, with and without the right."""

import asyncio
import json
from io import BytesIO
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from extender.configuration.sources import checksum
from extender.http.aggregated import ROOT
from tests.extender.app_bench import CONFIG_MAPS, document, kubeconfig, server, undone
from tests.extender.fake_objects import Request
from tests.extender.process.administration.test_actions import audit
from tests.extender.process.test_front_door import ALICE, Stage, stage
from tests.extender.reflector_bench import until

__all__ = ["kubeconfig", "server", "stage", "undone"]

PATH = f"{ROOT}/ws/v1/config"
COMPARE = f"{ROOT}/ws/v1/compare-conf"
NAME = "yunikorn-configs"
RIGHT = ("alice", "update", f"configmaps {NAME}")
AFTER = "# by alice\n" + document(1) + "          - {name: c}\n"
"""Another document: lower limits, one queue more, and a comment."""


async def send(
    stage: Stage,
    body: str | bytes,
    query: str = "",
    headers: dict[str, str] | None = None,
    *,
    method: str = "PUT",
    path: str = PATH,
) -> tuple[int, Any]:
    """Status and answer of a request through the API server's proxy, as alice."""
    url = f"https://localhost:{stage.ports['aggregated_port']}{path}{query}"
    data = BytesIO(body if isinstance(body, bytes) else body.encode())
    async with (
        aiohttp.ClientSession() as session,
        session.request(
            method, url, data=data, headers=ALICE | (headers or {}), ssl=stage.context("proxy-old")
        ) as response,
    ):
        return response.status, json.loads(await response.text())


async def compare(stage: Stage, body: str | bytes) -> tuple[int, Any]:
    return await send(stage, body, method="POST", path=COMPARE)


async def begun(stage: Stage, **overrides: Any) -> None:
    """Start with writes. Alice may send documents, and update the ConfigMap."""
    stage.played.rights |= {
        RIGHT,
        ("alice", "update", "ws/config"),
        ("alice", "create", "ws/compare-conf"),
    }
    await stage.start(**{"admin_enabled": "true", "admin_config": "true"} | overrides)
    await stage.until_proxied("proxy-old", 200)


def held(stage: Stage) -> dict[str, Any]:
    found = stage.server.api.find(CONFIG_MAPS, NAME, "paddock-system")
    assert found is not None
    return dict(found)


def writes(stage: Stage) -> int:
    return sum(each.method == "PATCH" and NAME in each.path for each in stage.server.api.requests)


def events(stage: Stage) -> list[tuple[str, str]]:
    sent = [each.json for each in stage.server.api.requests if each.path.endswith("/events")]
    return [(each["reason"], each["message"]) for each in sent]


def edited(stage: Stage, **changes: Any) -> None:
    """Apply the ConfigMap with other parts, as another program does."""
    meta = {"name": NAME} | changes.pop("metadata", {})
    known = {key: each for key, each in held(stage).items() if key not in ("metadata", *changes)}
    stage.server.api.apply(CONFIG_MAPS, {**known, **changes, "metadata": meta})


@pytest.mark.rule("ACT-51", "ACT-55")
async def test_a_document_is_written_as_it_is_and_takes_effect(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    await begun(stage)
    edited(stage, data={**held(stage)["data"], "other.key": "stays"})
    dry, answer = await send(stage, AFTER, "?dryRun=All")
    assert (dry, answer["changed"], answer["dryRun"], writes(stage)) == (200, True, True, 0)
    status, answer = await send(stage, AFTER)
    assert (status, answer["changed"], answer["checksum"]) == (200, True, checksum(AFTER))
    assert held(stage)["data"] == {"queues.yaml": AFTER, "other.key": "stays"}
    assert answer["resourceVersion"] == held(stage)["metadata"]["resourceVersion"]
    await stage.server.until_shown("/readyz?verbose", f"configuration: {checksum(AFTER)}")
    again, answer = await send(stage, AFTER)
    assert (again, answer["changed"], writes(stage)) == (200, False, 1)
    assert [(each["action"], each["result"], each["dryRun"]) for each in audit(capsys)] == [
        ("configure", "changed", True),
        ("configure", "changed", False),
        ("configure", "unchanged", False),
    ]
    await until(lambda: len(events(stage)) == 2)
    text = f"ConfigMap paddock-system/{NAME} is written, by alice"
    assert events(stage)[0] == ("ConfigurationWritten", text)


@pytest.mark.rule("ACT-50")
@pytest.mark.parametrize("lacks", [RIGHT, ("alice", "update", "ws/config")])
async def test_without_one_of_the_two_rights_nothing_is_written(
    stage: Stage, lacks: tuple[str, str, str]
) -> None:
    await begun(stage)
    stage.played.rights -= {lacks}
    # The right to the root, and the one to actions, are none to the ConfigMap.
    stage.played.rights |= {("alice", "administer", "queues root"), ("alice", "create", "actions")}
    status, answer = await send(stage, AFTER)
    assert (status, answer["message"]) == (403, "the caller may not do this")
    assert (writes(stage), held(stage)["data"]["queues.yaml"]) == (0, document())
    if lacks == RIGHT:
        _, spec = stage.played.asked[-1]
        assert spec["resourceAttributes"] == {
            "verb": "update",
            "resource": "configmaps",
            "namespace": "paddock-system",
            "name": NAME,
        }
        await until(lambda: "ActionRefused" in {reason for reason, _ in events(stage)})


@pytest.mark.rule("ACT-50")
async def test_admin_acls_give_no_right_to_the_document(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = document().replace("submitacl: '*'", "submitacl: '*'\n        adminacl: 'alice team'")
    monkeypatch.setattr("tests.extender.process.test_front_door.document", lambda: text)
    await begun(stage, admin_acl="true")
    stage.played.rights -= {RIGHT}
    assert (await send(stage, AFTER))[0] == 403


@pytest.mark.rule("ACT-50")
@pytest.mark.parametrize("setting", ["admin_enabled", "admin_config"])
async def test_without_a_setting_nothing_is_written(stage: Stage, setting: str) -> None:
    await begun(stage, **{setting: "false"})
    status, answer = await send(stage, AFTER)
    assert (status, "switched off" in answer["message"], writes(stage)) == (501, True, 0)


@pytest.mark.rule("ACT-50")
async def test_no_other_port_writes(stage: Stage) -> None:
    await begun(stage)
    stage.played.rights |= {("prometheus", "put", "/ws/v1/config"), ("prometheus", "put", PATH)}
    for path in ("/ws/v1/config", PATH):
        url = f"http://127.0.0.1:{stage.server.admin}{path}"
        async with stage.server.session.put(url, data=AFTER, headers=ALICE) as response:
            assert response.status in (403, 404, 405)
        url = f"https://localhost:{stage.ports['rest_port']}{path}"
        good = {"Authorization": "Bearer good"}
        async with (
            aiohttp.ClientSession() as session,
            session.put(url, data=AFTER, headers=good, ssl=stage.context()) as response,
        ):
            assert response.status in (403, 404, 405)
    assert writes(stage) == 0


@pytest.mark.rule("ACT-52")
@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("", 400, "empty"),
        ("# nothing\n---\n", 400, "empty"),
        (b"\xff\xfe", 400, "not UTF-8 at byte 0"),
        ("a: [", 400, "line"),
        (document().replace("vcore: 2", "vcore: -2"), 400, "(line 7)"),
        (document().replace("name: b", "name: a"), 400, "CFG"),
        ("x" * 2**20 + "x", 413, "above the limit"),
        (b"\x00" * 1000, 400, "document"),
        ("[" * 100_000, 400, "document"),
        ("&a [*a, *a]", 400, "document"),
    ],
    ids=["empty", "comments", "bytes", "syntax", "negative", "twice", "large", "zeros", "deep", "aliases"],
)
async def test_a_document_with_errors_is_refused_with_its_verdict(
    stage: Stage, body: str | bytes, status: int, message: str
) -> None:
    await begun(stage)
    found, answer = await send(stage, body)
    assert (found, answer["kind"]) == (status, "Status")
    assert message in answer["message"]
    assert writes(stage) == 0
    # The process is alive.
    assert (await send(stage, AFTER, "?dryRun=All"))[0] == 200


@pytest.mark.rule("ACT-52")
@pytest.mark.parametrize(
    "query",
    ["?dryRun=true", "?dryrun=All", "?dryRun=All&dryRun=", "?force=yes", "?resourceVersion=", "?x=1"],
)
async def test_an_option_that_is_not_known_is_refused(stage: Stage, query: str) -> None:
    await begun(stage)
    assert ((await send(stage, AFTER, query))[0], writes(stage)) == (400, 0)


@pytest.mark.rule("ACT-53")
async def test_a_version_that_is_not_the_present_one_is_refused(stage: Stage) -> None:
    await begun(stage)
    version = held(stage)["metadata"]["resourceVersion"]
    edited(stage, data={"queues.yaml": document(3)})
    for query, headers in ((f"?resourceVersion={version}", {}), ("", {"If-Match": f'"{version}"'})):
        status, answer = await send(stage, AFTER, query, headers)
        assert (status, "changed meanwhile" in answer["message"]) == (409, True)
    present = held(stage)["metadata"]["resourceVersion"]
    both = await send(stage, AFTER, f"?resourceVersion={version}", {"If-Match": present})
    assert (both[0], held(stage)["data"]) == (400, {"queues.yaml": document(3)})
    assert (await send(stage, AFTER, "", {"If-Match": f'"{present}"'}))[0] == 200


@pytest.mark.rule("ACT-53")
async def test_an_edit_between_verdict_and_write_is_not_lost(stage: Stage) -> None:
    """Another program edits the ConfigMap after it was read, and before the write arrives."""
    await begun(stage)

    async def overtake(_: Request) -> web.Response | None:
        edited(stage, data={"queues.yaml": document(3)})
        return None

    stage.server.api.break_next(overtake, method="PATCH", path=NAME)
    status, answer = await send(stage, AFTER)
    assert (status, "nothing was written" in answer["message"]) == (409, True)
    assert held(stage)["data"] == {"queues.yaml": document(3)}
    assert (await send(stage, AFTER))[0] == 200


@pytest.mark.rule("ACT-53")
async def test_of_many_writes_at_once_each_is_whole(stage: Stage) -> None:
    await begun(stage)
    texts = [f"# {number}\n{document(1 + number % 2)}" for number in range(8)]
    statuses = [status for status, _ in await asyncio.gather(*(send(stage, each) for each in texts))]
    assert set(statuses) == {200}
    assert held(stage)["data"]["queues.yaml"] in texts


@pytest.mark.rule("ACT-53")
async def test_a_lost_answer_is_said_and_the_repeated_request_writes_nothing_twice(stage: Stage) -> None:
    await begun(stage)
    stage.server.api.lose_next_reply(method="PATCH", path=NAME)
    status, answer = await send(stage, AFTER)
    assert (status, "repeat the request" in answer["message"]) == (503, True)
    assert (await send(stage, AFTER))[1]["changed"] is False
    assert (writes(stage), held(stage)["data"]["queues.yaml"]) == (1, AFTER)


@pytest.mark.rule("ACT-53")
@pytest.mark.parametrize("status", [403, 422, 500])
async def test_a_refusal_of_the_api_server_is_said(stage: Stage, status: int) -> None:
    await begun(stage)
    stage.server.api.fail_next(status, method="PATCH", path=NAME)
    found, answer = await send(stage, AFTER)
    assert (found, held(stage)["data"]["queues.yaml"]) == (503, document())
    assert ("admin.config" if status == 403 else "refused the write") in answer["message"]


@pytest.mark.rule("ACT-54")
@pytest.mark.parametrize(
    ("changes", "owner"),
    [
        ({"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}}}, "Helm"),
        ({"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "x\n\x1b[31m"}}}, "Argo CD"),
        ({"metadata": {"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}}}, "Flux"),
    ],
)
async def test_a_configmap_of_another_program_is_written_by_force_only(
    stage: Stage, changes: dict[str, Any], owner: str
) -> None:
    await begun(stage)
    edited(stage, **changes)
    status, answer = await send(stage, AFTER)
    assert (status, owner in answer["message"], "revert" in answer["message"]) == (409, True, True)
    assert answer["message"].isprintable()
    assert writes(stage) == 0
    assert (await send(stage, AFTER, "?force=true"))[0] == 200
    assert held(stage)["data"]["queues.yaml"] == AFTER


@pytest.mark.rule("ACT-54")
async def test_a_write_that_would_have_no_effect_is_refused(stage: Stage) -> None:
    await begun(stage)
    edited(stage, binaryData={"queues.yaml.gz": "H4sI"})
    status, answer = await send(stage, AFTER, "?force=true")
    assert (status, "queues.yaml.gz" in answer["message"], writes(stage)) == (409, True, 0)


async def test_a_missing_configmap_is_not_created(stage: Stage) -> None:
    await begun(stage)
    stage.server.api.delete(CONFIG_MAPS, NAME, "paddock-system")
    status, answer = await send(stage, AFTER)
    assert (status, "kubectl paddock apply" in answer["message"]) == (404, True)


@pytest.mark.rule("ACT-50", "ACT-51")
async def test_a_comparison_says_what_would_change_and_changes_nothing(stage: Stage) -> None:
    stage.server.pod("p1", node="n1")
    stage.server.pod("p2", node="n1")
    await begun(stage)
    status, found = await compare(stage, AFTER)
    assert (status, found["allowed"], found["checksum"]) == (200, True, checksum(AFTER))
    assert found["inForce"] == checksum(document())
    assert found["configMap"] == {"namespace": "paddock-system", "name": NAME, "key": "queues.yaml"}
    changes = {each["queue"]: each for each in found["queues"]}
    assert changes["root.c"]["change"] == "added"
    fields = [{"name": "max", "before": "vcore 2", "after": "vcore 1"}]
    assert changes["root.a"] == {"queue": "root.a", "change": "changed", "runningApps": 1, "fields": fields}
    (above,) = found["above"]
    assert (above["queue"], above["over"], above["applications"]) == (
        "root.a",
        {"vcore": 1000},
        ["default/app-1"],
    )
    assert writes(stage) == 0
    assert (await compare(stage, document()))[1].get("queues") is None


@pytest.mark.rule("ACT-52")
async def test_a_comparison_names_all_errors_with_lines(stage: Stage) -> None:
    await begun(stage)
    text = document().replace("vcore: 2", "vcore: -2")
    status, found = await compare(stage, text)
    assert (status, found["allowed"], [each["line"] for each in found["problems"]]) == (200, False, [7, 8])
    status, found = await compare(stage, "")
    assert (found["allowed"], "empty" in found["problems"][0]["message"]) == (False, True)
    assert (await compare(stage, b"x" * (2**20 + 1)))[0] == 413


@pytest.mark.rule("ACT-52")
async def test_a_leaf_with_applications_becomes_no_parent(stage: Stage) -> None:
    stage.server.pod("p1", node="n1")
    await begun(stage)
    text = document().replace("{name: a,", "{name: a, queues: [{name: x}],")
    assert (await compare(stage, text))[1]["allowed"] is False
    status, answer = await send(stage, text)
    assert (status, "cannot become a parent" in answer["message"], writes(stage)) == (400, True, 0)
