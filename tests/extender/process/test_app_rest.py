"""The REST interface of the whole server over a fake API server."""

import asyncio
import gzip
import json

import pytest
from aiohttp import ClientSession

from extender.http.rest import service
from extender.kube import leadership
from extender.rest.history.recorder import Recorder
from tests.extender.app_bench import LEASES, Server, document, kubeconfig, server, undone
from tests.extender.rigs import filter_body

__all__ = ["kubeconfig", "server", "undone"]

BASE = "/ws/v1/partition/default"

UI = (
    *("clusters", "partitions", "history/apps", "history/containers", "scheduler/node-utilizations"),
    *("partition/default/queues", "partition/default/queue/root.a/applications"),
    *("partition/default/nodes", "scheduler/healthcheck"),
)
"""Routes that the web UI calls (REST-15)."""


@pytest.mark.rule("REST-43")
@pytest.mark.parametrize("path", UI)
async def test_nothing_is_answered_about_a_cluster_that_was_not_read(server: Server, path: str) -> None:
    server.configure(document())
    server.api.fail_next(500, path="/api/v1/pods", watch=False, times=10**6)
    server.start()
    await server.until_shown("/readyz", "[+] configured ok", "waiting for pods")
    status, text = await server.get(f"/ws/v1/{path}")
    assert status == 503
    body = json.loads(text)
    assert body["status_code"] == 503
    assert body["message"] == body["description"]
    assert body["message"].startswith("synced: waiting for")
    assert text.endswith("\n")


@pytest.mark.rule("REST-4", "REST-15", "REST-47")
async def test_every_route_of_the_web_ui_answers(server: Server) -> None:
    server.configure(document())
    server.pod("running", node="n1")
    server.pod("waiting")
    await server.started()
    for path in UI:
        assert (await server.get(f"/ws/v1/{path}"))[0] == 200
    apps = json.loads((await server.get(f"{BASE}/queue/root.a/applications"))[1])
    assert [len(apps[0][each]) for each in ("allocations", "requests")] == [1, 1]
    nodes = json.loads((await server.get(f"{BASE}/nodes"))[1])
    assert [each["nodeID"] for each in nodes] == ["n1"]
    assert len(nodes[0]["allocations"]) == 1


@pytest.mark.rule("REST-21")
@pytest.mark.parametrize(
    ("method", "path", "status", "header", "value"),
    [
        ("GET", "/ws/v1/nothing", 404, "Content-Type", "text/plain; charset=utf-8"),
        ("POST", "/ws/v1/clusters", 405, "Allow", "GET, OPTIONS"),
        ("HEAD", "/ws/v1/clusters", 405, "Allow", "GET, OPTIONS"),
        ("GET", "/ws/v1/validate-conf", 405, "Allow", "OPTIONS, POST"),
        ("OPTIONS", "/ws/v1/clusters", 200, "Allow", "GET, OPTIONS"),
        ("GET", "/ws/v1/clusters/", 301, "Location", "/ws/v1/clusters"),
        ("GET", "/WS/v1/Clusters", 301, "Location", "/ws/v1/clusters"),
        ("POST", "/ws/v1/Validate-conf", 307, "Location", "/ws/v1/validate-conf"),
        ("GET", "/ws/v1/fullstatedump", 301, "Location", "/debug/fullstatedump"),
        ("GET", "/ws/v1/stack", 301, "Location", "/debug/stack"),
    ],
)
async def test_paths_and_methods(
    server: Server, method: str, path: str, status: int, header: str, value: str
) -> None:
    server.configure(document())
    await server.started()
    url = f"http://127.0.0.1:{server.admin}{path}"
    async with server.session.request(method, url, allow_redirects=False) as response:
        assert (response.status, response.headers[header]) == (status, value)


@pytest.mark.rule("REST-43", "REST-47")
@pytest.mark.parametrize(("wait", "status"), [(60.0, 200), (0.01, 503)])
async def test_a_request_waits_for_the_first_round_of_health_checks(
    server: Server, monkeypatch: pytest.MonkeyPatch, wait: float, status: int
) -> None:
    """A page that is opened between readiness and that round is complete, or its answers say why not."""
    monkeypatch.setattr(service, "FIRST_HEALTH", 1.0)
    monkeypatch.setattr(service, "CHECKED_WITHIN", wait)
    server.configure(document())
    await server.started()
    found = [await server.get(f"/ws/v1/{path}") for path in UI]
    assert [each for each, _ in found] == [status] * len(UI)
    assert status == 200 or all("health was not checked yet" in text for _, text in found)


