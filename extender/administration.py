"""Actions of administrators in one process: their store, what they need, and the log of them."""

import asyncio
import time
from collections.abc import Callable

from core.ledger import events as on
from core.ledger.effects import Effect, PostEvent
from extender.actions.ending import EndedApplication
from extender.actions.moving import MoveProspect
from extender.actions.stored import CONFIG_MAP, Actions
from extender.configuration.reload import LiveConfiguration
from extender.configuration.sources import CONFIGS_NAME
from extender.engine.engine import Engine
from extender.http.actions.acting import action_endpoint
from extender.http.actions.parts import Acting
from extender.http.configuring.comparing import Comparing
from extender.http.configuring.parts import Configuring
from extender.http.configuring.writing import write_endpoint
from extender.http.endpoints import Endpoint
from extender.identity.delegation import Delegation
from extender.kube.actions import ActionStore, Change
from extender.kube.config_map import ConfigMapStore
from extender.kube.connection.client import ApiClient
from extender.kube.leadership import Leadership
from extender.telemetry.reporting import Reporting


class Administration:
    """Orders of administrators in one process.

    Without the setting ``paddock.admin.enabled`` nothing is read or done.
    ``configured``: set once there is a configuration. ``unready()``: why the server cannot answer yet, or
    empty.
    """

    def __init__(
        self,
        client: ApiClient,
        namespace: str,
        *,
        engine: Engine,
        configuration: LiveConfiguration,
        configured: asyncio.Event,
        leadership: Leadership,
        reporting: Reporting,
        perform: Callable[[Effect], None],
        unready: Callable[[], str],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._namespace = namespace
        self._engine = engine
        self._configuration = configuration
        self._configured = configured
        self._perform = perform
        self._store = ActionStore(
            client,
            namespace,
            learn=self._learn,
            leads=lambda: leadership.held,
            ends=lambda app_id: engine.view.is_ended(app_id),
            is_move_over=lambda app_id: engine.view.moves.is_over(app_id),
            wall=wall,
            reporter=reporting,
        )
        self.acting = Acting(
            enabled=lambda: configuration.settings.admin_enabled,
            by_acl=lambda: configuration.settings.admin_acl,
            unready=lambda: unready() or self.problem(),
            queue=lambda path: engine.view.tree.get(path),
            application=lambda app_id: EndedApplication.of(engine.view, app_id),
            ending=lambda app_id: engine.view.ending(app_id),
            prospect=lambda app_id, path: MoveProspect.of(engine.view, app_id, path),
            store=self._changed,
            wall=wall,
            audit=reporting.acted,
            tell_closed=self._tell_closed,
            tell_opened=self._tell_opened,
            tell_ended=self._tell_ended,
            tell_lifted=self._tell_lifted,
            tell_moved=self._tell_moved,
            tell_refused=self._tell_refused,
        )
        config_map = ConfigMapStore(client, namespace, leads=lambda: leadership.held)
        self._configuring = Configuring(
            enabled=lambda: configuration.settings.admin_enabled and configuration.settings.admin_config,
            unready=unready,
            configuration=configuration,
            view=lambda: engine.view,
            namespace=namespace,
            read=config_map.read,
            write=config_map.write,
            wall=wall,
            audit=reporting.acted,
            tell_written=self._tell_written,
            tell_refused=self._tell_refused,
        )
        #: Endpoint that compares documents, which changes nothing.
        self.compare = Comparing(self._configuring).endpoint()

    def endpoints(self, delegation: Delegation) -> tuple[Endpoint, ...]:
        """Return the endpoints for callers with a login, with paths below that of the aggregated API."""
        return action_endpoint(self.acting, delegation), write_endpoint(self._configuring, delegation)

    async def run(self) -> None:
        """Follow the store until cancelled. Returns at once if actions are switched off."""
        await self._configured.wait()
        if self._configuration.settings.admin_enabled:
            await self._store.run()

    async def wait_read(self) -> None:
        """Wait for the configuration, and for what administrators ordered if that counts (ACT-5)."""
        await self._configured.wait()
        if self._configuration.settings.admin_enabled:
            await self._store.was_read.wait()

    def problem(self) -> str:
        """Why what administrators ordered is not known as it is now; empty if it is, or does not count."""
        is_on = self._configured.is_set() and self._configuration.settings.admin_enabled
        return self._store.problem if is_on else ""

    def began(self) -> None:
        """Note that this instance acts from now on. Another one may have written the store until now."""
        self._engine.learn(on.ActingBegan())
        self._store.read_again()

    async def _changed(self, change: Change, dry_run: bool) -> tuple[Actions, Actions]:
        return await self._store.changed(change, dry_run=dry_run)

    def _learn(self, actions: Actions) -> None:
        self._engine.learn(on.ActionsRead(actions.closed, actions.ended, actions.moved))

    def _tell_closed(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "QueueClosed", message, warning=False))

    def _tell_opened(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "QueueOpened", message, warning=False))

    def _tell_ended(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "ApplicationEnded", message, warning=False))

    def _tell_lifted(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "BarLifted", message, warning=False))

    def _tell_written(self, message: str) -> None:
        self._perform(
            PostEvent(
                "ConfigMap",
                self._namespace,
                CONFIGS_NAME,
                "",
                "ConfigurationWritten",
                message,
                warning=False,
            )
        )

    def _tell_moved(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "ApplicationMoved", message, warning=False))

    def _tell_refused(self, message: str) -> None:
        self._perform(_event_of_action(self._namespace, "ActionRefused", message, warning=True))


def _event_of_action(namespace: str, reason: str, message: str, *, warning: bool) -> PostEvent:
    return PostEvent("ConfigMap", namespace, CONFIG_MAP, "", reason, message, warning=warning)
