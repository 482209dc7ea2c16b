"""Requests and watches through an HTTP proxy, which aiohttp knows how to ask."""

from collections.abc import Mapping

import aiohttp

from extender.kube.connection.api import MalformedAnswer, Unreachable
from extender.kube.connection.channel import Answer, Ask
from extender.kube.connection.channels import MOST
from extender.kube.connection.credentials import Credentials
from extender.kube.connection.fencing import FencedBody, HeldBack
from extender.kube.connection.lines import Lines
from extender.kube.connection.stream import HIGH, Head


class ByProxy:
    """Requests to the API server through the proxy that the credentials name.

    ``headers``: of all requests. ``connect_within``: seconds for a new connection. ``keepalive``: seconds for
    which an idle one is used again.
    """

    def __init__(
        self,
        credentials: Credentials,
        headers: Mapping[str, str],
        *,
        connect_within: float,
        keepalive: float,
    ) -> None:
        self._credentials = credentials
        self._headers = headers
        self._connect_within = connect_within
        self._keepalive = keepalive
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def ask(self, ask: Ask, timeout: float, authorization: str) -> Answer:
        """Send a request and read the answer.

        Raises `HeldBack` if the request must not be sent, and otherwise what aiohttp raises.
        """
        limits = aiohttp.ClientTimeout(connect=min(self._connect_within, timeout / 2))
        sent = FencedBody(ask.body, ask.may_send) if ask.body is not None and ask.may_send else ask.body
        try:
            content = {"Content-Type": ask.content} if ask.content else {}
            response = await self._answered(ask.method, ask.path, limits, content, authorization, sent)
            async with response:
                head = _head_of(response)
                return Answer(head.status, await response.read(), head.date, head.retry_after)
        except aiohttp.ClientError:
            if isinstance(sent, FencedBody) and sent.held_back:
                raise HeldBack from None
            raise

    async def opened(self, path: str, authorization: str, *, idle_for: float, limit: int) -> "StreamByProxy":
        """Begin a watch, and wait for the head of the answer. Raises what aiohttp raises."""
        limits = aiohttp.ClientTimeout(connect=self._connect_within, sock_read=idle_for)
        return StreamByProxy(await self._answered("GET", path, limits, {}, authorization, None), limit)

    async def _answered(
        self,
        method: str,
        path: str,
        timeout: aiohttp.ClientTimeout,
        headers: Mapping[str, str],
        authorization: str,
        body: FencedBody | bytes | None,
    ) -> aiohttp.ClientResponse:
        access = self._credentials
        return await self._made().request(
            method,
            access.host + path,
            headers={**headers, "Authorization": authorization} if authorization else headers,
            timeout=timeout,
            allow_redirects=False,
            proxy=access.proxy,
            ssl=access.tls or True,
            server_hostname=access.server_name,
            data=body,
        )

    def _made(self) -> aiohttp.ClientSession:
        if self._closed:
            raise Unreachable("the client is closed", sent=False)
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=MOST, keepalive_timeout=self._keepalive),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                read_bufsize=HIGH,
            )
        return self._session


class StreamByProxy:
    """An answer that is read while it arrives, as `extender.kube.connection.stream.Answered` says."""

    def __init__(self, response: aiohttp.ClientResponse, limit: int) -> None:
        self.head = _head_of(response)
        self._response = response
        self._limit = limit
        self._lines = Lines()

    async def read(self) -> list[bytes]:
        """Wait for lines."""
        while chunk := await self._response.content.readany():
            found = self._lines.take(chunk)
            if self._lines.unfinished > self._limit:
                raise MalformedAnswer(f"a line of more than {self._limit} bytes")
            if found:
                return found
        return []

    async def rest(self) -> bytes:
        """Read the whole answer."""
        return await self._response.read()

    def close(self) -> None:
        """Close the connection at once."""
        self._response.close()


def _head_of(response: aiohttp.ClientResponse) -> Head:
    found = response.headers
    return Head(response.status, found.get("Date", ""), found.get("Retry-After", ""))
