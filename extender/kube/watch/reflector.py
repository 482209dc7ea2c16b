"""Reflector of a collection on the API server: lists it, watches it, and lists it again if a watch is lost.

Items arrive as raw JSON, are decoded, and go to a sink. The reflector knows no kind of object. It stores only
the version from which to continue. It does not log, but calls a reporter.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Generic, TypeVar

import msgspec

from extender.kube.connection.api import (
    IDLE_TIMEOUT,
    ApiError,
    Expired,
    KubeError,
    MalformedAnswer,
    ObjectMeta,
    TooMany,
    Transport,
)
from extender.kube.watch.lines import Sink, WatchLines
from extender.kube.watch.pages import Page, identified_from, page_from
from extender.kube.watch.reporting import Reporter, Silence
from extender.kube.watch.sieve import Sieve

T = TypeVar("T")

PAGE_SIZE = 500
"""Items of a page."""

PAGE_TIMEOUT = 60.0
"""Seconds for the request of a page."""

WATCH_TIMEOUT = (300.0, 600.0)
"""Seconds after which the server should end a watch, as a range, so that not all watches end together."""

_SLICE = 50
# Events that are processed without a break. A call that arrives meanwhile waits for them.
_EVENTS_AT_ONCE = 4
_PAUSE = 0.2
_LONGEST_PAUSE = 20.0
_LONGEST_ASKED_PAUSE = 60.0
_HEALTHY_AFTER = 0.5
# So many refusals in a row, other than 410, may be due to the version itself. An etcd that was restored from
# a backup counts from an older one. A list costs more than a watch, so the first refusal does not cause one.
_REFUSALS_BEFORE_LIST = 3


class Reflector(Generic[T]):
    """Reflector of the collection at ``path``, restricted by ``params``, such as a fieldSelector.

    ``decode``: decodes an item. If it raises, the item is reported and skipped.
    ``key``: key of an item, from its metadata alone. Invalid and deleted items thus have one, too.
    ``order``: sort key for the items of the first list. None leaves the server's order.
    ``requested()``: called before a list is requested.
    ``caught_up()``: called after each list, once the watch has passed the changes made during the list.
    ``watch_timeout``, ``idle_timeout``, ``page_timeout``: seconds.
    ``uniform(low, high)``: source of random numbers, for jitter.
    ``sieve``: holds back updates of the watch that change nothing known. None passes all.
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
        sieve: Sieve[T] | None = None,
    ) -> None:
        self.kind = kind or path.rpartition("/")[2]
        #: Set after the first complete list. Never cleared.
        self.synced = asyncio.Event()
        #: The last error, or empty after a valid answer.
        self.error = ""
        #: Time of the last page or line on ``clock``, None before the first.
        self.last_heard: float | None = None
        #: Lists that began after the first complete one.
        self.relists = 0
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
        self._sieve = sieve
        self._version = ""
        self._broken = False
        self._failures = 0
        self._watches = 0
        self._lines = WatchLines(
            self.kind, decode=decode, key=key, sink=sink, reporter=self._reporter, sieve=sieve
        )

    @property
    def events(self) -> int:
        """Number of changes that watches have reported."""
        return self._lines.events

    @property
    def restarts(self) -> int:
        """Number of watches that began after the first."""
        return max(0, self._watches - 1)

    async def run(self) -> None:
        """List and watch until cancelled. Raises only exceptions of the sink."""
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
        """Raise `MalformedAnswer` if the server's versions went back during a broken watch.

        Cost: a list with a single item.
        """
        # Versions go back when etcd is restored from a backup. The server does not refuse a watch from a
        # future version. It stays silent until that version is reached, and never reports earlier changes.
        now = await self._version_now()
        self._broken = False
        if not _has_come(self._version, now):
            raise MalformedAnswer(f"versions of {self.kind} went back from {self._version} to {now}")

    async def _version_now(self) -> str:
        page = await self._page({**self._params, "limit": "1"})
        return page.metadata.resource_version

    async def _set_mark(self) -> None:
        """Record the server's present version. Once the watch reaches it, the watch has caught up."""
        self._mark, self._mark_due = await self._version_now(), False
        self._check_for_mark()

    def _check_for_mark(self) -> None:
        if self._mark and _has_come(self._mark, self._version):
            self._mark = ""
            self._caught_up()

    async def _recover(self, error: KubeError) -> None:
        """Pause after an error, and drop the version if no watch can continue from it."""
        refused = isinstance(error, ApiError) and not isinstance(error, TooMany)
        if isinstance(error, Expired | MalformedAnswer) or (
            refused and self._failures >= _REFUSALS_BEFORE_LIST
        ):
            self._version = ""
        pause = 0.0 if isinstance(error, Expired) and self._failures == 0 else self._backed_off()
        if isinstance(error, ApiError) and error.retry_after:
            pause = max(pause, min(error.retry_after, _LONGEST_ASKED_PAUSE))
        self._failures += 1
        # A server that answered, even with an error, was not restored meanwhile.
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
        if self._sieve is not None:
            self._sieve.clear()
        found, keys, version = await self._pages()
        if self._order is not None and not self.synced.is_set():
            # Only the first list is sorted, while there are no calls yet: 50,000 items take 30 ms.
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
        """All valid items of a consistent list, the keys of all items, and the version of the list."""
        # Items are reported once all pages are complete, since a 410 for a continue token restarts the list.
        found: list[T] = []
        keys: set[str] = set()
        # Without a resourceVersion, the server reads from etcd. The list is never older than an earlier one.
        params = {**self._params, "limit": str(self._page_size)}
        while True:
            page = await self._page(params)
            for some in _slices(page.items or ()):
                self._take(some, found, keys)
                await asyncio.sleep(0)
            if not page.metadata.next:
                return found, keys, page.metadata.resource_version
            params["continue"] = page.metadata.next

    async def _page(self, params: Mapping[str, str]) -> Page:
        body = await self._client.get(self._path, params, timeout=self._page_timeout)
        self.last_heard = self._clock()
        try:
            page = page_from(body)
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
        """Watch until the server ends the watch, then pause.

        A watch is healthy if it brought changes or lasted. The pause is short after a healthy one, and grows
        after others, so that a server that closes watches at once is not flooded.
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
        lines_read = 0
        async with aclosing(
            self._client.stream(self._path, params, idle_timeout=self._idle_timeout)
        ) as lines:
            async for line in lines:
                self.last_heard = self._clock()
                self.take(line)
                lines_read += 1
                if lines_read % _EVENTS_AT_ONCE == 0:
                    await asyncio.sleep(0)

    def take(self, line: bytes) -> None:
        """Take a line of a watch. Raises `KubeError` if the watch cannot continue."""
        version = self._lines.take(line)
        if version:
            self._version = version
            if self._mark:
                self._check_for_mark()
        self.error = ""


def _slices(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Split items into parts, between which the event loop can serve calls."""
    for start in range(0, len(items), _SLICE):
        yield items[start : start + _SLICE]


def _has_come(version: str, now: str) -> bool:
    """True if a version is not after ``now``, or if they are not numbers and cannot be compared."""
    return not (version.isdigit() and now.isdigit()) or int(version) <= int(now)


def _meta_from(raw: msgspec.Raw) -> ObjectMeta:
    try:
        return identified_from(raw).metadata
    except ValueError:
        return ObjectMeta()
