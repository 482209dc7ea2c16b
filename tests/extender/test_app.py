"""The whole server with a fake API server: start, readiness, reloads, effects and its end."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from core.decisions.admission import NODE_RESERVED
from core.ledger import events as on
from core.workload.pod import RESERVED_NODE
from extender.app import StartError
from extender.engine.engine import Engine
from extender.kube import leadership
from extender.wire.calls.extender_v1 import NO_PREEMPTION
from tests.extender.app_bench import (
    CONFIG_MAPS,
    LEASES,
    PODS,
    Server,
    document,
    kubeconfig,
    server,
    undone,
)
from tests.extender.reflector_bench import until
from tests.extender.rigs import bind_body, filter_body, pod_body, preempt_body

__all__ = ["kubeconfig", "server", "undone"]


# -- start ------------------------------------------------------------------------------------------------


async def test_it_becomes_ready(server: Server) -> None:
    server.configure(document())
    await server.started()
    assert await server.get("/livez") == (200, "ok\n")
    assert await server.get("/readyz") == (200, "ok\n")
    status, verbose = await server.get("/readyz?verbose")
    assert status == 200
    assert verbose.splitlines()[:2] == ["[+] configured ok", "[+] synced ok"]
    assert "leading: true" in verbose
    assert len(server.logged("Paddock is ready")) == 1


async def test_it_is_not_ready_before_the_lists_are_in(server: Server) -> None:
    server.configure(document())
    server.api.fail_next(500, path="/api/v1/pods", watch=False, times=10**6)
    server.start()
    shown = await server.until_shown("/readyz", "[+] configured ok", "waiting for pods")
    assert "[-] synced" in shown
    assert (await server.get("/readyz"))[0] == 503
    assert (await server.get("/livez"))[0] == 200
    assert await server.post("filter", filter_body("p")) == {
        "Error": "NotReady: Paddock has not read the cluster yet"
    }


async def test_budgets_that_it_may_not_read_are_named_with_the_error(server: Server) -> None:
    """An old role without them must not look like a server that is merely slow."""
    server.configure(document())
    server.api.fail_next(403, path="poddisruptionbudgets", times=10**6)
    server.start()
    await server.until_shown(
        "/readyz", "waiting for poddisruptionbudgets (403 Forbidden: the test wants 403)\n"
    )
    (first, *_) = server.logged("watch was interrupted and will be tried again after the pause")
    assert (first["kind"], first["level"]) == ("poddisruptionbudgets", "warning")


async def test_what_it_may_not_do_is_logged_with_the_error(server: Server) -> None:
    """The metric only shows a failure, but not the missing right."""
    server.configure(document())
    await server.started()
    server.api.fail_next(403, method="POST", path="/events")
    server.configure("partitions: [")
    await until(lambda: bool(server.logged("effect failed after its last attempt")))
    (line,) = server.logged("effect failed after its last attempt")
    assert (line["effect"], line["namespace"], line["name"]) == (
        "PostEvent",
        "paddock-system",
        "yunikorn-configs",
    )
    assert (line["error"], line["level"]) == ("403 Forbidden: the test wants 403", "warning")


async def test_an_api_that_does_not_say_whether_it_has_pod_groups_is_named_with_the_error(
    server: Server,
) -> None:
    """Pods wait for the result, so the first start waits, too."""
    server.configure(document())
    server.api.fail_next(503, path="/apis/scheduling.x-k8s.io", times=10**6)
    server.start()
    await server.until_shown("/readyz", "waiting for podgroups (503 ServerError: the test wants 503), pods")


async def test_numbers_of_queues_and_pods(server: Server) -> None:
    server.configure(document())
    server.pod("running", node="n1")
    server.pod("waiting", queue="root.b", app="app-2")
    await server.started()
    _, metrics = await server.get("/metrics")
    for line in (
        'paddock_queue_max{queue="root.a",resource="vcore"} 2000.0',
        'paddock_queue_allocated{queue="root.a",resource="vcore"} 1000.0',
        'paddock_queue_pending{queue="root.b",resource="vcore"} 1000.0',
        "paddock_pods 2.0",
        "paddock_synced 1.0",
        'paddock_reloads_total{fate="applied"} 1.0',
    ):
        assert line in metrics.splitlines()
    assert 'paddock_lists_total{kind="pods"} 1.0' in metrics


async def test_the_story_of_a_pod_with_its_numbers(server: Server) -> None:
    server.configure(document())
    server.pod("running", node="n1")
    server.pod("waiting")
    await server.started()
    await server.post("filter", filter_body("waiting", cpu="2", version="9999999"))
    status, text = await server.get("/debug/pods/default/waiting")
    story = json.loads(text)
    assert status == 200
    assert (story["queue"], story["told"]) == ("root.a", "QuotaExceeded: root.a max vcore=2")
    assert story["verdict"]["code"] == "QuotaExceeded"
    leaf = next(each for each in story["verdict"]["queues"] if each["queue"] == "root.a")
    assert (leaf["max"]["vcore"], leaf["allocated"]["vcore"], leaf["pending"]["vcore"]) == (2000, 1000, 2000)
    assert [line["what"] for line in story["story"]] == ["seen, pending", "filter: QuotaExceeded"]
    assert (await server.get("/debug/pods/default/nobody"))[0] == 404


@pytest.mark.rule("QUO-9")
async def test_each_queue_over_its_max_is_said_once_at_the_start(server: Server) -> None:
    server.configure(document(vcore=1))
    for number in range(3):
        server.pod(f"a{number}", node="n1")
        server.pod(f"b{number}", node="n1", queue="root.b", app="app-2")
    await server.started()
    assert [
        (line["queue"], line["excess"])
        for line in server.logged("queue uses more than its max, so its new pods wait")
    ] == [
        ("root.a", {"vcore": 2000}),
        ("root.b", {"vcore": 2000}),
    ]


async def test_the_first_configuration_must_be_right(server: Server) -> None:
    server.configure("partitions: [")
    server.start()
    assert server.task is not None
    with pytest.RaisesGroup(pytest.RaisesExc(StartError), flatten_subgroups=True):
        await server.task
    server.task = None
    assert len(server.logged("configuration was refused and has no effect")) == 1


async def test_a_cancelled_server_leaves_nothing_behind(server: Server) -> None:
    server.configure(document())
    before = asyncio.all_tasks()
    await server.started()
    await server.get("/livez")
    await server.stop()
    # The other ends of its watches belong to the fake server.
    left = {task for task in asyncio.all_tasks() - before if "aiohttp" not in repr(task)}
    assert left == set()
    for port in (server.verbs, server.admin):
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))


# -- running ----------------------------------------------------------------------------------------------


async def test_a_pod_from_filter_to_bind(server: Server) -> None:
    server.configure(document())
    server.pod("p")
    await server.started()
    assert await server.post("filter", filter_body("p", nodes=["n1"])) == {"NodeNames": ["n1"]}
    assert await server.post("bind", bind_body("p")) == {}
    pod = server.api.find(PODS, "p")
    assert pod is not None
    assert pod["spec"]["nodeName"] == "n1"
    metrics = await server.until_shown(
        "/metrics", 'paddock_queue_allocated{queue="root.a",resource="vcore"} 1000.0'
    )
    assert 'paddock_decisions_total{code="Binding",verb="bind"} 1.0' in metrics
    scheduler = "yunikorn_scheduler_"
    _, yunikorn = await server.get("/ws/v1/metrics")
    for line in (
        f'{scheduler}container_allocation_attempt_total{{state="allocated"}} 1',
        f"{scheduler}scheduling_latency_milliseconds_count 1",
        f"{scheduler}trynode_latency_milliseconds_count 1",
        f"{scheduler}scheduling_cycle_milliseconds_count 1",
        f'{scheduler}application_total{{state="running"}} 1',
        'yunikorn_queue_resource{queue="root.a",state="allocated",resource="vcore"} 1000',
    ):
        assert line in yunikorn.splitlines()
        assert line in metrics.splitlines()
    assert "paddock_" not in yunikorn


async def test_a_refused_pod_is_woken_when_capacity_appears(server: Server) -> None:
    server.configure(document(vcore=1))
    server.pod("first", node="n1")
    server.pod("second")
    await server.started()
    answer = await server.post("filter", filter_body("second"))
    assert answer["NodeNames"] == []
    server.api.delete(PODS, "first")
    await until(lambda: "annotations" in (server.api.find(PODS, "second") or {})["metadata"])
    await server.until_shown("/metrics", 'paddock_effects_total{effect="WakePod",outcome="done"} 1.0')


async def test_a_reload_is_applied(server: Server) -> None:
    server.configure(document(vcore=1))
    await server.started()
    server.configure(document(vcore=5))
    await server.until_shown("/metrics", 'paddock_queue_max{queue="root.a",resource="vcore"} 5000.0')
    await server.until_shown("/metrics", 'paddock_reloads_total{fate="applied"} 2.0')


@pytest.mark.rule("SRC-10")
async def test_a_refused_reload_is_shown_everywhere(server: Server) -> None:
    server.configure(document(vcore=1))
    await server.started()
    server.configure(document(vcore=-1))
    verbose = await server.until_shown("/readyz?verbose", "last configuration error: partitions[0]")
    assert verbose.startswith("[+] configured ok\n[+] synced ok\n")
    metrics = await server.until_shown("/metrics", 'paddock_reloads_total{fate="refused"} 1.0')
    assert 'paddock_queue_max{queue="root.a",resource="vcore"} 1000.0' in metrics
    events = server.api._objects.setdefault(("api/v1", "events"), {})
    await until(lambda: bool(events))
    (stored,) = events.values()
    event = stored.object
    config_map = server.api.find(CONFIG_MAPS, "yunikorn-configs")
    assert config_map is not None
    assert event["reason"] == "ConfigurationRefused"
    assert event["involvedObject"]["name"] == "yunikorn-configs"
    assert event["involvedObject"]["uid"] == config_map["metadata"]["uid"]
    assert event["message"] in verbose
    server.configure(document(vcore=2))
    await server.until_shown("/readyz?verbose", "last configuration error: \n")


async def test_settings_of_the_first_config_map_count_from_the_start(server: Server) -> None:
    lease = {"metadata": {"name": "kube-scheduler"}, "spec": {"holderIdentity": "somebody-else_1"}}
    server.api.apply(LEASES, lease)
    server.configure(document(), paddock__lease="kube-system/kube-scheduler", paddock__bind__deadline="50ms")
    server.api.fail_next(500, path="/api/v1/pods", watch=False, times=10**6)
    server.pod("p")
    server.start()
    await server.until_shown("/readyz?verbose", "leading: false", "[+] configured ok")
    async with asyncio.timeout(5):
        assert "NotReady" in (await server.post("bind", bind_body("p")))["Error"]


async def test_an_instance_that_does_not_lead_writes_no_event(server: Server) -> None:
    server.configure(document(), paddock__lease="kube-system/kube-scheduler")
    await server.started()
    server.configure("partitions: [", paddock__lease="kube-system/kube-scheduler")
    await server.until_shown(
        "/metrics", 'paddock_effects_total{effect="PostEvent",outcome="not leading"} 1.0'
    )
    assert not [each for each in server.api.requests if each.method == "POST"]


def events_of(monkeypatch: pytest.MonkeyPatch) -> list[on.Event]:
    """Events that engines learn from now on."""
    learned, learn = list[on.Event](), Engine.learn

    def recorded(engine: Engine, event: on.Event) -> None:
        learned.append(event)
        learn(engine, event)

    monkeypatch.setattr(Engine, "learn", recorded)
    return learned


async def test_a_called_instance_believes_the_records_of_the_one_before_without_having_read_the_lease(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kube-scheduler begins to ask at the moment at which it has the Lease."""
    learned = events_of(monkeypatch)
    monkeypatch.setattr(leadership, "POLL", 0.1)
    lease = {"metadata": {"name": "kube-scheduler"}, "spec": {"holderIdentity": "somebody-else_1"}}
    server.api.apply(LEASES, lease)
    server.configure(document(vcore=8), paddock__lease="kube-system/kube-scheduler")
    await server.started()
    assert server.app is not None
    engine = server.app.engine
    await until(lambda: on.ActingEnded() in learned)
    for name, reserved in (("large", "n1"), ("small", "")):
        body = pod_body(name)
        body["metadata"]["annotations"] = {RESERVED_NODE: reserved}
        server.api.apply(PODS, body)
        await until(lambda pod=body: engine.view.pod_named("default", pod["metadata"]["name"]) is not None)
    monkeypatch.setattr(leadership, "POLL", 60.0)
    server.api.apply(LEASES, {**lease, "spec": {"holderIdentity": f"{socket.gethostname()}_1"}})
    answer = await server.post("filter", filter_body("small", nodes=["n1"]))
    # The node is reserved for the other pod, or the other pod now has its turn and comes first.
    refused_by = {NODE_RESERVED.text, "WaitingForTurn: root.a"}
    assert set(answer["FailedAndUnresolvableNodes"]) == {"n1"}
    assert set(answer["FailedAndUnresolvableNodes"].values()) <= refused_by


