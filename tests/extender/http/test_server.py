"""Listeners: every cell of the fault table (DESIGN-10), routes, the admin port, mutual TLS."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp.test_utils import TestClient, TestServer

from core.ledger import events as on
from core.ledger.ledger import Ledger
from extender.http.access.mutual_tls import MutualTls, RenewedTls
from extender.http.health import Admin, admin_app
from extender.http.server import Address
from extender.http.verbs.listening import listen_to_verbs, verbs_server
from extender.verbs.faults import DeadlinePassed
from extender.wire.calls.extender_v1 import faulted
from tests.builders import make_pod, make_queue, usage
from tests.extender.http.test_scraping import Fixed
from tests.extender.rigs import VERBS, Rig, answers_of, bind_body, filter_body, preempt_body, serving

TLS = Path(__file__).parents[1] / "tls"
FULL = "QuotaExceeded: root.a max vcore=1"
NOT_READY = "NotReady: Paddock has not read the cluster yet"

Answer = tuple[int, Any]


def bodies(name: str = "p", **pod: Any) -> dict[str, bytes]:
    """Valid bodies by verb. For bind the pod must be known."""
    return {
        "filter": filter_body(name, **pod),
        "prioritize": filter_body(name, **pod),
        "preempt": preempt_body(name, {"n1": ["v1"], "n2": []}, **pod),
        "bind": bind_body(name, namespace=pod.get("namespace", "default")),
    }


OFFERED = {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "v1"}], "NumPDBViolations": 1}}}


# -- rows: faults ---------------------------------------------------------------------------------------


def refusal() -> tuple[Rig, dict[str, bytes]]:
    rig = Rig(make_queue("root.a", max={"vcore": 1000}), nodes=2)
    rig.engine.learn(on.PodObserved(make_pod("first", node="n1")))
    rig.engine.learn(on.PodObserved(make_pod("p", version=5)))
    return rig, bodies()


def bad_body() -> tuple[Rig, dict[str, bytes]]:
    return Rig(), {verb: body[:40] for verb, body in bodies().items()}


def not_synced_unmanaged() -> tuple[Rig, dict[str, bytes]]:
    rig = Rig(ledger=Ledger())
    rig.api.pods["kube-system", "p"] = make_pod("p", namespace="kube-system")
    return rig, bodies(namespace="kube-system")


def not_synced_managed() -> tuple[Rig, dict[str, bytes]]:
    rig = Rig(ledger=Ledger())
    rig.bind_verb.deadline = 0.05
    rig.api.pods["default", "p"] = make_pod("p")
    return rig, bodies()


def unmanaged() -> tuple[Rig, dict[str, bytes]]:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("p", version=5, scheduler_name="x", app="", queue="")))
    return rig, bodies(scheduler="x", queue="")


def no_fault() -> tuple[Rig, dict[str, bytes]]:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("p", version=5)))
    return rig, bodies()


ROWS: list[tuple[str, Callable[[], tuple[Rig, dict[str, bytes]]], dict[str, Answer]]] = [
    (
        "refusal",
        refusal,
        {
            "filter": (200, {"NodeNames": [], "FailedAndUnresolvableNodes": {"n1": FULL, "n2": FULL}}),
            "prioritize": (200, []),
            "preempt": (200, {}),
            "bind": (200, {"Error": FULL}),
        },
    ),
    (
        "not synced, unmanaged",
        not_synced_unmanaged,
        {
            "filter": (200, {"NodeNames": ["n1", "n2"]}),
            "prioritize": (200, []),
            "preempt": (200, OFFERED),
            "bind": (200, {}),
        },
    ),
    (
        "not synced, managed",
        not_synced_managed,
        {
            "filter": (200, {"Error": NOT_READY}),
            "prioritize": (200, []),
            "preempt": (200, {}),
            "bind": (200, {"Error": NOT_READY}),
        },
    ),
    (
        "unmanaged",
        unmanaged,
        {
            "filter": (200, {"NodeNames": ["n1", "n2"]}),
            "prioritize": (200, []),
            "preempt": (200, OFFERED),
            "bind": (200, {}),
        },
    ),
    (
        "no fault",
        no_fault,
        {
            "filter": (200, {"NodeNames": ["n1", "n2"]}),
            "prioritize": (200, []),
            "preempt": (200, {}),
            "bind": (200, {}),
        },
    ),
]
CELLS = [
    pytest.param(make, verb, answers[verb], id=f"{name}: {verb}")
    for name, make, answers in ROWS
    for verb in VERBS
]


@pytest.mark.parametrize(("make", "verb", "expected"), CELLS)
async def test_the_fault_table(
    make: Callable[[], tuple[Rig, dict[str, bytes]]], verb: str, expected: Answer
) -> None:
    rig, bodies = make()
    async with serving(answers_of(rig)) as door:
        assert await door.post(verb, bodies[verb]) == expected
    assert not door.bugs
    assert rig.audit() == ()


@pytest.mark.parametrize("verb", VERBS)
async def test_a_bad_body(verb: str) -> None:
    rig, bodies = bad_body()
    async with serving(answers_of(rig)) as door:
        status, answer = await door.post(verb, bodies[verb])
    if verb in ("filter", "bind"):
        assert (status, list(answer)) == (200, ["Error"])
        assert answer["Error"].startswith("body: Invalid JSON")
    else:
        assert (status, list(answer)) == (400, ["error"])
    assert door.faults == [(verb, "bad body")]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["raised at once", "raised later"])
@pytest.mark.parametrize("verb", VERBS)
async def test_our_deadline(verb: str, asynchronous: bool) -> None:
    async with serving({verb: raising(DeadlinePassed("time is over"), asynchronous)}) as door:
        answer = await door.post(verb, b"{}")
    expected = (200, {"Error": "time is over"}), (503, {"error": "time is over"})
    assert answer == expected[verb not in ("filter", "bind")]
    assert door.faults == [(verb, "deadline")]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["raised at once", "raised later"])
@pytest.mark.parametrize("verb", VERBS)
async def test_a_bug(verb: str, asynchronous: bool) -> None:
    """The answer does not mention the bug. The log contains the error and the body's length."""
    bug = ZeroDivisionError("a secret")
    async with serving({verb: raising(bug, asynchronous)}) as door:
        answer = await door.post(verb, b'{"Pod":1}')
        again = await door.post(verb, b"{}")
    expected = (200, {"Error": "internal"}), (500, {"error": "internal"})
    assert answer == again == expected[verb not in ("filter", "bind")]
    assert door.bugs == [(verb, bug, b'{"Pod":1}'), (verb, bug, b"{}")]


