"""HTTP client for the API server: requests, watch streams, timeouts and errors.

Nothing here knows what a pod is. Credentials belong to `extender.kube.connection.credentials`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Self
from urllib.parse import urlencode, urlsplit

import aiohttp

from extender.kube.connection.api import (
    IDLE_TIMEOUT,
    JSON,
    MERGE_PATCH,
    REQUEST_TIMEOUT,
    ApiError,
    Unauthorized,
    Unreachable,
    error_from,
    redacted,
)
from extender.kube.connection.by_proxy import ByProxy
from extender.kube.connection.channel import Answer, Ask, Broken, MaySend
from extender.kube.connection.channels import Channels, Target, head_of, request_of, target_of
from extender.kube.connection.credentials import Credentials
from extender.kube.connection.rights import MissingRights
from extender.kube.connection.stream import Answered, Streams

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
MAX_LINE = 8 * 1024 * 1024
"""Bytes of the longest watch event that is accepted. By default, etcd stores objects of at most 1.5 MiB."""

_CONNECT_TIMEOUT = 5.0
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
        self._by_proxy = ByProxy(credentials, _HEADERS, connect_within=_CONNECT_TIMEOUT, keepalive=_KEEPALIVE)
        self._channels = Channels(connect_within=_CONNECT_TIMEOUT)
        self._streams = Streams(connect_within=_CONNECT_TIMEOUT)
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
        self._streams.close()
        await self._by_proxy.close()

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
        whole = _with(path, params)
        try:
            answer = await self._opened(whole, idle_timeout)
            try:
                while lines := await answer.read():
                    for line in lines:
                        yield line
            finally:
                answer.close()
        except Broken as error:
            raise Unreachable(str(error), sent=True) from None
        except _FAILURES as error:
            raise self._unreachable(error) from error

    async def _opened(self, path: str, idle_timeout: float) -> Answered:
        """Begin a watch. Raises `ApiError` for any status but 2xx."""
        used = self._credentials.authorization()
        answer = await self._begun(path, used, idle_timeout)
        try:
            if answer.head.status == 401:
                answer.close()
                answer = await self._begun(path, await self._authorized_anew(used), idle_timeout)
            self._note_clock(answer.head.date)
            if not answer.head.is_good:
                head = answer.head
                raise self._refusal(head.status, await answer.rest(), head.retry_after)
        except BaseException:
            answer.close()
            raise
        return answer

    async def _begun(self, path: str, authorization: str, idle_timeout: float) -> Answered:
        access = self._credentials
        if access.proxy:
            return await self._by_proxy.opened(path, authorization, idle_for=idle_timeout, limit=MAX_LINE)
        target, prefix = self._target_of(access)
        request = request_of("GET", prefix + path, self._head_of("", authorization), None)
        return await self._streams.opened(target, request, idle_for=idle_timeout, limit=MAX_LINE)

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
        ask = Ask(method, _with(path, params), content, body, may_send)
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

    async def _authorized(self, ask: Ask, timeout: float) -> Answer:
        """Send a request, and repeat it once with renewed credentials after a 401."""
        # That is safe for a POST, too: a request that fails authentication has not been carried out.
        used = self._credentials.authorization()
        answer = await self._send(ask, timeout, used)
        if answer.status != 401:
            return answer
        return await self._send(ask, timeout, await self._authorized_anew(used))

    async def _authorized_anew(self, used: str) -> str:
        """The Authorization header after a renewal. Raises `Unauthorized` if it is still the one used."""
        if not await self._credentials.renewed(used):
            raise Unauthorized(401, "Unauthorized", "the API server does not accept our credentials")
        return self._credentials.authorization()

    async def _send(self, ask: Ask, timeout: float, authorization: str) -> Answer:
        access = self._credentials
        if access.proxy:
            return await self._by_proxy.ask(ask, timeout, authorization)
        target, prefix = self._target_of(access)
        head = self._head_of(ask.content, authorization)
        request = request_of(ask.method, prefix + ask.path, head, ask.body)
        return await self._channels.ask(target, request, within=timeout, may_send=ask.may_send)

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


def _with(path: str, params: Mapping[str, str] | None) -> str:
    return f"{path}?{urlencode(params)}" if params else path
