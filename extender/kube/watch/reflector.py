"""Reflector of one collection of the API server: list, watch, list again when the thread is lost.

Items arrive as raw JSON and leave as whatever ``decode`` makes of one of them; a sink takes them. No kind of
object is known here, nothing is kept but the version to go on from, and nothing is logged: a reporter hears.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from extender.kube.connection.api import (
    IDLE_TIMEOUT,
    ApiError,
    Gone,
    KubeError,
    MalformedAnswer,
    ObjectMeta,
    TooMany,
    Transport,
    error_from,
)

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

PAGE_SIZE = 500
PAGE_TIMEOUT = 60.0
WATCH_TIMEOUT = (300.0, 600.0)
"""Seconds after which the server is asked to end a watch; a range, so that not all watches end together."""

_SLICE = 50
# Events between two looks at the loop: a verb that arrives meanwhile waits for them.
_EVENTS_AT_ONCE = 4
_PAUSE = 0.2
_LONGEST_PAUSE = 20.0
_LONGEST_ASKED_PAUSE = 60.0
_HEALTHY_AFTER = 0.5
# An answer other than 410, this often in a row, may be about the version itself (an etcd restored from a
# backup counts from an older one); a list costs more than a watch, so not at the first.
_REFUSALS_BEFORE_LIST = 3


class Sink(Protocol[T_contra]):
    """Where items go, under the reflector's keys. All calls are short and on the event loop; what one raises
    ends the reflector."""

    def on_changed(self, item: T_contra, /) -> None:
        """The item exists and looks like this now; a repeat is possible."""

    def on_deleted(self, key: str, /) -> None:
        """The item is gone."""

    def on_listed(self, keys: frozenset[str], /) -> None:
        """A whole list has been told through on_changed: what is known and not in ``keys`` is gone."""


class Reporter(Protocol):
    """Hears what went wrong or took long. ``kind`` is the reflector's."""

    def listed(self, kind: str, items: int, seconds: float, /) -> None: ...

    def undecodable(self, kind: str, name: str, error: str, /) -> None:
        """One item was skipped; an earlier state of it, if there was one, stays."""

    def interrupted(self, kind: str, error: KubeError, pause: float, /) -> None:
        """A list or watch failed and is tried again after ``pause`` seconds."""


class Silence:
    """A reporter that tells nobody."""

    def listed(self, kind: str, items: int, seconds: float, /) -> None:
        pass

    def undecodable(self, kind: str, name: str, error: str, /) -> None:
        pass

    def interrupted(self, kind: str, error: KubeError, pause: float, /) -> None:
        pass


class _ListMeta(msgspec.Struct):
    resource_version: str = msgspec.field(default="", name="resourceVersion")
    next: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Identified(msgspec.Struct):
    metadata: ObjectMeta


_page_from = msgspec.json.Decoder(_Page).decode
_event_from = msgspec.json.Decoder(_Event).decode
_identified_from = msgspec.json.Decoder(_Identified).decode