@pytest.mark.interpreted
@pytest.mark.parametrize("verb", ["filter", "preempt", "bind"])
async def test_a_bug_behind_a_verb_is_a_bug(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rig, bodies = no_fault()

    def broken(*_: object) -> None:
        raise KeyError("broken")

    for method in ("admit", "preempt", "bind"):
        monkeypatch.setattr(rig.engine, method, broken)
    async with serving(answers_of(rig)) as door:
        status, _ = await door.post(verb, bodies[verb])
        assert status == (500 if verb == "preempt" else 200)
        assert (await door.post("prioritize", bodies["prioritize"])) == (200, [])
    assert door.faults == [(verb, "bug")]


def raising(error: Exception, asynchronous: bool) -> Callable[[bytes], bytes | Awaitable[bytes]]:
    async def later(_: bytes) -> bytes:
        raise error

    def at_once(_: bytes) -> bytes:
        raise error

    return later if asynchronous else at_once


def test_a_fault_s_text_is_quoted_as_json() -> None:
    assert json.loads(faulted('a "quoted"\ntext')) == {"Error": 'a "quoted"\ntext'}


async def test_a_bind_that_failed_by_a_bug_stays_charged() -> None:
    """The Binding may have been posted, so its quota must stay charged."""
    rig, bodies = no_fault()
    rig.api.outcomes = [ZeroDivisionError("after the post")]
    async with serving(answers_of(rig)) as door:
        await door.post("filter", bodies["filter"])
        assert await door.post("bind", bodies["bind"]) == (200, {"Error": "internal"})
    assert usage(rig.ledger, "root.a") == (0, 1000, 0)


# -- routes and connections -----------------------------------------------------------------------------


async def test_other_methods_and_paths() -> None:
    async with serving(answers_of(Rig())) as door:
        for method, path, status in (
            ("GET", "/v1/filter", 405),
            ("POST", "/v1/frob", 404),
            ("POST", "/", 404),
        ):
            async with door.client.request(method, path) as response:
                assert response.status == status
    assert door.calls == 0


async def test_a_connection_outlives_a_fault() -> None:
    async with serving(answers_of(Rig())) as door:
        for body in (b"{", filter_body("p"), b"", filter_body("p")):
            async with door.client.post("/v1/filter", data=body) as response:
                assert response.headers.get("Connection", "keep-alive") == "keep-alive"
                assert response.content_type == "application/json"
    assert [fault for _, fault in door.faults] == ["bad body", "bad body"]


async def test_calls_in_parallel_are_counted_once_each() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 5000}))
    async with serving(answers_of(rig)) as door:
        answers = await asyncio.gather(*(door.post("filter", filter_body(f"p{n}")) for n in range(20)))
    assert sum(bool(answer["NodeNames"]) for _, answer in answers) == 5
    assert door.calls == 20


