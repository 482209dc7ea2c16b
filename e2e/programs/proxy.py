"""A proxy between Paddock and the API server that delays, cuts and loses what a test chooses."""

import asyncio
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import web

from e2e.programs.control_plane import unverified
from e2e.programs.processes import free_port

_HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "keep-alive", "host"}


@dataclass
class Rule:
    """A rule of the proxy.

    ``left``: how many more requests it affects, None for all. ``body``: a pattern like the path's.
    """

    method: str
    path: str
    left: int | None = None
    body: str = ""

    def meets(self, method: str, path: str, body: str = "") -> bool:
        if self.left == 0 or not (re.fullmatch(self.method, method) and re.search(self.path, path)):
            return False
        if not re.search(self.body, body):
            return False
        if self.left is not None:
            self.left -= 1
        return True


class ApiProxy:
    """A reverse proxy on loopback. Paths are searched with regular expressions."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._delays: list[tuple[Rule, float]] = []
        self._lags: list[tuple[str, float]] = []
        self._answers: list[tuple[Rule, int]] = []
        self._drops: list[tuple[Rule, bool]] = []
        self._holds: list[tuple[Rule, asyncio.Event]] = []
        self._released = asyncio.Event()
        self._watches: dict[asyncio.Task[None], str] = {}
        self._cutting: asyncio.Task[None] | None = None
        self._thawed = asyncio.Event()
        self._thawed.set()
        self._frozen = ""
        self.requests: Counter[tuple[str, str]] = Counter()
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self.url = ""

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=unverified(), limit=0), auto_decompress=False
        )
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        port = free_port()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.clear()
        self.cut_watches()
        await self._runner.cleanup()
        await self._session.close()

    # -- what a test says -----------------------------------------------------------------------------------

    def delay(self, method: str, path: str, seconds: float) -> None:
        """Delay matching requests before they are forwarded."""
        self._delays.append((Rule(method, path), seconds))

    def delay_watch(self, path: str, seconds: float) -> None:
        """Deliver every event of matching watches later by some time, in order."""
        self._lags.append((path, seconds))

    def answer_next(self, method: str, path: str, status: int, *, n: int = 1) -> None:
        """Answer the next matching requests with a status of our own."""
        self._answers.append((Rule(method, path, n), status))

    def drop_next(self, method: str, path: str, *, n: int = 1, after: bool = False) -> None:
        """Close the connection of the next matching requests, before or after forwarding (a lost reply)."""
        self._drops.append((Rule(method, path, n), after))

    def hold_next(self, method: str, path: str, body: str = "") -> asyncio.Event:
        """Forward the next matching request but hold its answer.

        The event returned is set after the request took effect.
        """
        done = asyncio.Event()
        self._holds.append((Rule(method, path, 1, body), done))
        return done

    def answer_held(self) -> None:
        """Deliver the answers that were held."""
        self._holds.clear()
        self._released.set()
        self._released = asyncio.Event()

    def cut_watches(self, path: str = "") -> None:
        """End matching watches in the middle of their stream."""
        for task, watched in list(self._watches.items()):
            if re.search(path, watched):
                task.cancel()

    def cut_watches_every(self, seconds: float, path: str = "") -> None:
        async def cut() -> None:
            while True:
                await asyncio.sleep(seconds)
                self.cut_watches(path)

        self._cutting = asyncio.create_task(cut())

    def freeze(self, path: str) -> None:
        """Freeze matching connections half-open: they stay and carry nothing."""
        self._frozen = path
        self._thawed.clear()

    def thaw(self) -> None:
        """Let frozen connections carry what was held up."""
        self._frozen = ""
        self._thawed.set()

    def clear(self) -> None:
        """Forget all rules."""
        for rules in (self._delays, self._lags, self._answers, self._drops):
            rules.clear()
        self.answer_held()
        self.thaw()
        if self._cutting is not None:
            self._cutting.cancel()
            self._cutting = None

    def count(self, method: str, path: str) -> int:
        """The number of matching requests seen so far."""
        return sum(n for (m, p), n in self.requests.items() if m == method and re.search(path, p))

    def accepted(self, method: str, path: str) -> int:
        """The number of forwarded requests that the API server carried out."""
        counts = self.answers.items()
        return sum(n for (m, p, status), n in counts if m == method and re.search(path, p) and status < 300)

    def under_way(self, method: str, path: str) -> int:
        """The number of matching requests that were forwarded and are not answered yet."""
        counts = self.answers.items()
        answered = sum(n for (m, p, _), n in counts if m == method and re.search(path, p))
        return self.count(method, path) - answered

    # -- what it does ---------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        method, path = request.method, request.path
        self.requests[method, path] += 1
        for rule, seconds in self._delays:
            if rule.meets(method, path):
                await asyncio.sleep(seconds)
        for rule, status in self._answers:
            if rule.meets(method, path):
                return web.json_response(
                    {"kind": "Status", "code": status, "message": "by proxy"}, status=status
                )
        drop = next((after for rule, after in self._drops if rule.meets(method, path)), None)
        if drop is False:
            return _cut(request)
        held = await self._held(request)
        await self._while_frozen(path)
        response = await self._forward(request)
        if held is not None:
            held.set()
            await self._released.wait()
        return _cut(request) if drop else response

    async def _held(self, request: web.Request) -> asyncio.Event | None:
        """The event that is set after a request with a held answer was carried out."""
        if not self._holds or request.method == "GET":
            return None
        body = (await request.read()).decode()
        met = (done for rule, done in self._holds if rule.meets(request.method, request.path, body))
        return next(met, None)

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        try:
            async with self._session.request(
                request.method,
                self._target + request.path_qs,
                headers=headers,
                # Without a body there must be no content type either, which aiohttp would add.
                data=await request.read() or None,
                timeout=aiohttp.ClientTimeout(total=None),
            ) as answer:
                if "watch" in request.query and answer.status == 200:
                    return await self._stream(request, answer)
                self.answers[request.method, request.path, answer.status] += 1
                answer_headers = {
                    name: value for name, value in answer.headers.items() if name.lower() not in _HOP
                }
                return web.Response(status=answer.status, body=await answer.read(), headers=answer_headers)
        except aiohttp.ClientError:
            return _cut(request)

    async def _stream(self, request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        lag = sum(seconds for path, seconds in self._lags if re.search(path, request.path))
        task = asyncio.create_task(self._pump(request.path, answer, response, lag))
        self._watches[task] = request.path
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            self._watches.pop(task, None)
            with suppress(asyncio.CancelledError, aiohttp.ClientError, OSError):
                await task
        if request.transport is not None:
            request.transport.abort()
        return response

    async def _pump(
        self, path: str, answer: aiohttp.ClientResponse, response: web.StreamResponse, lag: float
    ) -> None:
        """Copy lines in order, each with its delay."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def read() -> None:
            async for chunk in answer.content.iter_any():
                waiting.put_nowait((loop.time() + lag, chunk))
            waiting.put_nowait((0.0, b""))

        reading = asyncio.create_task(read())
        try:
            while True:
                due, chunk = await waiting.get()
                if not chunk:
                    return
                await asyncio.sleep(max(0.0, due - loop.time()))
                await self._while_frozen(path)
                await response.write(chunk)
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError, aiohttp.ClientError):
                await reading

    async def _while_frozen(self, path: str) -> None:
        if self._frozen and re.search(self._frozen, path):
            await self._thawed.wait()


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)
