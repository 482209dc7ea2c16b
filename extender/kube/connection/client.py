"""HTTP client for the API server: requests, watch streams, timeouts and errors.

Nothing here knows what a pod is. Credentials belong to `extender.kube.connection.credentials`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlencode, urlsplit

import aiohttp

from extender.kube.connection.api import (
    IDLE_TIMEOUT,
    JSON,
    MERGE_PATCH,
    REQUEST_TIMEOUT,
    ApiError,
    MalformedAnswer,
    Unauthorized,
    Unreachable,
    error_from,
    redacted,
)
from extender.kube.connection.channel import Answer
from extender.kube.connection.channels import Channels, Target, head_of, request_of, target_of
from extender.kube.connection.credentials import Credentials
from extender.kube.connection.fencing import FencedBody, HeldBack
from extender.kube.connection.rights import MissingRights

MaySend = Callable[[], bool]


class _Request(NamedTuple):
    """A request with the body to send, and the right to send it. ``content``: the type of the body."""

    method: str
    path: str
    content: str
    body: bytes | None
    may_send: MaySend | None


SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
MAX_LINE = 8 * 1024 * 1024
"""Bytes of the longest watch event that is accepted. By default, etcd stores objects of at most 1.5 MiB."""

_CONNECT_TIMEOUT = 5.0
_CONNECTIONS = 256
# kube-apiserver drops an idle connection after 90 s. A POST must not be sent in that moment.
_KEEPALIVE = 60.0

# Inside a cluster, compression costs both ends more time than it saves on the network.
_HEADERS = {"User-Agent": "paddock", "Accept": JSON, "Accept-Encoding": "identity"}

# Requests differ in the type of their body. A renewal of the credentials makes all of them anew.
_MOST_HEADS = 16

_FAILURES = (aiohttp.ClientError, OSError)
_NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
)


def is_in_cluster() -> bool:
    """True in a pod with a service account."""
    return Path(SERVICE_ACCOUNT, "token").exists()


async def connect(
    *,
    kubeconfig: str | None = None,
    in_cluster: bool = False,
    service_account: str = SERVICE_ACCOUNT,
    wall: Callable[[], float] = time.time,
) -> "ApiClient":
    """Create a client for the cluster that a kubeconfig or service account names. Sends no request.

    ``kubeconfig``: a path, or several joined by colons. None means ``$KUBECONFIG`` or the user's own file.
    ``in_cluster``: use the pod's service account instead.
    ``service_account``: the directory with its files.
    ``wall``: seconds since the epoch, to compare with the server's clock.
    Raises `CredentialsError`.
    """
    credentials = await Credentials.load(
        kubeconfig=kubeconfig, in_cluster=in_cluster, service_account=service_account
    )
    return ApiClient(credentials, wall=wall)


class ApiClient:
    """HTTP requests to the API server.

    A request returns the answer's body, or raises an error of `extender.kube.connection.api`.
    ``clock_skew``: seconds by which the server's clock is ahead of ours, as of its latest answer. It is exact
    to half a second, since the Date header has whole seconds.
    ``missing_rights``: rights that the server refused recently.
    """

    def __init__(self, credentials: Credentials, *, wall: Callable[[], float] = time.time) -> None:
        self.clock_skew = 0.0
        self.missing_rights = MissingRights(time.monotonic)
        self._credentials = credentials
        self._wall = wall
        self._date = ""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=_KEEPALIVE),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_HEADERS,
            read_bufsize=2**18,
        )
        self._channels = Channels(connect_within=_CONNECT_TIMEOUT)
        self._targeted: tuple[object, tuple[Target, str]] | None = None
        self._heads: dict[tuple[str, str, str], bytes] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def credentials_error(self) -> str:
        """Why the latest renewal of the credentials failed. Empty if it succeeded."""
        return self._credentials.error

    async def close(self) -> None:
        """Close every connection. Requests under way end with `Unreachable`."""
        await self._credentials.close()
        self._channels.close()
        await self._session.close()

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, *, timeout: float = REQUEST_TIMEOUT
    ) -> bytes:
        """GET ``path``, such as ``/api/v1/pods``. The whole answer must arrive within ``timeout`` seconds."""
        return await self._call("GET", path, params=params, timeout=timeout)

    async def post(
        self,
        path: str,
        body: bytes,
        params: Mapping[str, str] | None = None,
        *,
        timeout: float = REQUEST_TIMEOUT,
        may_send: MaySend | None = None,
    ) -> bytes:
        """POST. The client never repeats it once it may have been carried out (`Unreachable.sent`).

        ``may_send``: checked when the body is written. Raises `HeldBack` if it returns False.
        """
        return await self._call("POST", path, params=params, body=body, timeout=timeout, may_send=may_send)

    async def put(
        self,
        path: str,
        body: bytes,
        params: Mapping[str, str] | None = None,
        *,
        timeout: float = REQUEST_TIMEOUT,
    ) -> bytes:
        """PUT."""
        return await self._call("PUT", path, params=params, body=body, timeout=timeout)

    async def patch(
        self,
        path: str,
        body: bytes,
        params: Mapping[str, str] | None = None,
        *,
        content_type: str = MERGE_PATCH,
        timeout: float = REQUEST_TIMEOUT,
        may_send: MaySend | None = None,
    ) -> bytes:
        """PATCH with one of the content types in `extender.kube.connection.api`.

        ``may_send``: as in `post`.
        """
        return await self._call(
            "PATCH",
            path,
            params=params,
            body=body,
            content_type=content_type,
            timeout=timeout,
            may_send=may_send,
        )

    async def delete(
        self, path: str, body: bytes | None = None, *, timeout: float = REQUEST_TIMEOUT
    ) -> bytes:
        """DELETE. ``body``: DeleteOptions, such as preconditions and the grace period."""
        return await self._call("DELETE", path, body=body, timeout=timeout)

    async def stream(
        self, path: str, params: Mapping[str, str] | None = None, *, idle_timeout: float = IDLE_TIMEOUT
    ) -> AsyncGenerator[bytes, None]:
        """Yield the complete lines of a watch, without line ends, until the server ends the watch.

        An unfinished last line is dropped. Close the generator (``aclosing``) to end the watch.
        Raises `Unreachable` after ``idle_timeout`` seconds without a byte, or if the connection breaks.
        Raises `MalformedAnswer` for a line longer than `MAX_LINE`.
        """
        timeout = aiohttp.ClientTimeout(connect=_CONNECT_TIMEOUT, sock_read=idle_timeout)
        try:
            async with self._answered(path, timeout, params=params) as response:
                async for line in _lines_from(response.content.iter_any(), limit=MAX_LINE):
                    yield line
        except _FAILURES as error:
            raise self._unreachable(error) from error

    async def _call(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
        may_send: MaySend | None = None,
    ) -> bytes:
        content = "" if body is None else content_type
        ask = _Request(method, path + (f"?{urlencode(params)}" if params else ""), content, body, may_send)
        try:
            async with asyncio.timeout(timeout):
                answer = await self._authorized(ask, timeout)
        except _FAILURES as error:
            raise self._unreachable(error) from error
        self._note_clock(answer.date)
        if 200 <= answer.status < 300:
            return answer.body
        raise self._refusal(answer.status, answer.body, answer.retry_after)

    def _refusal(self, status: int, body: bytes, retry_after: str) -> ApiError:
        error = error_from(status, body, retry_after=retry_after, secret=self._credentials.secret)
        self.missing_rights.note(error)
        return error

    async def _authorized(self, ask: "_Request", timeout: float) -> Answer:
        """Send a request, and repeat it once with renewed credentials after a 401."""
        # That is safe for a POST, too: a request that fails authentication has not been carried out.
        used = self._credentials.authorization()
        answer = await self._send(ask, timeout, used)
        if answer.status != 401:
            return answer
        if not await self._credentials.renewed(used):
            raise Unauthorized(401, "Unauthorized", "the API server does not accept our credentials")
        return await self._send(ask, timeout, self._credentials.authorization())

    async def _send(self, ask: "_Request", timeout: float, authorization: str) -> Answer:
        access = self._credentials
        if access.proxy:
            return await self._send_by_proxy(ask, timeout, authorization)
        target, prefix = self._target_of(access)
        head = self._head_of(ask.content, authorization)
        request = request_of(ask.method, prefix + ask.path, head, ask.body)
        return await self._channels.ask(target, request, within=timeout, may_send=ask.may_send)

    async def _send_by_proxy(self, ask: "_Request", timeout: float, authorization: str) -> Answer:
        """Send a request through a proxy, which aiohttp knows how to ask."""
        limits = aiohttp.ClientTimeout(connect=min(_CONNECT_TIMEOUT, timeout / 2))
        sent = FencedBody(ask.body, ask.may_send) if ask.body is not None and ask.may_send else ask.body
        try:
            content = {"Content-Type": ask.content} if ask.content else {}
            response = await self._open(ask.method, ask.path, limits, content, authorization, data=sent)
            async with response:
                found = response.headers
                date, retry_after = found.get("Date", ""), found.get("Retry-After", "")
                return Answer(response.status, await response.read(), date, retry_after)
        except aiohttp.ClientError:
            if isinstance(sent, FencedBody) and sent.held_back:
                raise HeldBack from None
            raise

    @asynccontextmanager
    async def _answered(
        self,
        path: str,
        timeout: aiohttp.ClientTimeout,
        *,
        params: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A successful answer that is read as it arrives. Raises `ApiError` for any status but 2xx."""
        used = self._credentials.authorization()
        response = await self._open("GET", path, timeout, {}, used, params=params)
        if response.status == 401:
            response.release()
            if not await self._credentials.renewed(used):
                raise Unauthorized(401, "Unauthorized", "the API server does not accept our credentials")
            used = self._credentials.authorization()
            response = await self._open("GET", path, timeout, {}, used, params=params)
        async with response:
            self._note_clock(response.headers.get("Date", ""))
            if not 200 <= response.status < 300:
                retry_after = response.headers.get("Retry-After", "")
                raise self._refusal(response.status, await response.read(), retry_after)
            yield response

    async def _open(
        self,
        method: str,
        path: str,
        timeout: aiohttp.ClientTimeout,
        headers: Mapping[str, str],
        authorization: str,
        **options: object,
    ) -> aiohttp.ClientResponse:
        if self._session.closed:
            raise Unreachable("the client is closed", sent=False)
        access = self._credentials
        return await self._session.request(
            method,
            access.host + path,
            headers={**headers, "Authorization": authorization} if authorization else headers,
            timeout=timeout,
            allow_redirects=False,
            proxy=access.proxy,
            ssl=access.tls or True,
            server_hostname=access.server_name,
            **options,  # type: ignore[arg-type]
        )

    def _target_of(self, access: Credentials) -> tuple[Target, str]:
        """Target and path prefix, made anew only when the credentials' certificates are."""
        wanted = (access.host, access.tls, access.server_name)
        if self._targeted is None or self._targeted[0] != wanted:
            self._targeted = (wanted, target_of(*wanted))
        return self._targeted[1]

    def _head_of(self, content: str, authorization: str) -> bytes:
        """Headers of a request, made once for each address, type of body and Authorization header."""
        host = self._credentials.host
        head = self._heads.get((host, content, authorization))
        if head is None:
            if len(self._heads) == _MOST_HEADS:
                self._heads.clear()
            headers = {**_HEADERS, "Host": urlsplit(host).netloc}
            if content:
                headers["Content-Type"] = content
            if authorization:
                headers["Authorization"] = authorization
            head = self._heads[host, content, authorization] = head_of(headers)
        return head

    def _unreachable(self, error: Exception) -> Unreachable:
        message = redacted(f"{type(error).__name__}: {error}".rstrip(": "), self._credentials.secret)
        return Unreachable(message, sent=not isinstance(error, _NOT_SENT))

    def _note_clock(self, date: str) -> None:
        if not date or date == self._date:
            return
        self._date = date
        try:
            server_time = parsedate_to_datetime(date).timestamp()
        except ValueError:
            return
        # The header is cut to whole seconds.
        self.clock_skew = server_time + 0.5 - self._wall()


async def _lines_from(chunks: AsyncIterator[bytes], *, limit: int) -> AsyncIterator[bytes]:
    """Split a byte stream into complete lines, without empty ones.

    Raises `MalformedAnswer` if a line exceeds ``limit`` bytes.
    """
    unfinished = bytearray()
    async for chunk in chunks:
        unfinished += chunk
        if b"\n" in chunk:
            *whole, tail = bytes(unfinished).split(b"\n")
            for line in whole:
                if line:
                    yield line
            unfinished = bytearray(tail)
        if len(unfinished) > limit:
            raise MalformedAnswer(f"a line of more than {limit} bytes")