async def test_a_port_that_is_taken_is_an_error() -> None:
    app = verbs_server({}, measure=lambda *_: None, on_bug=lambda *_: None)
    runner = await listen_to_verbs(app, Address("127.0.0.1", 0))
    try:
        port = runner.addresses[0][1]
        with pytest.raises(OSError):
            await listen_to_verbs(
                verbs_server({}, measure=lambda *_: None, on_bug=lambda *_: None), Address("127.0.0.1", port)
            )
    finally:
        await runner.cleanup()


@asynccontextmanager
async def listening_over_tls() -> AsyncIterator[str]:
    tls = MutualTls(str(TLS / "server.pem"), str(TLS / "server.pem"), str(TLS / "ca.crt"))
    app = verbs_server(answers_of(Rig()), measure=lambda *_: None, on_bug=lambda *_: None)
    runner = await listen_to_verbs(app, Address("127.0.0.1", 0), tls=RenewedTls(tls, lambda _: None).context)
    try:
        yield f"https://localhost:{runner.addresses[0][1]}/v1/filter"
    finally:
        await runner.cleanup()


def client_context(certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=TLS / "ca.crt")
    context.check_hostname = False
    if certificate:
        context.load_cert_chain(TLS / certificate)
    return context


async def test_mutual_tls_wants_a_certificate_of_our_authority() -> None:
    async with listening_over_tls() as url, aiohttp.ClientSession() as session:
        async with session.post(url, data=filter_body("p"), ssl=client_context("new.pem")) as response:
            assert json.loads(await response.read()) == {"NodeNames": ["n1", "n2"]}
        with pytest.raises(aiohttp.ClientError):
            await session.post(url, data=filter_body("p"), ssl=client_context(""))
        with pytest.raises(aiohttp.ClientError):
            await session.post(url.replace("https", "http"), data=filter_body("p"))


# -- the admin port -------------------------------------------------------------------------------------


@asynccontextmanager
async def administering(checks: Mapping[str, str]) -> AsyncIterator[TestClient[Any, Any]]:
    async def audit() -> list[str]:
        return ["allocated of root.a: 1, not 2"]

    admin = Admin(
        audit=audit,
        preemptions=lambda: [msgspec.Raw(b'{"pod":"default/ask","node":"n1"}')],
        checks=lambda: checks,
        notes=lambda: {"leading": "true", "last configuration error": ""},
        metrics=Fixed(b"paddock_pods 3\n"),
        yunikorn_metrics=Fixed(b"yunikorn_queue_app 3\n"),
        story=lambda namespace, name: {"name": name} if namespace == "default" else None,
    )
    async with TestClient(TestServer(admin_app(admin))) as client:
        yield client


async def text_of(client: TestClient[Any, Any], path: str) -> tuple[int, str]:
    async with client.get(path) as response:
        return response.status, await response.text()


async def test_ready() -> None:
    async with administering({"configured": "", "synced": ""}) as client:
        assert await text_of(client, "/livez") == (200, "ok\n")
        assert await text_of(client, "/readyz") == (200, "ok\n")
        verbose = "[+] configured ok\n[+] synced ok\nleading: true\nlast configuration error: \n"
        assert await text_of(client, "/readyz?verbose") == (200, verbose)


async def test_not_ready_says_why_and_is_alive() -> None:
    async with administering({"configured": "", "synced": "waiting for pods"}) as client:
        status, text = await text_of(client, "/readyz")
        assert (status, text.splitlines()[:2]) == (503, ["[+] configured ok", "[-] synced: waiting for pods"])
        assert (await text_of(client, "/livez"))[0] == 200


async def test_metrics_and_stories() -> None:
    async with administering({}) as client:
        assert await text_of(client, "/metrics") == (200, "paddock_pods 3\n")
        assert await text_of(client, "/ws/v1/metrics") == (200, "yunikorn_queue_app 3\n")
        assert await text_of(client, "/debug/pods/default/p") == (200, '{"name":"p"}')
        assert (await text_of(client, "/debug/pods/other/p"))[0] == 404
        assert (await text_of(client, "/debug/pods/default"))[0] == 404
        found = '{"drifts": ["allocated of root.a: 1, not 2"]}'
        assert await text_of(client, "/debug/audit") == (200, found)
        plans = '{"preemptions":[{"pod":"default/ask","node":"n1"}]}'
        assert await text_of(client, "/debug/preemptions") == (200, plans)
