"""A Kubernetes API server in memory, on a loopback port, that breaks on demand.

It holds objects of any kind and serves paged lists, watches with field selectors, writes, Binding, Eviction.
"""

import asyncio
import itertools
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, Self

import msgspec
from aiohttp import web

from tests.extender.fake_objects import (
    JSON_TYPE,
    Change,
    Json,
    Request,
    Stored,
    Target,
    Watcher,
    merged,
    pass_on,
    patched_by,
    refusal,
    selects,
)

Answer = Callable[[Request], Awaitable[web.StreamResponse | None]]


@dataclass
class Fault:
    method: str
    path: str
    watch: bool | None
    times: int
    answer: Answer

    def takes(self, request: Request) -> bool:
        """True if this request must be broken. It is counted."""
        hit = (
            self.times > 0
            and self.method in ("", request.method)
            and self.path in request.path
            and self.watch in (None, request.is_watch)
        )
        self.times -= hit
        return hit


class FakeApi:
    """The server.

    ``requests``: all received requests. ``tokens``: accepted bearer tokens, None for all. ``clock``: the time
    of its Date header. ``silent``: True to keep watches open without any message.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.tokens: set[str] | None = None
        self.clock: Callable[[], float] = time.time
        self.silent = False
        self.blocked_evictions: set[str] = set()
        self.served: dict[str, dict[str, list[str]]] = {}
        self._objects: dict[tuple[str, str], dict[tuple[str, str], Stored]] = {}
        self._version = 100
        self._compacted = 0
        self._changes: list[Change] = []
        self._watchers: list[Watcher] = []
        self._pages: dict[str, tuple[int, list[Stored]]] = {}
        self._numbers = itertools.count(1)
        self._faults: list[Fault] = []
        self._runner: web.AppRunner | None = None
        self._port = 0
        self._scheme = "http"

    async def start(self, tls: ssl.SSLContext | None = None) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True, ssl_context=tls)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self._scheme = "https" if tls else "http"
        return self

    async def stop(self) -> None:
        """Stop the server. `start` continues on the same port with the same objects."""
        self.cut()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._port}"

    def kubeconfig(self, user: Json | None = None) -> Json:
        """A kubeconfig for this server, as the ``user`` given."""
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": self.url}}],
            "users": [{"name": "fake", "user": user or {"token": "fake-token"}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
        }

    # --- its objects

    def apply(self, path: str, obj: Json) -> Json:
        """Create or replace the object in the collection ``path``, and inform its watches."""
        meta = {"namespace": Target.of(path).namespace, "uid": f"uid-{next(self._numbers)}"}
        meta = {name: value for name, value in meta.items() if value} | obj["metadata"]
        target = self._named(path, meta["name"], meta.get("namespace", ""))
        return self._store(target, {**obj, "metadata": meta})

    def delete(self, path: str, name: str, namespace: str = "") -> None:
        self._drop(self._named(path, name, namespace))

    def find(self, path: str, name: str, namespace: str = "") -> Json | None:
        target = self._named(path, name, namespace)
        stored = self._kind(target).get((target.namespace, target.name))
        return None if stored is None else stored.object

    def _named(self, path: str, name: str, namespace: str) -> Target:
        target = Target.of(path)
        return Target(target.group, target.resource, namespace or target.namespace, name)

    def _kind(self, target: Target) -> dict[tuple[str, str], Stored]:
        return self._objects.setdefault((target.group, target.resource), {})

    def _store(self, target: Target, obj: Json) -> Json:
        self._version += 1
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        stored = Stored(self._version, obj, msgspec.json.encode(obj))
        before = self._kind(target).get((target.namespace, target.name))
        self._kind(target)[target.namespace, target.name] = stored
        self._tell(Change(target, self._version, before and before.object, stored))
        return obj

    def _drop(self, target: Target) -> Json:
        before = self._kind(target).pop((target.namespace, target.name)).object
        self._version += 1
        self._tell(Change(target, self._version, before, None))
        return before

    def _tell(self, change: Change) -> None:
        self._changes.append(change)
        for watcher in self._watchers:
            pass_on(change, watcher)

    # --- what it does to its clients

    def break_next(
        self,
        answer: Answer,
        *,
        method: str = "",
        path: str = "",
        watch: bool | None = None,
        times: int = 1,
    ) -> None:
        """Let ``answer`` handle the next matching requests. If it returns None, they are served as usual."""
        self._faults.append(Fault(method, path, watch, times, answer))

    def fail_next(self, status: int, *, headers: Mapping[str, str] | None = None, **which: Any) -> None:
        async def answer(_: Request) -> web.Response:
            return refusal(status, f"the test wants {status}", headers=headers)

        self.break_next(answer, **which)

    def lose_next_reply(self, **which: Any) -> None:
        """Carry the request out and cut the connection before the answer."""

        async def answer(request: Request) -> None:
            await self._routed(request)
            hang_up(request)

        self.break_next(answer, **which)

    def end_next_watches(self, times: int) -> None:
        """Accept the next watches and end them at once, cleanly."""

        async def answer(_: Request) -> web.Response:
            return web.Response(body=b"", content_type=JSON_TYPE)

        self.break_next(answer, watch=True, times=times)

    def bookmark(self, version: int | None = None) -> str:
        """Send a bookmark to every watch, and return its version. By default no object has that version."""
        if version is None:
            self._version += 1
        mark = str(version or self._version)
        line = {"type": "BOOKMARK", "object": {"kind": "X", "metadata": {"resourceVersion": mark}}}
        self.send(msgspec.json.encode(line) + b"\n")
        return mark

    def send(self, data: bytes) -> None:
        """Send bytes as they are to every watch."""
        for watcher in self._watchers:
            watcher.outbox.put_nowait(data)

    def end_watches(self) -> None:
        """End every watch cleanly."""
        for watcher in self._watchers:
            watcher.outbox.put_nowait(None)

    def cut(self) -> None:
        """Cut the connection of every watch, after its pending messages."""
        for watcher in self._watchers:
            watcher.outbox.put_nowait("abort")

    def compact(self) -> None:
        """Forget history. Earlier versions and continue tokens are then answered with 410."""
        self._version += 1
        self._compacted = self._version
        self._pages.clear()

    @property
    def watching(self) -> int:
        """Number of open watches."""
        return len(self._watchers)

    # --- how it answers

    async def _serve(self, raw: web.Request) -> web.StreamResponse:
        request = Request(raw.method, raw.path, dict(raw.query), dict(raw.headers), await raw.read(), raw)
        self.requests.append(request)
        accepted = None if self.tokens is None else {f"Bearer {token}" for token in self.tokens}
        if accepted is not None and request.headers.get("Authorization") not in accepted:
            return refusal(401, "Unauthorized")
        for fault in self._faults:
            if fault.takes(request) and (response := await fault.answer(request)) is not None:
                return response
        if raw.transport is None or raw.transport.is_closing():
            return web.Response(status=500)
        return await self._routed(request)

    async def _routed(self, request: Request) -> web.StreamResponse:
        parts = request.path.strip("/").split("/")
        if parts[0] == "apis" and len(parts) < 4:
            return self._discovered(*parts[1:])
        target = Target.of(request.path)
        if request.method == "GET" and request.is_watch:
            return await self._watch(request, target)
        if request.method == "GET" and not target.name:
            return self._list(request, target)
        if request.method == "POST" and not target.name:
            return self._create(request, target)
        stored = self._kind(target).get((target.namespace, target.name))
        if stored is None:
            return refusal(404, f'{target.resource} "{target.name}" not found')
        return self._on_object(request, target, stored.object)

    def _discovered(self, group: str, version: str = "") -> web.Response:
        """The resources of an API group that are served; none by default."""
        served = self.served.get(group)
        if served is None or (version and version not in served):
            return refusal(404, f"{group} is not served")
        if version:
            return self._reply({"resources": [{"name": name} for name in served[version]]})
        return self._reply({"versions": [{"version": each} for each in served]})

    def _on_object(self, request: Request, target: Target, old: Json) -> web.Response:
        plain = Target(target.group, target.resource, target.namespace, target.name)
        match request.method, target.sub:
            case "GET", _:
                return self._reply(old)
            case "POST", "binding":
                return self._bind(request.json, plain, old)
            case "POST", "eviction":
                return self._evict(request.json, plain, old)
            case "PUT", _:
                return self._replace(request.json, plain, old)
            case "PATCH", _ if "patch+json" in request.headers.get("Content-Type", ""):
                return self._reply(self._store(plain, patched_by(request, old)))
            case "DELETE", _:
                return self._remove(request, plain, old)
        return refusal(415, "the fake does not do this")

    def _reply(self, obj: Any, status: int = 200) -> web.Response:
        body = obj if isinstance(obj, bytes) else msgspec.json.encode(obj)
        headers = {"Date": self._date()}
        return web.Response(body=body, status=status, content_type=JSON_TYPE, headers=headers)

    def _date(self) -> str:
        return formatdate(self.clock(), usegmt=True)

    def _create(self, request: Request, target: Target) -> web.Response:
        obj = request.json
        meta = obj.setdefault("metadata", {})
        meta.setdefault("name", f"{meta.get('generateName', '')}{next(self._numbers)}")
        if (meta.get("namespace", target.namespace), meta["name"]) in self._kind(target):
            return refusal(409, f"{meta['name']} already exists", reason="AlreadyExists")
        return self._reply(self.apply(request.path, obj), 201)

    def _replace(self, obj: Json, target: Target, old: Json) -> web.Response:
        version = obj["metadata"].get("resourceVersion")
        if version not in (None, old["metadata"]["resourceVersion"]):
            return refusal(409, "the object has been modified", reason="Conflict")
        return self._reply(self._store(target, obj))

    def _remove(self, request: Request, target: Target, old: Json) -> web.Response:
        options = request.json if request.body else {}
        return self._unwanted(options, old) or self._reply(self._drop(target))

    def _unwanted(self, options: Json, old: Json) -> web.Response | None:
        wanted = (options.get("preconditions") or {}).get("uid")
        if wanted in (None, old["metadata"].get("uid")):
            return None
        return refusal(409, "the UID in the precondition differs", reason="Conflict")

    def _bind(self, binding: Json, target: Target, pod: Json) -> web.Response:
        wanted = (binding.get("metadata") or {}).get("uid")
        if wanted not in (None, pod["metadata"].get("uid")):
            return refusal(409, "the UID in the precondition differs", reason="Conflict")
        if bound := pod.get("spec", {}).get("nodeName"):
            return refusal(409, f"pod {target.name} is already assigned to {bound!r}", reason="Conflict")
        self._store(target, merged(pod, {"spec": {"nodeName": binding["target"]["name"]}}))
        return self._reply({"kind": "Status", "status": "Success", "code": 201}, 201)

    def _evict(self, eviction: Json, target: Target, pod: Json) -> web.Response:
        if pod["metadata"]["name"] in self.blocked_evictions:
            causes = ({"reason": "DisruptionBudget"},)
            return refusal(429, "Cannot evict pod", reason="TooManyRequests", causes=causes)
        if unwanted := self._unwanted(eviction.get("deleteOptions") or {}, pod):
            return unwanted
        self._drop(target)
        return self._reply({"kind": "Status", "status": "Success", "code": 201}, 201)

    # --- lists and watches

    def _list(self, request: Request, target: Target) -> web.Response:
        if token := request.query.get("continue"):
            if token not in self._pages:
                return refusal(410, "The provided continue parameter is too old", reason="Expired")
            version, left = self._pages.pop(token)
        else:
            version, left = self._version, list(self._selected(request, target))
        limit = int(request.query.get("limit", 0)) or len(left)
        meta = {"resourceVersion": str(version)}
        if left[limit:]:
            meta["continue"] = f"page-{next(self._numbers)}"
            self._pages[meta["continue"]] = version, left[limit:]
        items = b",".join(stored.encoded for stored in left[:limit])
        return self._reply(b'{"metadata":%s,"items":[%s]}' % (msgspec.json.encode(meta), items))

    def _selected(self, request: Request, target: Target) -> Iterator[Stored]:
        selector = request.query.get("fieldSelector", "")
        for (namespace, _), stored in self._kind(target).items():
            if target.namespace in ("", namespace) and selects(selector, stored.object):
                yield stored

    async def _watch(self, request: Request, target: Target) -> web.StreamResponse:
        since = int(request.query["resourceVersion"])
        response = web.StreamResponse(headers={"Content-Type": JSON_TYPE, "Date": self._date()})
        await response.prepare(request.raw)
        if since < self._compacted:
            status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
            await response.write(msgspec.json.encode({"type": "ERROR", "object": status}) + b"\n")
            return response
        async with self._watcher(request, target, since) as watcher:
            await self._send_all(request, response, watcher)
        return response

    @asynccontextmanager
    async def _watcher(self, request: Request, target: Target, since: int) -> AsyncIterator[Watcher]:
        watcher = Watcher(target, request.query.get("fieldSelector", ""), since)
        for change in self._changes:
            pass_on(change, watcher)
        self._watchers.append(watcher)
        try:
            yield watcher
        finally:
            self._watchers.remove(watcher)

    async def _send_all(self, request: Request, response: web.StreamResponse, watcher: Watcher) -> None:
        ends = asyncio.get_running_loop().time() + float(request.query.get("timeoutSeconds", 300))
        try:
            async with asyncio.timeout_at(ends):
                while (data := await watcher.outbox.get()) is not None:
                    if isinstance(data, str):
                        return hang_up(request)
                    if not self.silent:
                        await response.write(data)
        except (TimeoutError, ConnectionError):
            return None


def hang_up(request: Request) -> None:
    """Cut the connection of a request, as a crash would."""
    if request.raw.transport is not None:
        request.raw.transport.abort()
