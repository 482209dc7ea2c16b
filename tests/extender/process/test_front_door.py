"""The REST port and the aggregated API of a whole server: whom they answer, and what they show to others."""

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from extender.certificates.keeper import SECRET
from extender.front_door import DoorPlaces
from extender.http.aggregated import ROOT
from tests.extender.app_bench import NAMESPACES, Server, document, kubeconfig, server, undone, unused_port
from tests.extender.identity.played_reviews import API_SERVER, PlayedReviews
from tests.extender.reflector_bench import until
from tests.extender.rigs import pod_body

__all__ = ["kubeconfig", "server", "undone"]

FRONT_PROXY = Path(__file__).parents[1] / "tls" / "front-proxy"
SECRETS = "/api/v1/namespaces/paddock-system/secrets"
AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps"
METRICS = "/ws/v1/metrics"
GOOD = {"Authorization": "Bearer good"}
ALICE = {"X-Remote-User": "alice", "X-Remote-Group": "team"}


class Stage:
    """A server with both ports. ``played``: the API server's verdicts."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.ports = {"rest_port": unused_port(), "aggregated_port": unused_port()}
        self.played = PlayedReviews(
            {
                "good": ("prometheus", "paddock"),
                "idle": ("nobody", "paddock"),
                "of-the-api-server": ("admin", API_SERVER),
            }
        )
        self.played.rights |= {
            ("prometheus", "get", METRICS),
            ("prometheus", "get", "/readyz"),
            ("admin", "get", METRICS),
            ("alice", "get", "explanations"),
            ("alice", "get", "ws/metrics"),
            ("alice", "create", "actions"),
            ("alice", "list", "queues"),
        }
        self.played.serve(server.api)
        self.trust("old")

    def trust(self, *authorities: str, names: str = '["front-proxy-client"]') -> None:
        """Write the ConfigMap that says who the API server's proxy is."""
        data = {
            "requestheader-client-ca-file": "".join(
                (FRONT_PROXY / f"{each}-ca.crt").read_text() for each in authorities
            ),
            "requestheader-allowed-names": names,
            "requestheader-username-headers": '["X-Remote-User"]',
            "requestheader-group-headers": '["X-Remote-Group"]',
        }
        name = {"name": "extension-apiserver-authentication"}
        self.server.api.apply(AUTHENTICATION, {"metadata": name, "data": data})

    async def start(self, **overrides: Any) -> None:
        self.server.configure(document())
        await self.server.started(
            overrides=self.ports | overrides, door=DoorPlaces("127.0.0.1", namespace="paddock-system")
        )
        app = self.server.app
        assert app is not None
        await until(lambda: len(app.front_door.addresses) == sum(1 for port in self.ports.values() if port))

    def context(self, certificate: str = "") -> ssl.SSLContext:
        """A client that trusts what the Secret says, and checks the name."""
        found = self.server.api.find(SECRETS, SECRET)
        assert found is not None
        trusted = base64.b64decode(found["data"]["ca.crt"]).decode()
        context = ssl.create_default_context(cadata=trusted)
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
        method: str = "GET",
    ) -> tuple[int, str]:
        """Status and body, over a new connection; 0 for a handshake that failed."""
        url = f"https://localhost:{self.ports[f'{port}_port']}{path}"
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.request(method, url, headers=headers, ssl=self.context(certificate)) as response,
            ):
                return response.status, await response.text()
        except (aiohttp.ClientError, ssl.SSLError):
            return 0, ""

    async def until_proxied(self, certificate: str, status: int) -> None:
        """Wait until discovery is answered so for a proxy with this certificate."""
        seen = -1
        for _ in range(500):
            seen, _ = await self.ask("aggregated", ROOT, ALICE, certificate=certificate)
            if seen == status:
                return
        pytest.fail(f"{seen}, not {status}")


@pytest.fixture
async def stage(server: Server) -> Stage:
    return Stage(server)


# -- the REST port ---------------------------------------------------------------------------------------


