"""F-4 on the whole server: it waits without a document, and a lost one stays in force."""

import asyncio
import json
from typing import Any

import pytest

from tests.extender.app_bench import (
    CONFIG_MAPS,
    PODS,
    Server,
    document,
    kubeconfig,
    server,
    undone,
)
from tests.extender.reflector_bench import until
from tests.extender.rigs import bind_body, filter_body, pod_body

__all__ = ["kubeconfig", "server", "undone"]

MAX = 'paddock_queue_max{queue="root.a",resource="vcore"} 2000.0'
NO_QUEUES = {"Error": "NotReady: no queues are configured yet"}


def events(server: Server) -> list[Any]:
    return [each.object for each in server.api._objects.get(("api/v1", "events"), {}).values()]


def unmanaged(name: str) -> bytes:
    return filter_body(name, scheduler="default-scheduler", queue="", app="")


async def test_without_a_document_it_is_not_ready_and_pods_of_queues_wait(server: Server) -> None:
    server.start()
    shown = await server.until_shown(
        "/readyz", "[-] configured: ConfigMap paddock-system/yunikorn-configs has"
    )
    assert "paddock.config.builtinDefault" in shown
    assert (await server.get("/readyz"))[0] == 503
    assert (await server.get("/livez"))[0] == 200
    await server.until_shown("/metrics", "paddock_configuration_missing 1.0")
    assert await server.post("filter", filter_body("p")) == NO_QUEUES
    assert (await server.post("filter", unmanaged("q")))["NodeNames"]
    server.configure(document())
    assert server.app is not None
    await until(server.app.synced.is_set)
    assert (await server.post("filter", filter_body("p")))["NodeNames"]
    await server.until_shown("/metrics", "paddock_configuration_missing 0.0", MAX)
    assert await server.get("/readyz") == (200, "ok\n")


async def test_a_pod_of_no_queue_is_bound_without_a_document(server: Server) -> None:
    body = pod_body("foreign", queue="", app="", scheduler="default-scheduler")
    server.api.apply(PODS, body)
    server.start()
    await server.until_shown("/readyz", "[-] configured: ConfigMap")
    assert (await server.post("filter", unmanaged("foreign")))["NodeNames"]
    assert await server.post("bind", bind_body("foreign")) == {}
    pod = server.api.find(PODS, "foreign")
    assert pod is not None
    assert pod["spec"]["nodeName"] == "n1"


async def test_a_first_document_that_is_wrong_is_reported_and_awaited_anew(server: Server) -> None:
    """The instance has served unmanaged pods for a while, and these must not be affected (SRC-10)."""
    server.start()
    await server.until_shown("/readyz", "[-] configured: ConfigMap")
    server.configure("partitions: [")
    await server.until_shown("/readyz?verbose", "last configuration error: document (line 2)")
    assert (await server.post("filter", unmanaged("q")))["NodeNames"]
    server.configure(document())
    await server.until_shown("/metrics", MAX)


async def test_the_built_in_queues_count_where_a_flag_says_so(server: Server) -> None:
    await server.started(overrides={"builtin_default": "true"})
    assert await server.get("/readyz") == (200, "ok\n")
    assert (await server.post("filter", filter_body("p")))["NodeNames"]


@pytest.mark.parametrize("how", ["deleted", "emptied", "key removed"])
async def test_a_lost_document_stays_in_force_and_is_reported(server: Server, how: str) -> None:
    server.configure(document())
    await server.started()
    if how == "deleted":
        server.api.delete(CONFIG_MAPS, "yunikorn-configs")
    else:
        data = {"paddock.turn.lease": "3s"} if how == "key removed" else {}
        server.api.apply(CONFIG_MAPS, {"metadata": {"name": "yunikorn-configs"}, "data": data})
    shown = await server.until_shown(
        "/readyz?verbose", "configuration missing: ConfigMap paddock-system/yunikorn"
    )
    assert (await server.get("/readyz"))[0] == 200
    assert await server.until_shown("/metrics", "paddock_configuration_missing 1.0", MAX)
    await until(lambda: bool(events(server)))
    (event,) = events(server)
    assert (event["type"], event["reason"]) == ("Warning", "ConfigurationMissing")
    assert event["involvedObject"]["name"] == "yunikorn-configs"
    assert event["message"] in shown
    server.configure(document(vcore=3))
    await server.until_shown("/metrics", "paddock_configuration_missing 0.0", 'resource="vcore"} 3000.0')
    await server.until_shown("/readyz?verbose", "configuration missing: \n")


async def test_an_empty_list_after_lost_watches_lifts_no_limit(server: Server) -> None:
    """A relist that finds nothing, again and again, is reported once."""
    server.configure(document())
    await server.started()
    await server.api.stop()
    server.api.delete(CONFIG_MAPS, "yunikorn-configs")
    server.api.compact()
    await server.api.start()
    await server.until_shown("/metrics", "paddock_configuration_missing 1.0", MAX)
    await until(lambda: bool(events(server)))
    assert len(server.logged("configuration is missing from its source")) == len(events(server)) == 1


async def test_a_pod_with_a_mistyped_queue_learns_where_it_counts(server: Server) -> None:
    """F-6: by an Event on the pod and in its story."""
    server.configure(document().replace("{name: b,", "{name: default,"))
    server.pod("p", queue="root.nope")
    await server.started()
    message = "fell back to root.default: root.nope does not exist"
    await until(lambda: bool(events(server)))
    (event,) = events(server)
    assert (event["reason"], event["type"], event["message"]) == ("FellBack", "Warning", message)
    assert event["involvedObject"]["uid"] == "uid-p"
    _, text = await server.get("/debug/pods/default/p")
    story = json.loads(text)
    assert (story["queue"], story["fellBack"]) == ("root.default", message)


async def test_config_maps_that_it_may_not_read_are_named_with_the_error(server: Server) -> None:
    """With a lost right, the configuration in force stays, and a start names the missing right."""
    server.configure(document())
    server.api.fail_next(403, path="configmaps", times=10**6)
    server.start()
    await server.until_shown("/readyz", "no configuration yet (configmap yunikorn-", "403 Forbidden")


async def test_another_name_of_the_admin_port_is_answered_while_it_is_listed(server: Server) -> None:
    async def status(host: str) -> int:
        url, headers = f"http://127.0.0.1:{server.admin}/readyz", {"Host": host}
        async with server.session.get(url, headers=headers) as response:
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            return response.status

    server.configure(document())
    await server.started()
    assert [await status("localhost:1"), await status("paddock.example:80")] == [200, 403]
    server.configure(document(), paddock__rest__hosts="paddock.example")
    async with asyncio.timeout(5):
        while await status("paddock.example:80") == 403:  # noqa: ASYNC110 a reload has no event here
            await asyncio.sleep(0.01)
    assert await status("evil.example") == 403
