"""The client's errors describe the fault. Its credentials are renewed and never appear in messages."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from extender.kube.connection import credentials as credentials_module
from extender.kube.connection.api import (
    ApiError,
    Conflict,
    CredentialsError,
    Expired,
    Forbidden,
    NotFound,
    ServerError,
    TooMany,
    Unauthorized,
    Unreachable,
    error_from,
)
from extender.kube.connection.client import ApiClient, connect
from tests.extender.app_bench import unused_port
from tests.extender.fake_api import FakeApi, Request, refusal
from tests.extender.reflector_bench import until

PODS = "/api/v1/pods"
POD = "/api/v1/namespaces/ns/pods/a"
SECRET = "s3cr3t-t0k3n"


@pytest.fixture
def kubeconfig(api: FakeApi, tmp_path: Path) -> Callable[..., str]:
    def write(**user: object) -> str:
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(api.kubeconfig(user or {"token": SECRET})))
        return str(path)

    return write


@pytest.fixture
async def client(kubeconfig: Callable[..., str]) -> AsyncIterator[ApiClient]:
    async with await connect(kubeconfig=kubeconfig()) as made:
        yield made


def kubeconfig_for(server: str, directory: Path) -> str:
    config = FakeApi().kubeconfig()
    config["clusters"][0]["cluster"]["server"] = server
    path = directory / "kubeconfig"
    path.write_text(json.dumps(config))
    return str(path)


async def test_each_method_sends_its_body_and_content_type(api: FakeApi, client: ApiClient) -> None:
    await client.post("/api/v1/namespaces/ns/pods", b'{"metadata":{"name":"a"}}')
    await client.patch(POD, b'{"metadata":{"labels":{"x":"1"}}}')
    pod = json.loads(await client.get(POD))
    await client.put(POD, json.dumps(pod).encode())
    await client.delete(POD, b'{"preconditions":{"uid":"%s"}}' % pod["metadata"]["uid"].encode())

    assert [(r.method, r.headers.get("Content-Type")) for r in api.requests] == [
        ("POST", "application/json"),
        ("PATCH", "application/merge-patch+json"),
        ("GET", None),
        ("PUT", "application/json"),
        ("DELETE", "application/json"),
    ]
    assert pod["metadata"]["labels"] == {"x": "1"}
    assert api.find(PODS, "a", "ns") is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ApiError),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Expired),
        (429, TooMany),
        (500, ServerError),
        (503, ServerError),
    ],
)
async def test_a_refusal_is_an_error_of_its_status(
    api: FakeApi, client: ApiClient, status: int, kind: type[ApiError]
) -> None:
    api.fail_next(status)
    with pytest.raises(ApiError) as caught:
        await client.get(POD)
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert caught.value.message == f"the test wants {status}"
    assert json.loads(caught.value.body)["code"] == status


async def test_a_redirect_is_not_followed(api: FakeApi, client: ApiClient) -> None:
    api.fail_next(302, headers={"Location": f"{api.url}{PODS}"})
    with pytest.raises(ApiError) as caught:
        await client.get(POD)
    assert caught.value.status == 302
    assert len(api.requests) == 1


async def test_too_many_tells_how_long_to_wait_and_why(api: FakeApi, client: ApiClient) -> None:
    api.fail_next(429, headers={"Retry-After": "7"})
    with pytest.raises(TooMany) as overloaded:
        await client.get(POD)
    assert overloaded.value.retry_after == 7.0

    api.apply("/api/v1/namespaces/ns/pods", {"metadata": {"name": "a"}})
    api.blocked_evictions.add("a")
    with pytest.raises(TooMany) as guarded:
        await client.post(f"{POD}/eviction", b"{}")
    assert guarded.value.retry_after is None
    assert guarded.value.causes == ("DisruptionBudget",)


def test_an_answer_that_is_no_status_keeps_its_beginning() -> None:
    error = error_from(502, b"<html>\n  <b>Bad  Gateway</b>" + b"x" * 5000)
    assert isinstance(error, ServerError)
    assert error.message.startswith("<html> <b>Bad Gateway</b>")
    assert len(error.message) == 1024


async def test_a_refused_connection_was_not_sent(tmp_path: Path) -> None:
    path = kubeconfig_for(f"http://127.0.0.1:{unused_port()}", tmp_path)
    async with await connect(kubeconfig=path) as client:
        with pytest.raises(Unreachable) as caught:
            await client.post(f"{POD}/binding", b"{}")
    assert caught.value.sent is False


async def test_a_name_that_does_not_resolve_was_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    path = kubeconfig_for("http://nowhere.invalid", tmp_path)
    async with await connect(kubeconfig=path) as client:
        with pytest.raises(Unreachable) as caught:
            await client.post(f"{POD}/binding", b"{}")
    assert caught.value.sent is False


async def test_a_lost_reply_was_perhaps_sent_and_is_not_repeated(api: FakeApi, client: ApiClient) -> None:
    api.apply("/api/v1/namespaces/ns/pods", {"metadata": {"name": "a"}})
    api.lose_next_reply(method="POST")
    with pytest.raises(Unreachable) as caught:
        await client.post(f"{POD}/binding", b'{"target":{"name":"node-1"}}')
    assert caught.value.sent is True
    assert [r.method for r in api.requests] == ["POST"]
    assert json.loads(await client.get(POD))["spec"]["nodeName"] == "node-1"


async def test_an_answer_that_does_not_come_in_time_was_perhaps_sent(api: FakeApi, client: ApiClient) -> None:
    async def never(_: Request) -> web.StreamResponse:
        await asyncio.sleep(3600)
        raise AssertionError

    api.break_next(never)
    with pytest.raises(Unreachable) as caught:
        await client.post(f"{POD}/binding", b"{}", timeout=0.2)
    assert caught.value.sent is True
    assert "Timeout" in str(caught.value)


async def test_a_connection_that_is_not_accepted_in_time_was_not_sent(tmp_path: Path) -> None:
    with socket.socket() as listener:
        # A full backlog: the kernel answers no further SYN.
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        path = kubeconfig_for(f"http://127.0.0.1:{listener.getsockname()[1]}", tmp_path)
        async with await connect(kubeconfig=path) as client:
            with pytest.raises(Unreachable) as caught:
                await client.post(f"{POD}/binding", b"{}", timeout=0.4)
        for one in waiting:
            one.close()
    assert caught.value.sent is False


async def test_a_closed_client_sends_nothing(api: FakeApi, client: ApiClient) -> None:
    await client.close()
    with pytest.raises(Unreachable) as caught:
        await client.get(POD)
    assert caught.value.sent is False
    assert not api.requests


async def test_the_token_appears_in_no_message(api: FakeApi, client: ApiClient) -> None:
    async def echo(request: Request) -> web.Response:
        return web.json_response({"message": f"bad header {request.headers['Authorization']}"}, status=400)

    api.break_next(echo)
    with pytest.raises(ApiError) as caught:
        await client.get(POD)
    assert caught.value.message == "bad header Bearer [redacted]"
    assert SECRET not in str(caught.value) + repr(caught.value)


async def test_after_a_401_the_new_token_is_read_and_the_request_repeated(
    api: FakeApi, client: ApiClient, kubeconfig: Callable[..., str]
) -> None:
    api.apply("/api/v1/namespaces/ns/pods", {"metadata": {"name": "a"}})
    api.tokens = {"new"}
    kubeconfig(token="new")
    calls = [client.get(POD) for _ in range(20)]
    calls += [client.post("/api/v1/namespaces/ns/events", b"{}") for _ in range(5)]
    await asyncio.gather(*calls)
    assert {r.headers["Authorization"] for r in api.requests} == {f"Bearer {SECRET}", "Bearer new"}


async def test_a_401_that_comes_after_the_renewal_is_repeated_with_what_it_brought(
    api: FakeApi, client: ApiClient, kubeconfig: Callable[..., str]
) -> None:
    renewed = asyncio.Event()

    async def late(_: Request) -> web.Response:
        await renewed.wait()
        return refusal(401, "Unauthorized")

    api.break_next(late)
    slow = asyncio.create_task(client.get(PODS))
    await until(lambda: len(api.requests) == 1)
    api.tokens = {"new"}
    kubeconfig(token="new")
    await client.get(PODS)
    renewed.set()
    await slow
    assert api.requests[-1].headers["Authorization"] == "Bearer new"


async def test_a_401_that_stays_is_an_error_after_one_repeat(api: FakeApi, client: ApiClient) -> None:
    api.tokens = {"other"}
    for expected in (2, 3):
        with pytest.raises(Unauthorized):
            await client.get(POD)
        assert len(api.requests) == expected


async def test_a_renewal_that_hangs_takes_no_longer_than_allowed(
    api: FakeApi, client: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(self: object, *, anew: bool) -> None:
        assert anew
        await asyncio.Event().wait()

    monkeypatch.setattr(credentials_module._Kubeconfig, "load", hang)
    monkeypatch.setattr(credentials_module, "_LOAD_TIMEOUT", 0.1)
    monkeypatch.setattr(credentials_module, "_CLOSE_GRACE", 0.05)
    api.tokens = {"other"}
    async with asyncio.timeout(2):
        with pytest.raises(Unreachable, match="Timeout"):
            await client.get(POD, timeout=0.2)
        assert "more than" in client.credentials_error
        await client.close()


async def test_a_token_file_is_read_again_before_the_token_ends(
    api: FakeApi, kubeconfig: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials_module, "_RENEW_EVERY", 0.0)
    token = tmp_path / "token"
    token.write_text("first\n")
    async with await connect(kubeconfig=kubeconfig(tokenFile=str(token))) as client:
        token.write_text("second\n")
        async with asyncio.timeout(5):
            while not api.requests or api.requests[-1].headers["Authorization"] != "Bearer second":
                with pytest.raises(NotFound):
                    await client.get(POD)
        token.unlink()
        async with asyncio.timeout(5):
            while not client.credentials_error:
                with pytest.raises(NotFound):
                    await client.get(POD)
    assert api.requests[0].headers["Authorization"] == "Bearer first"
    assert api.requests[-1].headers["Authorization"] == "Bearer second"


@pytest.mark.parametrize(
    ("until_when", "runs_again"), [({}, False), ({"expirationTimestamp": "2020-01-01T00:00:00Z"}, True)]
)
async def test_an_exec_plugin_gives_the_token_and_runs_again_when_that_ends(
    api: FakeApi,
    kubeconfig: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until_when: dict[str, str],
    runs_again: bool,
) -> None:
    monkeypatch.setattr(credentials_module, "_RENEW_EVERY", 0.0)
    plugin, log = tmp_path / "plugin.py", tmp_path / "log"
    kind = "client.authentication.k8s.io/v1"
    status = {"token": "from-plugin", **until_when}
    answer = json.dumps({"apiVersion": kind, "kind": "ExecCredential", "status": status})
    plugin.write_text(f"open({str(log)!r}, 'a').write('x')\nprint({answer!r})")
    user = {"exec": {"apiVersion": kind, "command": sys.executable, "args": [str(plugin)]}}
    async with await connect(kubeconfig=kubeconfig(**user)) as client:
        for _ in range(5):
            await client.get(PODS)
        if runs_again:
            await until(lambda: len(log.read_text()) > 1)
    assert api.requests[-1].headers["Authorization"] == "Bearer from-plugin"
    assert (len(log.read_text()) > 1) is runs_again


async def test_inside_a_cluster_the_service_account_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(unused_port()))
    with pytest.raises(CredentialsError, match="service account"):
        await connect(in_cluster=True, service_account=str(tmp_path))

    (tmp_path / "token").write_text("pod-token\n")
    (tmp_path / "ca.crt").write_text("no certificate")
    with pytest.raises(CredentialsError, match="service account"):
        await connect(in_cluster=True, service_account=str(tmp_path))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "{}", '{"current-context": "x"}', '{"contexts": 3, "current-context": "x"}']
)
async def test_a_kubeconfig_that_cannot_be_used_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(CredentialsError, match="kubeconfig"):
        await connect(kubeconfig=str(path))


@pytest.mark.parametrize("text", ["", "[]", '{"contexts": 3, "current-context": "x"}'])
async def test_a_kubeconfig_of_another_shape_says_so(text: str, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(CredentialsError, match="empty or has parts of the wrong type"):
        await connect(kubeconfig=str(path))


async def test_a_missing_kubeconfig_is_named(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match="no such file"):
        await connect(kubeconfig=str(tmp_path / "absent"))


async def test_the_servers_clock_is_compared(api: FakeApi, kubeconfig: Callable[..., str]) -> None:
    api.clock = lambda: 1_000_030.0
    async with await connect(kubeconfig=kubeconfig(), wall=lambda: 1_000_000.0) as client:
        assert client.clock_skew == 0.0
        await client.get(PODS)
        assert client.clock_skew == pytest.approx(30.0, abs=1.0)


async def test_hundreds_of_posts_at_once_all_arrive(api: FakeApi, client: ApiClient) -> None:
    posts = [client.post("/api/v1/namespaces/ns/events", b"{}") for _ in range(600)]
    await asyncio.gather(*posts)
    assert len(api.requests) == 600