class Reflector(Generic[T]):
    """Follows ``path`` (narrowed by ``params``, such as a fieldSelector) and tells a sink, for ever.

    ``decode``: the JSON of one item to T; an item for which it raises is reported and skipped, and its
    earlier state stays.
    ``key``: what an item is called, from the metadata alone: so one that cannot be decoded is not taken for a
    deleted one, and one that is gone need not be decoded.
    ``order``: sort key in which the first list's items are told; None: as the server lists them.
    ``requested()``: called before a list is asked for; what its items differ in came before that, or later.
    ``caught_up()``: called once per list, when the watch has told all that happened until the list was told.
    ``watch_timeout``, ``idle_timeout``, ``page_timeout``: seconds. ``uniform(low, high)``: jitter.

    Read: ``synced`` (set after the first whole list, never cleared), ``error`` (what is wrong now, empty
    since the last answer that could be used), ``last_heard`` (``clock`` time of the last page or line, None
    before), and the counters ``relists`` (lists begun after the first whole one),
    ``restarts`` and ``events`` (changes told by watches).
    """

    def __init__(
        self,
        client: Transport,
        *,
        path: str,
        decode: Callable[[bytes], T],
        key: Callable[[ObjectMeta], str],
        sink: Sink[T],
        params: Mapping[str, str] | None = None,
        kind: str | None = None,
        order: Callable[[T], Any] | None = None,
        reporter: Reporter | None = None,
        requested: Callable[[], None] = lambda: None,
        caught_up: Callable[[], None] | None = None,
        page_size: int = PAGE_SIZE,
        page_timeout: float = PAGE_TIMEOUT,
        watch_timeout: tuple[float, float] = WATCH_TIMEOUT,
        idle_timeout: float = IDLE_TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.kind = kind or path.rpartition("/")[2]
        self.synced = asyncio.Event()
        self.error = ""
        self.last_heard: float | None = None
        self.relists = 0
        self.events = 0
        self._client = client
        self._path = path
        self._params = dict(params or {})
        self._decode = decode
        self._key = key
        self._order = order
        self._sink = sink
        self._reporter = reporter or Silence()
        self._requested = requested
        self._caught_up = caught_up or (lambda: None)
        self._is_marked = caught_up is not None
        self._mark, self._mark_due = "", False
        self._page_size = page_size
        self._page_timeout = page_timeout
        self._watch_timeout = watch_timeout
        self._idle_timeout = idle_timeout
        self._clock = clock
        self._sleep = sleep
        self._uniform = uniform
        self._version = ""
        self._broken = False
        self._failures = 0
        self._watches = 0

    @property
    def restarts(self) -> int:
        """Watches begun after the first."""
        return max(0, self._watches - 1)

    async def run(self) -> None:
        """List and watch until cancelled. Ends otherwise only with what the sink raises."""
        while True:
            try:
                if self._version and self._broken:
                    await self._compare_versions()
                if self._version and self._mark_due:
                    await self._set_mark()
                await (self._watch() if self._version else self._list())
            except KubeError as error:
                await self._recover(error)

    async def _compare_versions(self) -> None:
        """After a broken watch: raise `MalformedAnswer` if the server's versions have gone back.

        So they do when etcd is restored. A watch from a version that is yet to come is not refused then: the
        server says nothing until it has come, and never tells what was before. Costs a list of one item.
        """
        now = await self._version_now()
        self._broken = False
        if not _has_come(self._version, now):
            raise MalformedAnswer(f"versions of {self.kind} went back from {self._version} to {now}")

    async def _version_now(self) -> str:
        page = await self._page({**self._params, "limit": "1"})
        return page.metadata.resource_version

    async def _set_mark(self) -> None:
        """After a list: when the watch has come to here, it has told all that happened until now."""
        self._mark, self._mark_due = await self._version_now(), False
        self._check_for_mark()

    def _check_for_mark(self) -> None:
        if self._mark and _has_come(self._mark, self._version):
            self._mark = ""
            self._caught_up()

    async def _recover(self, error: KubeError) -> None:
        """Pause, and forget the version if the error says that it leads nowhere."""
        refused = isinstance(error, ApiError) and not isinstance(error, TooMany)
        if isinstance(error, Gone | MalformedAnswer) or (refused and self._failures >= _REFUSALS_BEFORE_LIST):
            self._version = ""
        pause = 0.0 if isinstance(error, Gone) and self._failures == 0 else self._backed_off()
        if isinstance(error, ApiError) and error.retry_after:
            pause = max(pause, min(error.retry_after, _LONGEST_ASKED_PAUSE))
        self._failures += 1
        # A server that answers, if only with an error, has not been away.
        self._broken = self._broken or not isinstance(error, ApiError)
        self.error = str(error)
        self._reporter.interrupted(self.kind, error, pause)
        await self._sleep(pause)

    def _backed_off(self) -> float:
        longest: float = min(_LONGEST_PAUSE, _PAUSE * 2.0 ** min(self._failures, 30))
        return self._uniform(longest / 2, longest)

    async def _list(self) -> None:
        if self.synced.is_set():
            self.relists += 1
        started = self._clock()
        self._mark, self._mark_due = "", False
        self._requested()
        found, keys, version = await self._pages()
        if self._order is not None and not self.synced.is_set():
            # Only now: nobody asks yet, and a sort of 50,000 holds up the loop for 30 ms.
            found.sort(key=self._order)
        for some in _slices(found):
            for item in some:
                self._sink.on_changed(item)
            await asyncio.sleep(0)
        self._sink.on_listed(frozenset(keys))
        self._version, self._broken, self._mark_due = version, False, self._is_marked
        self.error = ""
        self.synced.set()
        self._reporter.listed(self.kind, len(found), self._clock() - started)

    async def _pages(self) -> tuple[list[T], set[str], str]:
        """Every item of a consistent list that can be read, the keys of all, and its version.

        Nothing is told before all pages are in: a continue token that expires (410) begins the list anew.
        """
        found: list[T] = []
        keys: set[str] = set()
        # Without resourceVersion the server reads from etcd: no list older than one seen before.
        params = {**self._params, "limit": str(self._page_size)}
        while True:
            page = await self._page(params)
            for some in _slices(page.items or ()):
                self._take(some, found, keys)
                await asyncio.sleep(0)
            if not page.metadata.next:
                return found, keys, page.metadata.resource_version
            params["continue"] = page.metadata.next

    async def _page(self, params: Mapping[str, str]) -> _Page:
        body = await self._client.get(self._path, params, timeout=self._page_timeout)
        self.last_heard = self._clock()
        try:
            page = _page_from(body)
        except ValueError as error:
            raise MalformedAnswer(f"list of {self.kind}: {error}") from error
        if not page.metadata.resource_version:
            raise MalformedAnswer(f"list of {self.kind} without a resourceVersion")
        return page

    def _take(self, raws: Sequence[msgspec.Raw], found: list[T], keys: set[str]) -> None:
        for raw in raws:
            meta = _meta_from(raw)
            keys.add(self._key(meta))
            try:
                found.append(self._decode(bytes(raw)))
            except Exception as error:  # noqa: BLE001 one bad object must not hide all others
                self._reporter.undecodable(self.kind, meta.full_name, f"{type(error).__name__}: {error}")

    async def _watch(self) -> None:
        """One watch, to its end.

        Healthy is a watch that brought news or lasted: a server that closes at once, or tells the same
        again and again, is backed off from; after the clean end of a healthy one the pause is short.
        """
        self._watches += 1
        began, since = self._clock(), self._version
        try:
            await self._follow()
        finally:
            healthy = self._version != since or self._clock() - began >= _HEALTHY_AFTER
            if healthy:
                self._failures = 0
        pause = self._uniform(0.0, _PAUSE) if healthy else self._backed_off()
        self._failures += not healthy
        await self._sleep(pause)

    async def _follow(self) -> None:
        params = {
            **self._params,
            "watch": "true",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(self._uniform(*self._watch_timeout))),
        }
        heard = 0
        async with aclosing(
            self._client.stream(self._path, params, idle_timeout=self._idle_timeout)
        ) as lines:
            async for line in lines:
                self.last_heard = self._clock()
                self._on_line(line)
                heard += 1
                if heard % _EVENTS_AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _on_line(self, line: bytes) -> None:
        try:
            event = _event_from(line)
        except ValueError as error:
            raise MalformedAnswer(f"watch of {self.kind}: {error}") from error
        if event.type == "ERROR":
            raise error_from(0, bytes(event.object))
        meta = _meta_from(event.object)
        if event.type != "BOOKMARK":
            self._on_event(event, meta)
        if meta.resource_version:
            self._version = meta.resource_version
            self._check_for_mark()
        self.error = ""

    def _on_event(self, event: _Event, meta: ObjectMeta) -> None:
        self.events += 1
        if event.type == "DELETED":
            if not (key := self._key(meta)):
                # A list tells which one is gone.
                raise MalformedAnswer(f"a deleted one of {self.kind} cannot be told from others")
            self._sink.on_deleted(key)
            return
        try:
            item = self._decode(bytes(event.object))
        except Exception as error:  # noqa: BLE001 one bad object must not hide all others
            self._reporter.undecodable(self.kind, meta.full_name, f"{type(error).__name__}: {error}")
        else:
            self._sink.on_changed(item)


def _slices(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Parts small enough for the event loop to attend to others in between."""
    for start in range(0, len(items), _SLICE):
        yield items[start : start + _SLICE]


def _has_come(version: str, now: str) -> bool:
    """Whether one version is not after another; of those that are no numbers nothing is known."""
    return not (version.isdigit() and now.isdigit()) or int(version) <= int(now)


def _meta_from(raw: msgspec.Raw) -> ObjectMeta:
    try:
        return _identified_from(raw).metadata
    except ValueError:
        return ObjectMeta()
