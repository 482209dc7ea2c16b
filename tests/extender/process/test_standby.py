"""Two whole servers of one Paddock behind a Service: the standby gives the leader's answers (REST-43)."""

import base64
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import ClientSession
from yarl import URL

from extender.certificates.keeper import SECRET
from extender.front_door import DoorPlaces
from extender.http.aggregated import ROOT
from extender.kube.connection.client import connect
from tests.extender.app_bench import LEASES, Server, document, kubeconfig, undone, unused_port
from tests.extender.fake_api import FakeApi
from tests.extender.identity.played_reviews import PlayedReviews
from tests.extender.process.test_front_door import ALICE, AUTHENTICATION, FRONT_PROXY, SECRETS
from tests.extender.reflector_bench import until

__all__ = ["kubeconfig", "undone"]

LEADER, STANDBY = ("paddock-0", "127.0.0.2"), ("paddock-1", "127.0.0.1")
"""Name of the pod, which is its host's, and its address."""

SERVICE = "paddock.paddock-system.svc"
PODS = "/api/v1/namespaces/paddock-system/pods"
LEASE = "kube-system/paddock-scheduler"
GOOD = {"Authorization": "Bearer good"}
EVENTS = "/ws/v1/events/batch"


def _has_opened(server: Server) -> bool:
    """True once all three ports of a server are open."""
    return server.app is not None and len(server.app.front_door.addresses) == 3


class Replicas:
    """``leader`` and ``standby``, whose pods have the same ports."""

    def __init__(self, api: FakeApi, leader: Server, standby: Server) -> None:
        self.api = api
        self.leader = leader
        self.standby = standby
        self.ports = {each: unused_port() for each in ("rest_port", "aggregated_port", "peer_port")}
        self.played = PlayedReviews({"good": ("reader", "paddock"), "idle": ("nobody", "paddock")})
        rights = ("ws/events", "ws/partition", "ws/clusters", "ws/metrics", "explanations")
        self.played.rights |= {("alice", "get", right) for right in rights}
        self.played.rights |= {("reader", "get", path) for path in (EVENTS, "/metrics", "/ws/v1/metrics")}
        self.played.serve(api)
        data = {
            "requestheader-client-ca-file": (FRONT_PROXY / "old-ca.crt").read_text(),
            "requestheader-allowed-names": '["front-proxy-client"]',
            "requestheader-username-headers": '["X-Remote-User"]',
            "requestheader-group-headers": '["X-Remote-Group"]',
        }
        api.apply(AUTHENTICATION, {"metadata": {"name": "extension-apiserver-authentication"}, "data": data})
        for name, address in (LEADER, STANDBY):
            api.apply(
                PODS,
                {"metadata": {"name": name, "namespace": "paddock-system"}, "status": {"podIP": address}},
            )

    def lead(self, host: str) -> None:
        spec = {
            "holderIdentity": f"{host}_1",
            "leaseDurationSeconds": 3600,
            "renewTime": "2999-01-01T00:00:00.000000Z",
        }
        self.api.apply(LEASES, {"metadata": {"name": "paddock-scheduler"}, "spec": spec})

    async def start(self, monkeypatch: pytest.MonkeyPatch, **overrides: Any) -> None:
        self.lead(LEADER[0])
        self.leader.configure(document())
        for server, (host, address) in ((self.leader, LEADER), (self.standby, STANDBY)):
            monkeypatch.setattr("extender.app.socket.gethostname", lambda host=host: host)
            await server.started(
                overrides=self.ports | {"lease": LEASE} | overrides,
                door=DoorPlaces(address, namespace="paddock-system"),
            )
            await until(lambda server=server: _has_opened(server))
        await self.leader.until_shown("/ws/v1/scheduler/healthcheck", "HealthChecks")
        await until(lambda: bool(self._holder()))

    def _holder(self) -> str:
        assert self.standby.app is not None
        return self.standby.app._leadership.holder

    def context(self, certificate: str = "") -> ssl.SSLContext:
        found = self.api.find(SECRETS, SECRET)
        assert found is not None
        context = ssl.create_default_context(cadata=base64.b64decode(found["data"]["ca.crt"]).decode())
        if certificate:
            context.load_cert_chain(FRONT_PROXY / f"{certificate}.pem")
        return context

    async def ask(
        self,
        port: str,
        path: str,
        headers: dict[str, str] | None = None,
        *,
        certificate: str = "",
        address: str = STANDBY[1],
        scheme: str = "https",
    ) -> tuple[int, str]:
        """Status and body of the standby; 0 for a handshake that failed."""
        url = URL(f"{scheme}://{address}:{self.ports[f'{port}_port']}{path}", encoded=True)
        tls = {"ssl": self.context(certificate), "server_hostname": SERVICE} if scheme == "https" else {}
        try:
            async with (
                ClientSession() as session,
                session.get(url, headers=headers, allow_redirects=False, **tls) as response,  # type: ignore[arg-type]
            ):
                return response.status, await response.text()
        except (aiohttp.ClientError, ssl.SSLError):
            return 0, ""

    async def proxied(self, path: str) -> tuple[int, str]:
        """As the API server leads alice to the standby."""
        return await self.ask("aggregated", f"{ROOT}{path}", ALICE, certificate="proxy-old")

    async def passed_on(self, server: Server, outcome: str) -> float:
        """How many requests a server passed on, with this outcome."""
        _, text = await server.get("/metrics")
        lines = [
            line
            for line in text.splitlines()
            if line.startswith(f'paddock_passed_on_requests_total{{outcome="{outcome}"')
        ]
        return sum(float(line.rpartition(" ")[2]) for line in lines)


