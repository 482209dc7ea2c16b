"""Bytes to and from the API server: requests, streams of lines, timeouts, and errors that say what happened.

Nothing here knows what a pod is. Who we are to the server is a question for
`extender.kube.connection.credentials`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from email.utils import parsedate_to_datetime
from typing import Self

import aiohttp

from extender.kube.connection.api import (
    IDLE_TIMEOUT,
    JSON,
    MERGE_PATCH,
    REQUEST_TIMEOUT,
    MalformedAnswer,
    Unauthorized,
    Unreachable,
    error_from,
    redacted,
)
from extender.kube.connection.credentials import Credentials
from extender.kube.connection.fencing import FencedBody, HeldBack

MayGo = Callable[[], bool]

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
MAX_LINE = 8 * 1024 * 1024
"""Bytes of the longest watch event taken; etcd keeps objects of at most 1.5 MiB unless told otherwise."""

_CONNECT_TIMEOUT = 5.0
_CONNECTIONS = 256
# Below the 90 s after which kube-apiserver drops an idle connection: a POST must not meet that moment.
_KEEP_ALIVE = 60.0

_NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
)


async def connect(
    *,
    kubeconfig: str | None = None,
    in_cluster: bool = False,
    service_account: str = SERVICE_ACCOUNT,
    wall: Callable[[], float] = time.time,
) -> "ApiClient":
    """A client for the cluster that the kubeconfig or the service account names; asks the server nothing.

    ``kubeconfig``: a path, or several joined by colons; None: ``$KUBECONFIG``, else the user's own.
    ``in_cluster``: use the pod's service account instead, found in the directory ``service_account``.
    ``wall``: seconds since the epoch, compared with the server's clock.
    Raises CredentialsError.
    """
    credentials = await Credentials.load(
        kubeconfig=kubeconfig, in_cluster=in_cluster, service_account=service_account
    )
    return ApiClient(credentials, wall=wall)


class ApiClient:
    """Requests with own timeouts, answered with the body's bytes or with an error of
    `extender.kube.connection.api`.

    ``clock_skew``: seconds by which the server's clock is ahead of ours, as of its latest answer; the Date
    header counts whole seconds, so half a second means nothing.
    """

    def __init__(self, credentials: Credentials, *, wall: Callable[[], float] = time.time) -> None:
        self.clock_skew = 0.0
        self._credentials = credentials
        self._wall = wall
        self._date = ""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=_KEEP_ALIVE),
            cookie_jar=aiohttp.DummyCookieJar(),
            # Compression would cost both ends more time than a cluster's own network takes.
            headers={"User-Agent": "paddock", "Accept": JSON, "Accept-Encoding": "identity"},
            read_bufsize=2**18,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def credentials_error(self) -> str:
        """Why the latest renewal of the credentials failed; empty when it did not."""
        return self._credentials.error

    async def close(self) -> None:
        """Drop every connection. Requests under way end with Unreachable."""
        await self._credentials.close()
        await self._session.close()

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, *, timeout: float = REQUEST_TIMEOUT
    ) -> bytes:
        """GET ``path`` (``/api/v1/...``), the whole answer read within ``timeout`` seconds."""
        return await self._call("GET", path, params=params, timeout=timeout)

    async def post(
        self,
        path: str,
        body: bytes,
        params: Mapping[str, str] | None = None,
        *,
        timeout: float = REQUEST_TIMEOUT,
        may_go: MayGo | None = None,
    ) -> bytes:
        """POST. Never repeated by itself once it may have been carried out: see `Unreachable.sent`.

        ``may_go``: asked when the body is written; raises `HeldBack` when it says no.
        """
        return await self._call("POST", path, params=params, body=body, timeout=timeout, may_go=may_go)

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
        may_go: MayGo | None = None,
    ) -> bytes:
        """PATCH of one of the patch types in `extender.kube.connection.api`; ``may_go`` as in `post`."""
        return await self._call(
            "PATCH",
            path,
            params=params,
            body=body,
            content_type=content_type,
            timeout=timeout,
            may_go=may_go,
        )

    async def delete(
        self, path: str, body: bytes | None = None, *, timeout: float = REQUEST_TIMEOUT
    ) -> bytes:
        """DELETE; ``body``: DeleteOptions (preconditions, grace period)."""
        return await self._call("DELETE", path, body=body, timeout=timeout)

    async def stream(
        self, path: str, params: Mapping[str, str] | None = None, *, idle_timeout: float = IDLE_TIMEOUT
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a watch, whole and without their line ends, until the server ends it.

        An unfinished last line is dropped. Raises Unreachable after ``idle_timeout`` seconds without a byte
        and on a cut, MalformedAnswer on a line longer than `MAX_LINE`. Close it (``aclosing``) to hang up.
        """
        timeout = aiohttp.ClientTimeout(connect=_CONNECT_TIMEOUT, sock_read=idle_timeout)
        with self._errors_translated():
            async with self._answered("GET", path, timeout, params=params) as response:
                async for line in _lines_from(response.content.iter_any(), limit=MAX_LINE):
                    yield line

    async def _call(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
        may_go: MayGo | None = None,
    ) -> bytes:
        # Connecting ends first, so that the end of the whole time can only mean a request that was sent.
        limits = aiohttp.ClientTimeout(connect=min(_CONNECT_TIMEOUT, timeout / 2))
        sent = FencedBody(body, may_go) if body is not None and may_go is not None else body
        request = self._answered(method, path, limits, params=params, body=sent, content_type=content_type)
        try:
            with self._errors_translated():
                async with asyncio.timeout(timeout), request as response:
                    return await response.read()
        except Unreachable:
            if isinstance(sent, FencedBody) and sent.held_back:
                raise HeldBack from None
            raise

    @asynccontextmanager
    async def _answered(
        self,
        method: str,
        path: str,
        timeout: aiohttp.ClientTimeout,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | FencedBody | None = None,
        content_type: str = JSON,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer of the 2xx kind; raises ApiError for any other."""
        headers = {} if body is None else {"Content-Type": content_type}
        response = await self._authorized(method, path, timeout, headers, params=params, data=body)
        async with response:
            self._note_clock(response.headers.get("Date", ""))
            if not 200 <= response.status < 300:
                retry_after = response.headers.get("Retry-After", "")
                secret = self._credentials.secret
                raise error_from(
                    response.status, await response.read(), retry_after=retry_after, secret=secret
                )
            yield response

    async def _authorized(
        self, method: str, path: str, timeout: aiohttp.ClientTimeout, headers: dict[str, str], **rest: object
    ) -> aiohttp.ClientResponse:
        """The answer, asked for again with new credentials if the first was 401.

        Repeating is safe for a POST too: a request that authentication refuses has not been carried out.
        """
        used = self._credentials.authorization()
        response = await self._send(method, path, timeout, headers, used, **rest)
        if response.status != 401:
            return response
        response.release()
        if not await self._credentials.renewed(used):
            raise Unauthorized(401, "Unauthorized", "the API server does not accept our credentials")
        return await self._send(method, path, timeout, headers, self._credentials.authorization(), **rest)

    async def _send(
        self,
        method: str,
        path: str,
        timeout: aiohttp.ClientTimeout,
        headers: dict[str, str],
        authorization: str,
        **rest: object,
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
            **rest,  # type: ignore[arg-type]
        )

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        try:
            yield
        except (aiohttp.ClientError, OSError) as error:
            words = redacted(f"{type(error).__name__}: {error}".rstrip(": "), self._credentials.secret)
            raise Unreachable(words, sent=not isinstance(error, _NOT_SENT)) from error

    def _note_clock(self, date: str) -> None:
        if not date or date == self._date:
            return
        self._date = date
        try:
            told = parsedate_to_datetime(date).timestamp()
        except ValueError:
            return
        self.clock_skew = told + 0.5 - self._wall()


async def _lines_from(chunks: AsyncIterator[bytes], *, limit: int) -> AsyncIterator[bytes]:
    """Whole lines of a byte stream; raises MalformedAnswer when one passes ``limit`` bytes without an end."""
    rest = bytearray()
    async for chunk in chunks:
        rest += chunk
        if b"\n" in chunk:
            *whole, tail = bytes(rest).split(b"\n")
            for line in whole:
                if line:
                    yield line
            rest = bytearray(tail)
        if len(rest) > limit:
            raise MalformedAnswer(f"a line of more than {limit} bytes")