async def test_an_instance_that_does_not_lead_admits_nothing_and_serves_unmanaged_pods(
    server: Server,
) -> None:
    """F-3: the Lease does not exist, which is reported with the setting that names it."""
    server.configure(document(vcore=8), paddock__lease="kube-system/kube-scheduler")
    await server.started()
    server.pod("p")
    lease = "the Lease kube-system/kube-scheduler that paddock.lease names does not exist"
    for verb, body in (("filter", filter_body("p")), ("bind", bind_body("p"))):
        assert (await server.post(verb, body))["Error"] == f"NotReady: not leading: {lease}"
    assert await server.post("prioritize", filter_body("p")) == []
    assert await server.post("preempt", preempt_body("p", {"n1": ["uid-v"]})) == json.loads(NO_PREEMPTION)
    await server.until_shown("/readyz?verbose", "leading: false", f"lease: {lease}")
    foreign = filter_body("other", queue="", app="", scheduler="default-scheduler")
    assert (await server.post("filter", foreign))["NodeNames"]
    server.api.apply(PODS, pod_body("other", queue="", app="", scheduler="default-scheduler"))
    assert not (await server.post("bind", bind_body("other"))).get("Error")


async def test_a_clock_that_is_off_is_measured_and_said(server: Server) -> None:
    now = server.api.clock
    server.api.clock = lambda: now() + 60
    server.configure(document())
    await server.started()
    skewed = "clock differs from the API server's by more than 5 s"
    await until(lambda: bool(server.logged(skewed)))
    (line,) = server.logged(skewed)
    assert 55 < line["seconds"] < 65
    assert line["above_limit"]