@pytest.mark.rule("REST-39", "REST-43")
@pytest.mark.parametrize("path", ["/debug/stack", "/openapi.json"])
async def test_what_needs_no_cluster_waits_for_no_round(
    server: Server, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """The stacks may show why a round does not end."""
    monkeypatch.setattr(service, "FIRST_HEALTH", 60.0)
    monkeypatch.setattr(service, "CHECKED_WITHIN", 60.0)
    server.configure(document())
    await server.started()
    async with asyncio.timeout(10):
        assert (await server.get(path))[0] == 200


@pytest.mark.rule("REST-23")
async def test_a_body_is_packed_once(server: Server) -> None:
    server.configure(document())
    for at in range(20):
        server.pod(f"p-{at}", node="n1")
    await server.started()
    url = f"http://127.0.0.1:{server.admin}{BASE}/nodes"
    bodies = []
    for wish, packed in (("gzip", True), ("gzip;q=0", False), ("deflate", False), ("br, gzip;q=0.5", True)):
        async with (
            ClientSession(auto_decompress=False) as session,
            session.get(url, headers={"Accept-Encoding": wish}) as response,
        ):
            assert response.headers.get("Content-Encoding", "") == ("gzip" if packed else "")
            assert response.headers["Vary"] == "Accept-Encoding"
            body = await response.read()
        bodies.append(gzip.decompress(body) if packed else body)
    assert len({*bodies}) == 1
    assert len(json.loads(bodies[0])[0]["allocations"]) == 20


@pytest.mark.rule("REST-13")
async def test_events_are_streamed_as_they_come(server: Server) -> None:
    server.configure(document())
    await server.started()
    url = f"http://127.0.0.1:{server.admin}/ws/v1/events/stream?count=2"
    async with server.session.get(url) as response:
        head = json.loads(await response.content.readline())
        past = [json.loads(await response.content.readline()) for _ in range(2)]
        server.pod("late", app="app-late")
        async with asyncio.timeout(5):
            while (line := json.loads(await response.content.readline())).get("objectID") != "app-late":
                pass
    assert list(head) == ["InstanceUUID"]
    assert all(each["timestampNano"] for each in past)
    assert (line["type"], line["eventChangeType"], line["eventChangeDetail"]) == (2, 2, 203)
    batch = json.loads((await server.get("/ws/v1/events/batch"))[1])
    assert batch["InstanceUUID"] == head["InstanceUUID"]
    assert batch["HighestID"] == batch["LowestID"] + len(batch["EventRecords"]) - 1


@pytest.mark.rule("REST-2", "REST-13")
@pytest.mark.parametrize(
    ("keys", "query", "status", "message"),
    [
        ({}, "?count=-1", 400, "'-1' is not a whole number of at most 64 bits"),
        ({"event__trackingEnabled": "false"}, "", 500, "Event tracking is disabled"),
    ],
)
async def test_streams_that_are_refused(
    server: Server, keys: dict[str, str], query: str, status: int, message: str
) -> None:
    server.configure(document(), **keys)
    await server.started()
    await server.until_shown("/ws/v1/events/batch", "disabled" if keys else "InstanceUUID")
    found, text = await server.get(f"/ws/v1/events/stream{query}")
    assert (found, json.loads(text)["message"]) == (status, message)


@pytest.mark.rule("REST-13")
async def test_streams_of_one_host_are_counted(server: Server) -> None:
    server.configure(document(), event__maxStreamsPerHost="1")
    await server.started()
    url = f"http://127.0.0.1:{server.admin}/ws/v1/events/stream"
    async with server.session.get(url) as first:
        await first.content.readline()
        status, text = await server.get("/ws/v1/events/stream")
    assert (status, json.loads(text)["message"]) == (503, "Too many streaming connections")


@pytest.mark.rule("REST-34")
async def test_a_refusal_is_a_reason_and_an_event(server: Server) -> None:
    server.configure(document(vcore=1))
    server.pod("first", node="n1")
    server.pod("second")
    await server.started()
    await server.post("filter", filter_body("second"))
    apps = json.loads((await server.get(f"{BASE}/queue/root.a/applications"))[1])
    (request,) = apps[0]["requests"]
    assert request["schedulingAttempted"] is True
    assert [each["message"] for each in request["allocationLog"]] == ["Not enough queue quota"]
    _, text = await server.get("/ws/v1/events/batch")
    records = json.loads(text)["EventRecords"]
    assert [each["message"] for each in records if each["type"] == 1] == ["Not enough queue quota"]


@pytest.mark.rule("REST-43")
async def test_a_standby_tells_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leadership, "RETRY_EVERY", 0.01, raising=False)
    held = {
        "holderIdentity": "another",
        "leaseDurationSeconds": 3600,
        "renewTime": "2999-01-01T00:00:00.000000Z",
    }
    server.api.apply(LEASES, {"metadata": {"name": "paddock"}, "spec": held})
    server.configure(document(), paddock__lease="kube-system/paddock")
    await server.started()
    status, text = await server.get("/ws/v1/clusters")
    assert (status, json.loads(text)["message"]) == (503, "this instance does not lead")


