"""Attacks by any process that reaches the verbs' port, on the real control plane (F-18, F-19)."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from e2e.cluster.client import Cluster, Object, message_of, node_of
from e2e.stands.stand import Stand, certificates, eventually, eventually_equal
from e2e.tests.quota.test_unguarded import _seen
from tests.extender.http.test_intake import PACKED

TWO = {"a": {"max": {"vcore": "2"}}}
OWN_GATE = "paddock.dev/queue"
INVENTED = "verbs are called for pods that do not exist"
"""Paddock's warning, after which it believes no body about a pod that no watch has shown."""


@dataclass(frozen=True)
class Caller:
    """A process on the control plane's host that is not kube-scheduler."""

    url: str
    session: aiohttp.ClientSession

    async def call(self, verb: str, body: Any, **headers: str) -> tuple[int, Object]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.session.post(f"{self.url}/{verb}", data=data, headers=headers) as answer:
            found: Object = json.loads(await answer.read())
            return answer.status, found

    async def bind(self, pod: Object, node: str, **other: str) -> str:
        """Call bind, and return Paddock's error, empty for a bound pod."""
        meta = pod["metadata"]
        body = {
            "PodName": meta["name"],
            "PodNamespace": meta["namespace"],
            "PodUID": meta["uid"],
            "Node": node,
            **other,
        }
        _, answer = await self.call("bind", body)
        return str(answer.get("Error", ""))


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    try:
        return await asyncio.wait_for(reader.read(), 40)
    except ConnectionError:
        return b""


def body_for(pod: Object) -> Object:
    return {"Pod": pod, "NodeNames": ["n1"]}


async def test_only_a_pod_that_may_be_bound_is(cluster: Cluster) -> None:
    """Gated, terminating, elsewhere, over the quota, under another name: none gets a node."""
    async with Stand(cluster, TWO) as stand, aiohttp.ClientSession() as session:
        await cluster.add_nodes(2)
        caller = Caller(stand.paddock.url, session)
        gates = {"schedulingGates": [{"name": OWN_GATE}]}
        gated = await cluster.create_pod("gated", queue="root.a", cpu="2", spec=gates)
        foreign = await cluster.create_pod("foreign", scheduler_name="nobody", spec=gates)
        large = await cluster.create_pod("large", queue="root.a", cpu="3")
        await stand.pods.until(lambda: "Quota" in message_of(stand.pods.named("large")), "it is refused")
        await eventually(lambda: _seen(stand, "foreign"), "Paddock knows the foreign one")
        assert "QuotaExceeded" in await caller.bind(large, "n1")
        assert "scheduling gate" in await caller.bind(foreign, "n1")
        assert "gone" in await caller.bind(large, "n1", PodName="foreign")
        assert "gone" in await caller.bind(large, "n1", PodUID="invented")
        # Paddock opens its own gate, so this pod may be admitted by now, or run.
        error = await caller.bind(gated, "n1")
        assert not error or "scheduling gate" in error or "already bound" in error
        await cluster.delete_pod("large", grace=30)
        assert await caller.bind(large, "n1") != ""
        for name in ("foreign", "large"):
            assert node_of(stand.pods.named(name) or {"spec": {}}) == ""
        await stand.audited()


async def test_no_name_leads_to_another_path(cluster: Cluster) -> None:
    """Every path that the API server is asked for goes through the proxy, which records it."""
    async with Stand(cluster, TWO, proxied=True) as stand, aiohttp.ClientSession() as session:
        await cluster.add_nodes(1)
        caller = Caller(stand.paddock.url, session)
        pod = await cluster.create_pod("p", scheduler_name="nobody")
        for name in ("../../../secrets", "..", "p/status", "p%2Fstatus", "p?x=1"):
            for field in ("PodName", "PodNamespace", "Node"):
                error = await caller.bind(pod, "n1", PodUID="invented", **{field: name})
                assert "is no name" in error
        fake = cluster.pod("p", queue="root.a")
        fake["metadata"] |= {"uid": "invented", "namespace": "../secrets", "resourceVersion": "1"}
        assert "is no name" in (await caller.call("filter", body_for(fake)))[1]["Error"]
        assert [path for method, path in stand.proxy.requests if method == "GET" and "/pods/" in path] == []
        await stand.audited()