async def test_a_file_is_followed_instead_of_the_config_maps(server: Server, tmp_path: Path) -> None:
    server.configure("not even read: [")
    path = tmp_path / "queues" / "queues.yaml"
    await asyncio.to_thread(path.parent.mkdir)
    await asyncio.to_thread(path.write_text, document(vcore=1))
    await server.started(queues=path, overrides={"reservation_ttl": "7s"})
    assert server.app is not None
    assert server.app.engine.view.settings.reservation_ttl == 7.0

    async def edited(text: str) -> None:
        fresh = path.with_suffix(".new")
        await asyncio.to_thread(fresh.write_text, text)
        await asyncio.to_thread(fresh.replace, path)

    async def shown(edit: Callable[[], Awaitable[object]], path: str, text: str) -> None:
        """The folder may not be watched yet at the first try, which is not visible from outside."""
        for _ in range(50):
            await edit()
            if text in (await server.get(path))[1]:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(text)

    await shown(lambda: edited(document(vcore=3)), "/metrics", 'resource="vcore"} 3000.0')
    await shown(
        lambda: edited("partitions: ["), "/readyz?verbose", "last configuration error: document (line 2)"
    )
    await shown(lambda: edited(document(vcore=4)), "/metrics", 'resource="vcore"} 4000.0')
    await asyncio.to_thread(path.unlink)
    await server.until_shown("/readyz?verbose", "queues.yaml: No such file or directory")
