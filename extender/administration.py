"""Actions of administrators in one process: their store, what they need, and the log of them."""

import asyncio
import time
from collections.abc import Callable

from core.ledger import events as on
from core.ledger.effects import Effect, PostEvent
from extender.actions.ending import EndedApplication
from extender.actions.stored import CONFIG_MAP, Actions
from extender.configuration.settings import Settings
from extender.engine.engine import Engine
from extender.http.actions.parts import Acting
from extender.kube.actions import ActionStore, Change
from extender.kube.connection.client import ApiClient
from extender.kube.leadership import Leadership
from extender.telemetry.reporting import Reporting


class Administration:
    """Orders of administrators in one process.

    Without the setting ``paddock.admin.enabled`` nothing is read or done.
    ``settings``: asked once there is a configuration, which ``configured`` tells. ``unready()``: why the
    server cannot answer yet, or empty.
    """

    def __init__(
        self,
        client: ApiClient,
        namespace: str,
        *,
        engine: Engine,
        settings: Callable[[], Settings],
        configured: asyncio.Event,
        leadership: Leadership,
        reporting: Reporting,
        perform: Callable[[Effect], None],
        unready: Callable[[], str],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._namespace = namespace
        self._engine = engine
        self._settings = settings
        self._configured = configured
        self._perform = perform
        self._store = ActionStore(
            client,
            namespace,
            learn=self._learn,
            leads=lambda: leadership.held,
            ends=lambda app_id: engine.view.is_ended(app_id),
            wall=wall,
            reporter=reporting,
        )
        self.acting = Acting(
            enabled=lambda: settings().admin_enabled,
            by_acl=lambda: settings().admin_acl,
            unready=lambda: unready() or self.problem(),
            queue=lambda path: engine.view.tree.get(path),
            application=lambda app_id: EndedApplication.of(engine.view, app_id),
            ending=lambda app_id: engine.view.ending(app_id),
            store=self._changed,
            wall=wall,
            audit=reporting.acted,
            tell_closed=self._tell_closed,
            tell_opened=self._tell_opened,
            tell_ended=self._tell_ended,
            tell_lifted=self._tell_lifted,
            tell_refused=self._tell_refused,
        )

    async def run(self) -> None:
        """Follow the store until cancelled. Returns at once if actions are switched off."""
        await self._configured.wait()
        if self._settings().admin_enabled:
            await self._store.run()

    async def wait_read(self) -> None:
        """Wait for the configuration, and for what administrators ordered if that counts (ACT-5)."""
        await self._configured.wait()
        if self._settings().admin_enabled:
            await self._store.was_read.wait()

    def problem(self) -> str:
        """Why what administrators ordered is not known as it is now; empty if it is, or does not count."""
        is_on = self._configured.is_set() and self._settings().admin_enabled
        return self._store.problem if is_on else ""

    def began(self) -> None:
        """Note that this instance acts from now on. Another one may have written the store until now."""
        self._engine.learn(on.ActingBegan())
        self._store.read_again()

    async def _changed(self, change: Change, dry_run: bool) -> tuple[Actions, Actions]:
        return await self._store.changed(change, dry_run=dry_run)

    def _learn(self, actions: Actions) -> None:
        self._engine.learn(on.ActionsRead(actions.closed, actions.ended))

    def _tell_closed(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "QueueClosed", message, warning=False))

    def _tell_opened(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "QueueOpened", message, warning=False))

    def _tell_ended(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "ApplicationEnded", message, warning=False))

    def _tell_lifted(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "BarLifted", message, warning=False))

    def _tell_refused(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "ActionRefused", message, warning=True))


def _event_of_action(namespace: str, reason: str, message: str, *, warning: bool) -> PostEvent:
    return PostEvent("ConfigMap", namespace, CONFIG_MAP, "", reason, message, warning=warning)