async def test_invented_pods_hold_no_quota_for_long(cluster: Cluster) -> None:
    """A body for a pod that does not exist is believed for a second; many of them, not at all."""
    async with Stand(cluster, TWO) as stand, aiohttp.ClientSession() as session:
        await cluster.add_nodes(1)
        caller = Caller(stand.paddock.url, session)

        async def invent(name: str, app: str) -> Object:
            pod = cluster.pod(name, queue="root.a", app=app, cpu="2")
            pod["metadata"] |= {"uid": f"uid-{name}", "resourceVersion": "1"}
            return (await caller.call("filter", body_for(pod)))[1]

        async def reserved() -> float:
            return await stand.paddock.metric("paddock_queue_reserved", queue="root.a", resource="vcore")

        async def warned() -> bool:
            return any(line.get("event") == INVENTED for line in stand.paddock.logs())

        assert (await invent("first", "x"))["NodeNames"] == ["n1"]
        assert await reserved() == 2000
        await eventually_equal(reserved, 0, "an invented pod's quota is given back")
        for at in range(20):
            await invent(f"more-{at}", f"x-{at}")
        await eventually_equal(reserved, 0, "that of many too")
        # Only one of them held quota. The API server has yet to report for ten that they do not exist.
        await eventually(warned, "Paddock has noticed that they are invented")
        assert "has not shown this pod" in (await invent("late", "x"))["Error"]
        for name in ("p1", "p2"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "real pods run all the same")
        await stand.audited()


async def test_bodies_that_stall_or_unpack_stop_no_other_caller(cluster: Cluster) -> None:
    async with Stand(cluster, TWO) as stand, aiohttp.ClientSession() as session:
        await cluster.add_nodes(1)
        caller = Caller(stand.paddock.url, session)
        port = int(caller.url.split(":")[2].split("/")[0])
        opened = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", port) for _ in range(500)))
        for at, (_, writer) in enumerate(opened):
            writer.write(
                b"POST /v1/filter HTTP/1.1\r\nHost: x\r\n"
                + (b"Content-Length: 9\r\n\r\n{" if at % 2 else b"")
            )
        for encoding in ("gzip", "deflate"):
            status, _ = await caller.call("filter", PACKED, **{"Content-Encoding": encoding})
            assert status == 415
        for name in ("p1", "p2"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two run meanwhile")
        closed = await asyncio.gather(*(until_closed(reader) for reader, _ in opened))
        assert sum(b" 408 " in each for each in closed) == 250
        slow = {"port": "verbs", "reason": "slow head"}
        assert await stand.paddock.metric("paddock_connections_closed_total", **slow) == 250
        for _, writer in opened:
            writer.close()
        await stand.audited()


async def test_mutual_tls_on_loopback_keeps_others_out(cluster: Cluster) -> None:
    """A real kube-scheduler calls over ``tlsConfig``. A process without its certificate cannot."""
    folder = cluster.control_plane.folder / "tls-on-loopback"
    tls = certificates(folder, "paddock.local")
    async with Stand(cluster, TWO, tls=tls) as stand:
        await cluster.add_nodes(1)
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(
            lambda: len(stand.pods.bound()) == 2 and stand.pods.refused("QuotaExceeded"),
            "two of three run",
        )
        url = stand.paddock.url.replace("http:", "https:")
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session:
            with pytest.raises(aiohttp.ClientError):
                await Caller(url, session).call("filter", {})
            with pytest.raises(aiohttp.ClientError):
                await Caller(stand.paddock.url, session).call("filter", {})
        await stand.audited()