@pytest.mark.rule("REST-14")
async def test_the_state_dump(server: Server) -> None:
    server.configure(document())
    server.pod("running", node="n1")
    server.pod("waiting", app="app-2")
    await server.started()
    status, text = await server.get("/ws/v1/fullstatedump")
    assert status == 200
    found = json.loads(text)
    assert set(found) == {
        *("timestamp", "partitions", "applications", "appHistory", "nodes", "clusterInfo"),
        *("containerHistory", "queues", "rmDiagnostics", "config", "placementRules", "eventStreams"),
        "logLevel",
    }
    assert text.startswith('{\n  "appHistory": [')
    assert found["logLevel"] == "info"
    assert found["queues"][0]["queuename"] == "root"
    assert found["partitions"][0]["totalContainers"] == 1
    assert [each["applicationID"] for each in found["applications"]] == ["app-1", "app-2"]
    assert [each["nodeID"] for each in found["nodes"][0]["nodesInfo"]] == ["n1"]
    assert found["rmDiagnostics"]["paddock"]["nodes"] == 1
    assert [each["name"] for each in found["placementRules"][0]["rules"]][-1] == "recovery"
    async with server.session.get(
        f"http://127.0.0.1:{server.admin}/ws/v1/config", headers={"Accept": "application/json"}
    ) as response:
        assert found["config"] == await response.json()
    assert found["config"]["Partitions"][0]["Queues"][0]["Name"] == "root"


@pytest.mark.rule("REST-27", "REST-39")
async def test_configuration_stacks_and_schema(server: Server) -> None:
    server.configure(document(), service__clusterId="mine", event__maxStreams="7")
    await server.started()
    _, text = await server.get("/ws/v1/config")
    assert "checksum:" in text
    assert "event.maxStreams" in text
    assert json.loads((await server.get("/ws/v1/clusters"))[1])[0]["rmBuildInformation"][0]["rmId"] == "mine"
    assert "thread MainThread" in (await server.get("/debug/stack"))[1]
    assert json.loads((await server.get("/openapi.json"))[1])["openapi"] == "3.1.0"


@pytest.mark.rule("REST-50", "REST-43")
async def test_the_past_has_a_sample_while_the_process_leads(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recorder, "wait", lambda _recorder: 0.01)
    server.configure(document())
    server.pod("running", node="n1")
    await server.started()
    await server.until_shown("/ws/v1/history/queue/root.a?span=30s", '"pods"')
    found = json.loads((await server.get("/ws/v1/history/queue/root.a?span=30s"))[1])
    assert [each for each in found["resources"]["pods"]["used"] if each is not None] == [1]
    assert 0 < found["memory"]["used"] < found["memory"]["limit"] == 96 * 2**20
    assert "paddock_history_series" in (await server.get("/metrics"))[1]
    assert (await server.get("/ws/v1/history/queue/root.a?span=25h"))[0] == 400
    assert (await server.get("/ws/v1/history/queue/root.nowhere"))[0] == 404
