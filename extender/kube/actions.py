"""Store of the actions of administrators: one ConfigMap, which only the leader writes (ACT-3).

A write is the commit, and what follows from it comes after. Every write carries the version that was read,
so two writers cannot undo each other. The watch only says that the ConfigMap changed. What counts is a
consistent read, since an event may be older than the last write.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from core.errors import PaddockError
from core.ids import AppId
from extender.actions.stored import (
    CONFIG_MAP,
    KEY,
    Actions,
    Unreadable,
    actions_from,
    text_of,
    without_past,
)
from extender.kube.connection.api import (
    Conflict,
    KubeError,
    MalformedAnswer,
    NotFound,
    ObjectMeta,
    Unreachable,
    segment,
)
from extender.kube.connection.client import ApiClient
from extender.kube.watch.reflector import Reflector
from extender.kube.watch.reporting import Reporter

READ_AGAIN_AFTER = 2.0
"""Seconds after which a failed read is tried again."""

TIDIED_EVERY = 60.0
"""Seconds between two removals of entries that have ended."""

ATTEMPTS = 5
"""Writes of one change, at most, that another writer overtakes."""

Change = Callable[[Actions], Actions]
"""Actions after a change of those given. Called again if another writer was faster."""


class NotStored(PaddockError):
    """An action that is not stored for certain, so nothing was done. The request may be repeated."""


class _ConfigMap(msgspec.Struct, frozen=True, rename="camel"):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] | None = None


class ActionStore:
    """The ConfigMap, as last read.

    ``learn(actions)``: called after the first read, and after each change.
    ``leads``: True while this instance may write. ``ends(app_id)``: True while an application of that id is
    being ended. ``is_move_over(app_id)``: True if the order to move it is over. ``wall``: seconds since the
    epoch.
    """

    def __init__(
        self,
        client: ApiClient,
        namespace: str,
        *,
        learn: Callable[[Actions], None],
        leads: Callable[[], bool],
        ends: Callable[[AppId], bool],
        is_move_over: Callable[[AppId], bool],
        wall: Callable[[], float],
        reporter: Reporter,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        #: Why the store cannot be relied on; empty if it was read as it is now.
        self.problem = "it has not been read yet"
        #: Set after the first read. Never cleared.
        self.was_read = asyncio.Event()
        self._client = client
        self._folder = f"/api/v1/namespaces/{segment(namespace)}/configmaps"
        self._learn = learn
        self._leads = leads
        self._ends = ends
        self._is_move_over = is_move_over
        self._wall = wall
        self._sleep = sleep
        self._actions = Actions()
        self._version: str | None = None
        self._stale = asyncio.Event()
        self._stale.set()
        self._lock = asyncio.Lock()
        self._reflector = Reflector(
            client,
            path=self._folder,
            params={"fieldSelector": f"metadata.name={CONFIG_MAP}"},
            decode=msgspec.json.Decoder(_ConfigMap).decode,
            key=lambda meta: meta.name,
            sink=_Sink(self),
            reporter=reporter,
            kind=f"configmap {CONFIG_MAP}",
        )

    async def run(self) -> None:
        """Follow the ConfigMap, and remove what has ended, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._reflector.run())
            group.create_task(self._follow())
            group.create_task(self._tidy())

    def read_again(self) -> None:
        """Have the ConfigMap read once more, as after a change of the leader."""
        self._stale.set()

    def seen(self, version: str | None) -> None:
        """Note the version that a list or a watch shows; None for a missing ConfigMap."""
        if version != self._version or self.problem:
            self._stale.set()

    async def changed(self, change: Change, *, dry_run: bool = False) -> tuple[Actions, Actions]:
        """Store a change, and return the actions before and after it. ``dry_run``: only compute them.

        Raises `NotStored`, or `StoreFull` of `extender.actions.stored`. Nothing was changed then, unless the
        answer of the API server was lost. A repeated request finds that out.
        """
        async with self._lock:
            return await self._change(change, dry_run=dry_run)

    async def _change(self, change: Change, *, dry_run: bool) -> tuple[Actions, Actions]:
        first: Actions | None = None
        for _ in range(ATTEMPTS):
            if not self._leads():
                raise NotStored("this instance does not lead")
            try:
                await self._read()
                before = self._actions
                first = first or before
                after = change(before)
                text = text_of(after)
                if not dry_run and after != before:
                    await self._write(text)
                    self._take(after, self._version)
                return first, after
            except (Conflict, NotFound):
                continue
            except Unreachable as error:
                if not error.sent:
                    raise NotStored("the API server does not answer") from error
                # It may have been stored. The next read tells.
                continue
            except (KubeError, Unreadable) as error:
                raise NotStored("the ConfigMap of actions cannot be read or written") from error
        raise NotStored("the ConfigMap of actions could not be written")

    # -- reading ---------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            async with self._lock:
                try:
                    await self._read()
                    continue
                except (KubeError, Unreadable) as error:
                    self.problem = str(error)[:1000]
            await self._sleep(READ_AGAIN_AFTER)
            self._stale.set()

    async def _read(self) -> None:
        """Read the ConfigMap as it is now. Raises `KubeError` or `Unreadable`, and keeps what was read."""
        try:
            raw = await self._client.get(f"{self._folder}/{CONFIG_MAP}")
        except NotFound:
            self._take(Actions(), None)
            return
        found = _config_map_from(raw)
        self._take(actions_from((found.data or {}).get(KEY)), found.metadata.resource_version)

    def _take(self, actions: Actions, version: str | None) -> None:
        is_new = actions != self._actions or not self.was_read.is_set()
        self._actions, self._version, self.problem = actions, version, ""
        if is_new:
            self._learn(actions)
        self.was_read.set()

    # -- writing ---------------------------------------------------------------------------------------------

    async def _write(self, text: str) -> None:
        """Store a text over the version that was read. Raises `KubeError`."""
        if self._version is None:
            created = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CONFIG_MAP}}
            body = msgspec.json.encode({**created, "data": {KEY: text}})
            raw = await self._client.post(self._folder, body, may_send=self._leads)
        else:
            body = msgspec.json.encode({"metadata": {"resourceVersion": self._version}, "data": {KEY: text}})
            raw = await self._client.patch(f"{self._folder}/{CONFIG_MAP}", body, may_send=self._leads)
        self._version = _config_map_from(raw).metadata.resource_version

    async def _tidy(self) -> None:
        """Remove entries that have ended, so that they leave room for others."""
        while True:
            await self._sleep(TIDIED_EVERY)
            if self._leads() and not self.problem and self._without_past(self._actions) != self._actions:
                try:
                    await self.changed(self._without_past)
                except PaddockError as error:
                    self.problem = str(error)
                    self._stale.set()

    def _without_past(self, actions: Actions) -> Actions:
        return without_past(actions, now=self._wall(), ends=self._ends, is_move_over=self._is_move_over)


def _config_map_from(raw: bytes) -> _ConfigMap:
    try:
        return msgspec.json.decode(raw, type=_ConfigMap)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise MalformedAnswer(f"no ConfigMap: {error}") from None


class _Sink:
    def __init__(self, store: ActionStore) -> None:
        self._store = store

    def on_changed(self, item: _ConfigMap) -> None:
        self._store.seen(item.metadata.resource_version)

    def on_deleted(self, _key: str) -> None:
        self._store.seen(None)

    def on_listed(self, keys: frozenset[str]) -> None:
        if not keys:
            self._store.seen(None)