async def test_a_token_with_the_right_reads_over_tls(stage: Stage) -> None:
    await stage.start()
    status, text = await stage.ask("rest", METRICS, GOOD)
    assert (status, "yunikorn_queue_resource" in text) == (200, True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer unknown"}, 401),
        ({"Authorization": "Bearer of-the-api-server"}, 401),
        ({"Authorization": "Bearer idle"}, 403),
        (ALICE, 401),
        ({"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters"}, 401),
        ({**GOOD, "Host": "localhost", "X-Remote-User": "alice"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/ws/v1/none", "/debug/audit", "/debug/pods/default/p", "/livez", ROOT])
async def test_others_learn_nothing(stage: Stage, path: str, headers: dict[str, str], status: int) -> None:
    """Headers that name a user are dropped here, also beside a token."""
    await stage.start()
    seen, text = await stage.ask("rest", path, headers)
    assert seen == status
    assert set(json.loads(text)) == {"status_code", "message", "description"}
    assert "unknown" not in stage.server.stream.getvalue()


async def test_the_proxy_is_believed_on_its_own_port_alone(stage: Stage) -> None:
    await stage.start()
    # The REST port asks for no certificate at all.
    assert (await stage.ask("rest", METRICS, ALICE, certificate="proxy-old"))[0] == 401


async def test_tokens_for_the_api_server_count_where_a_setting_says_so(stage: Stage) -> None:
    await stage.start(rest_api_server_tokens="true")
    token = {"Authorization": "Bearer of-the-api-server"}
    assert (await stage.ask("rest", METRICS, token))[0] == 200


async def test_a_flood_of_unknown_tokens_is_asked_to_wait(stage: Stage) -> None:
    await stage.start()
    seen = [
        (await stage.ask("rest", METRICS, {"Authorization": f"Bearer t{number}"}))[0] for number in range(30)
    ]
    assert set(seen) == {401, 429}
    assert stage.played.count("TokenReview") < 30


async def test_plain_http_is_not_answered(stage: Stage) -> None:
    await stage.start()
    with pytest.raises(aiohttp.ClientError):
        await stage.server.session.get(f"http://127.0.0.1:{stage.ports['rest_port']}{METRICS}")


async def test_open_access_answers_everyone_over_plain_http_and_warns(stage: Stage) -> None:
    stage.ports["aggregated_port"] = 0
    await stage.start(rest_access="open")
    url = f"http://127.0.0.1:{stage.ports['rest_port']}"
    async with stage.server.session.get(f"{url}{METRICS}") as response:
        assert response.status == 200
    async with stage.server.session.get(f"{url}/livez") as response:
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert len(stage.server.logged("REST port answers every caller without TLS")) == 1
    assert "rest access: open" in (await stage.server.get("/readyz?verbose"))[1]
    assert "paddock_rest_open 1.0" in (await stage.server.get("/metrics"))[1]
    # No certificate is needed, so none is made.
    assert stage.server.api.find(SECRETS, SECRET) is None


async def test_with_a_login_nothing_warns(stage: Stage) -> None:
    await stage.start()
    assert "rest access: \n" in (await stage.server.get("/readyz?verbose"))[1]
    assert "paddock_rest_open 0.0" in (await stage.server.get("/metrics"))[1]


async def test_a_port_that_is_taken_stops_nothing_else(stage: Stage) -> None:
    stage.ports["rest_port"] = stage.server.admin
    stage.server.configure(document())
    await stage.server.started(
        overrides=stage.ports, door=DoorPlaces("127.0.0.1", namespace="paddock-system")
    )
    await until(lambda: bool(stage.server.logged("port could not be opened")))
    await stage.until_proxied("proxy-old", 200)
    assert (await stage.server.get("/readyz"))[0] == 200
    assert "port of rest: " in (await stage.server.get("/readyz?verbose"))[1]


async def test_ports_of_the_config_map_open_once_it_is_read(stage: Stage) -> None:
    port = stage.ports["rest_port"]
    stage.ports["aggregated_port"] = 0
    stage.server.configure(document(), paddock__rest__port=str(port))
    await stage.server.started(door=DoorPlaces("127.0.0.1", namespace="paddock-system"))
    app = stage.server.app
    assert app is not None
    await until(lambda: "rest" in app.front_door.addresses)
    assert (await stage.ask("rest", METRICS, GOOD))[0] == 200


# -- the aggregated API ----------------------------------------------------------------------------------


async def test_the_proxy_names_its_user_and_the_right_is_asked_for_again(stage: Stage) -> None:
    stage.server.pod("waiting", queue="root.b")
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    path = f"{ROOT}/namespaces/default/explanations/waiting"
    status, text = await stage.ask("aggregated", path, ALICE, certificate="proxy-old")
    assert status == 200
    assert json.loads(text)["kind"] == "Explanation"
    specs = [spec for kind, spec in stage.played.asked if kind == "SubjectAccessReview"]
    names = specs.pop()["resourceAttributes"]
    assert (names["verb"], names["resource"], names["subresource"]) == ("get", "ws", "partition")
    assert [(spec["user"], spec["groups"], spec["resourceAttributes"]) for spec in specs] == [
        (
            "alice",
            ["team"],
            {
                "verb": "get",
                "group": "paddock.dev",
                "resource": "explanations",
                "namespace": "default",
                "name": "waiting",
            },
        )
    ]


async def test_names_of_others_need_the_right_to_read_the_partition(stage: Stage) -> None:
    """A tenant with the right in its namespace sees queue and amount; loopback and viewers see names."""
    stage.server.api.apply(NAMESPACES, {"metadata": {"name": "canary-space"}})
    canary = pod_body("canary-pod", queue="root.a", app="canary-app")
    canary["metadata"]["namespace"] = "canary-space"
    stage.server.api.apply(
        "/api/v1/namespaces/canary-space/pods", {**canary, "spec": {**canary["spec"], "nodeName": "n1"}}
    )
    stage.server.pod("runs", node="n1")
    stage.server.pod("waiting")
    stage.played.rights.add(("good-viewer", "get", "explanations"))
    stage.played.rights.add(("good-viewer", "get", "ws/partition"))
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    path = f"{ROOT}/namespaces/default/explanations/waiting"
    viewer = {"X-Remote-User": "good-viewer"}
    shown = {
        "tenant": await stage.ask("aggregated", path, ALICE, certificate="proxy-old"),
        "viewer": await stage.ask("aggregated", path, viewer, certificate="proxy-old"),
        "loopback": await stage.server.get(path),
    }
    for caller, (status, text) in shown.items():
        found = json.loads(text)
        assert (caller, status, found["namesOthers"]) == (caller, 200, caller != "tenant")
        assert (caller, "canary" in text) == (caller, caller != "tenant")
        (obstacle,) = found["pod"]["obstacles"]
        assert (obstacle["code"], obstacle["limit"]["short"]) == ("QuotaExceeded", 1000)
        assert [each["amount"] for each in obstacle["holders"]] == [1000, 1000]
        assert found["pod"]["remedies"]["remedy"] == "found"


async def test_a_right_in_the_namespace_counts_at_the_rest_port_too(stage: Stage) -> None:
    stage.server.pod("waiting")
    await stage.start()
    path = f"{ROOT}/namespaces/default/explanations/waiting"
    assert (await stage.ask("rest", path, GOOD))[0] == 403
    stage.played.users["of-alice"] = ("alice", "paddock")
    assert (await stage.ask("rest", path, {"Authorization": "Bearer of-alice"}))[0] == 200


async def test_the_log_names_each_caller_and_what_it_may(stage: Stage) -> None:
    """Once while the verdict is remembered; no text of a caller can break the line."""
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    for _ in range(2):
        await stage.ask("aggregated", f"{ROOT}/ws/v1/metrics", ALICE, certificate="proxy-old")
        await stage.ask("rest", f"{METRICS}/{'x' * 900}%22%7D", GOOD)
    (line,) = stage.server.logged("caller has the right")
    assert (line["user"], line["verb"], line["target"]) == ("alice", "get", "ws/v1/metrics")
    (line,) = stage.server.logged("caller lacks the right and is refused")
    assert (line["user"], line["verb"], len(line["target"])) == ("prometheus", "get", 253)
    assert "good" not in stage.server.stream.getvalue()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/ws/v1/metrics", 200),
        ("GET", "/ws/v1/partitions", 403),
        ("GET", "/namespaces/default/explanations/none", 404),
        ("GET", "/queues", 501),
        ("GET", "/queues/root.a", 403),
        ("POST", "/actions", 501),
        ("GET", "/actions", 403),
        ("POST", "/ws/v1/validate-conf", 403),
        ("GET", "/livez", 403),
        ("GET", "/ws/v1/partition%2Fdefault", 403),
    ],
)
async def test_each_path_needs_its_own_right(stage: Stage, method: str, path: str, status: int) -> None:
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    seen, text = await stage.ask("aggregated", f"{ROOT}{path}", ALICE, certificate="proxy-old", method=method)
    assert seen == status
    if status in (404, 501):
        assert (json.loads(text)["kind"], json.loads(text)["code"]) == ("Status", status)


@pytest.mark.parametrize(
    ("certificate", "status"), [("", 401), ("stranger", 401), ("proxy-new", 0), ("server-only", 0)]
)
async def test_headers_of_others_are_dropped(stage: Stage, certificate: str, status: int) -> None:
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    masters = {"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters"}
    for path in (ROOT, f"{ROOT}/ws/v1/metrics", "/apis", "/openapi/v3", "/none"):
        seen, text = await stage.ask("aggregated", path, masters, certificate=certificate)
        assert seen == status
        assert "paddock.dev" not in text


async def test_a_rotated_authority_counts_and_the_former_one_does_not(stage: Stage) -> None:
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    await stage.until_proxied("proxy-new", 0)
    stage.trust("old", "new")
    await stage.until_proxied("proxy-new", 200)
    assert (await stage.ask("aggregated", ROOT, ALICE, certificate="proxy-old"))[0] == 200
    stage.trust("new")
    await stage.until_proxied("proxy-old", 0)
    stage.trust("new", names='["somebody-else"]')
    await stage.until_proxied("proxy-new", 401)


async def test_discovery_names_every_resource_to_known_callers(stage: Stage) -> None:
    await stage.start()
    await stage.until_proxied("proxy-old", 200)
    documents = {}
    for path in ("/apis", "/apis/paddock.dev", ROOT, "/openapi/v3"):
        status, text = await stage.ask("aggregated", path, ALICE, certificate="proxy-old")
        assert status == 200
        documents[path] = json.loads(text)
    assert documents["/apis"]["groups"][0]["preferredVersion"]["groupVersion"] == "paddock.dev/v1alpha1"
    assert documents["/apis/paddock.dev"]["kind"] == "APIGroup"
    names = {each["name"] for each in documents[ROOT]["resources"]}
    assert {"ws", "ws/partition", "ws/validate-conf", "explanations", "actions", "queues"} <= names
    (page,) = documents["/openapi/v3"]["paths"].values()
    status, text = await stage.ask("aggregated", page["serverRelativeURL"], ALICE, certificate="proxy-old")
    assert (status, json.loads(text)["openapi"]) == (200, "3.0.0")


@pytest.mark.rule("REST-27")
@pytest.mark.parametrize(("accept", "is_json"), [("application/json, */*", True), ("*/*", False)])
async def test_kubectl_which_takes_other_types_too_gets_json(
    stage: Stage, accept: str, is_json: bool
) -> None:
    stage.played.rights.add(("alice", "get", "ws/config"))
    await stage.start()
    path, headers = f"{ROOT}/ws/v1/config", {**ALICE, "Accept": accept}
    status, text = await stage.ask("aggregated", path, headers, certificate="proxy-old")
    assert (status, text.startswith("{")) == (200, is_json)


# -- loopback --------------------------------------------------------------------------------------------


async def test_loopback_has_no_actions_and_no_other_resources(stage: Stage) -> None:
    await stage.start()
    url = f"http://127.0.0.1:{stage.server.admin}{ROOT}"
    for method in ("POST", "GET", "DELETE"):
        async with stage.server.session.request(method, f"{url}/actions", headers=ALICE) as response:
            assert response.status == 403
            assert (await response.json())["kind"] == "Status"
    assert (await stage.server.get(f"{ROOT}/queues"))[0] == 404