@pytest.fixture
async def replicas(kubeconfig: Callable[[FakeApi], str]) -> AsyncIterator[Replicas]:
    api = await FakeApi().start()
    async with (
        await connect(kubeconfig=kubeconfig(api)) as first,
        await connect(kubeconfig=kubeconfig(api)) as second,
        ClientSession() as session,
    ):
        made = Replicas(api, Server(api, first, session), Server(api, second, session))
        yield made
        for each in (made.standby, made.leader):
            await each.stop()
    await api.stop()


async def instance_of(server: Server) -> str:
    """The id of a server's process, as its events have it."""
    _, text = await server.get(EVENTS)
    return str(json.loads(text).get("InstanceUUID"))


@pytest.mark.rule("REST-43")
async def test_both_ports_of_a_standby_answer_as_the_leader(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    await replicas.start(monkeypatch)
    leading = await instance_of(replicas.leader)
    # On loopback the standby speaks for itself.
    assert (await replicas.standby.get(EVENTS))[0] == 503
    status, text = await replicas.ask("rest", EVENTS, GOOD)
    assert (status, json.loads(text)["InstanceUUID"]) == (200, leading)
    replicas.leader.pod("waiting")
    await replicas.leader.until_shown("/debug/pods/default/waiting", "story")
    for path, shown in (
        ("/ws/v1/events/batch", leading),
        ("/ws/v1/clusters", "clusterName"),
        ("/namespaces/default/explanations/waiting", '"kind":"Explanation"'),
        ("/ws/v1/partition/default/queue/root%252Ea", "root.a"),
    ):
        status, text = await replicas.proxied(path)
        assert (status, shown in text) == (200, True), text
    # Who calls is asked once, where the caller came in. The leader asks besides whether it may name others.
    assert replicas.played.count("TokenReview") == 1
    assert replicas.played.count("SubjectAccessReview") == 6
    assert await replicas.passed_on(replicas.standby, "answered") == 5
    assert await replicas.passed_on(replicas.leader, "answered") == 0


async def test_callers_that_the_standby_refuses_reach_no_leader(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    await replicas.start(monkeypatch)
    forged = {"X-Paddock-User": base64.b64encode(b'{"name": "reader"}').decode(), **ALICE}
    for headers, status in (({}, 401), (forged, 401), ({"Authorization": "Bearer idle", **forged}, 403)):
        seen, text = await replicas.ask("rest", EVENTS, headers)
        assert (seen, "InstanceUUID" in text) == (status, False)
        # The port for instances believes no token either, nor the certificate of the API server's proxy.
        for certificate in ("", "proxy-old"):
            asked = {**headers, **GOOD}
            assert await replicas.ask("peer", EVENTS, asked, certificate=certificate, address=LEADER[1]) == (
                0,
                "",
            )
    assert (await replicas.proxied("/ws/v1/config"))[0] == 403
    assert await replicas.passed_on(replicas.standby, "answered") == 0


async def test_metrics_of_the_process_are_not_passed_on_and_those_of_yunikorn_are(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each instance is scraped at /metrics; the path of YuniKorn's jobs is behind the Service."""
    await replicas.start(monkeypatch)
    _, own = await replicas.ask("rest", "/metrics", GOOD)
    assert "yunikorn_queue_resource{" not in own
    assert "paddock_leading 0.0" in own
    _, leaders = await replicas.ask("rest", "/ws/v1/metrics", GOOD)
    assert "yunikorn_queue_resource{" in leaders


async def test_a_leader_that_dies_leaves_503_until_the_standby_leads(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    await replicas.start(monkeypatch)
    await replicas.leader.stop()
    status, text = await replicas.ask("rest", EVENTS, GOOD)
    assert (status, json.loads(text)["message"]) == (
        503,
        "this instance does not lead, and the leader did not answer",
    )
    status, text = await replicas.proxied("/namespaces/default/explanations/waiting")
    assert (status, json.loads(text)["kind"]) == (503, "Status")
    assert len(replicas.standby.logged("read was not answered by the leader")) <= 1
    replicas.lead(STANDBY[0])
    app = replicas.standby.app
    assert app is not None
    await app._leadership.poll()
    await replicas.standby.until_shown("/ws/v1/scheduler/healthcheck", "HealthChecks")
    status, text = await replicas.ask("rest", EVENTS, GOOD)
    assert (status, json.loads(text)["InstanceUUID"]) == (200, await instance_of(replicas.standby))


async def test_two_standbys_pass_nothing_to_and_fro(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pod that the Lease names has the address of one that follows another Lease holder itself."""
    await replicas.start(monkeypatch)
    assert replicas.leader.app is not None
    assert replicas.standby.app is not None
    address = {"metadata": {"name": "paddock-9", "namespace": "paddock-system"}}
    replicas.api.apply(PODS, {**address, "status": {"podIP": LEADER[1]}})
    replicas.lead("paddock-9")
    for server in (replicas.leader, replicas.standby):
        assert server.app is not None
        await server.app._leadership.poll()
    status, text = await replicas.ask("rest", EVENTS, GOOD)
    assert (status, json.loads(text)["message"]) == (
        503,
        "this instance does not lead, and the leader refused it",
    )
    assert await replicas.passed_on(replicas.leader, "failed") == 0
    assert await replicas.passed_on(replicas.standby, "failed") == 1


async def test_without_a_port_for_instances_a_standby_answers_503(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    await replicas.start(monkeypatch)
    app = replicas.standby.app
    assert app is not None
    settings = app.configuration.settings.model_copy(update={"peer_port": 0})
    monkeypatch.setattr(app.configuration, "settings", settings)
    status, text = await replicas.ask("rest", EVENTS, GOOD)
    assert (status, "does not know the leader's address" in text) == (503, True)


async def test_open_access_is_passed_on_as_well(replicas: Replicas, monkeypatch: pytest.MonkeyPatch) -> None:
    await replicas.start(monkeypatch, rest_access="open")
    status, text = await replicas.ask("rest", EVENTS, {"Accept-Encoding": "gzip"}, scheme="http")
    assert (status, json.loads(text)["InstanceUUID"]) == (200, await instance_of(replicas.leader))
    url = f"http://{STANDBY[1]}:{replicas.ports['rest_port']}/ws/v1/partition/default/nodes"
    for at in range(20):
        replicas.leader.pod(f"p-{at}", node="n1")
    await replicas.leader.until_shown("/ws/v1/partition/default/nodes", "p-19")
    async with (
        ClientSession(auto_decompress=False) as session,
        session.get(url, headers={"Accept-Encoding": "gzip", "Origin": "http://ui.example"}) as response,
    ):
        assert response.headers["Content-Encoding"] == "gzip"
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        found = json.loads(gzip.decompress(await response.read()))
    assert len(found[0]["allocations"]) == 20
