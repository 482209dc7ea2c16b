"""Assembly of the server from client, feeds, ledger, verbs and listeners."""

import asyncio
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.ledger import events as on
from core.ledger.effects import EndWait, PostEvent, ResolveGroups
from core.ledger.ledger import Ledger
from extender.administration import Administration
from extender.auditing import Auditing
from extender.checking.verdict import validation_of
from extender.configuration.missing_notice import MissingNotice
from extender.configuration.reload import LiveConfiguration, Source
from extender.engine.engine import CLEAN_EVERY, Engine
from extender.engine.outward import Outward
from extender.first_queues import FirstQueues
from extender.front_door import DoorPlaces, FrontDoor
from extender.host.clocks import call_later, clock_of_host, every
from extender.host.garbage_collector import Pace, freeze_survivors, unfreeze
from extender.host.steady_clock import steady_clock
from extender.host.user_groups import HostGroups
from extender.http.access.mutual_tls import MutualTls
from extender.http.door import Door
from extender.http.explaining import Explanations
from extender.http.health import Admin, admin_endpoints
from extender.http.rest.service import RestService
from extender.http.rest.witness import RestWitness
from extender.http.server import Address
from extender.http.verbs.listening import VerbsServer, verbs_server
from extender.kube.connection.client import ApiClient, connect, is_in_cluster
from extender.kube.effects.effector import Effector
from extender.kube.leadership import Leadership
from extender.kube.watch.feeds import ConfigMapFeed, Feeds
from extender.listeners import Listeners, Places, listening, own_tls_of
from extender.offers import Offers
from extender.readiness import Readiness
from extender.telemetry.exposition import Exposition
from extender.telemetry.logs import DecisionLog, Logger
from extender.telemetry.metrics import Exported, Metrics
from extender.telemetry.reporting import Reporting
from extender.telemetry.stalls import watch_stalls
from extender.telemetry.witness import DecisionWitness
from extender.verbs.bind import BindVerb
from extender.verbs.confirmation import Confirmation
from extender.verbs.pure import PureVerbs
from extender.version import version
from extender.views.journal import Journal
from extender.views.recent_plans import RecentPlans
from extender.views.story import story_of
from extender.webhook import webhook_of
from extender.wire.kinds import DAEMON_SETS

TICK = 0.1
"""Seconds between two checks for expired timers. A turn's lease may be too long by this much."""

NOTED_EVERY = 0.5
"""Seconds between two looks at what changes without an event of the ledger."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of ``paddock serve``. ``overrides``: settings from flags and the environment."""

    verbs: Address
    admin: Address
    tls: MutualTls | None = None
    #: Secret with the files of kube-scheduler if Paddock makes the verbs' certificates, else empty.
    client_secret: str = ""
    kubeconfig: str | None = None
    namespace: str = "default"
    queues: Path | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    door: DoorPlaces | None = None
    log_level: str = "info"


class StartError(Exception):
    """The configuration found at the start is not usable (SRC-10)."""


class App:
    """The server process. `run` serves until it is cancelled."""

    def __init__(self, options: Options, client: ApiClient, log: Logger) -> None:
        self._options = options
        self._client = client
        self._log = log
        self._clock = steady_clock()
        self._pace = Pace()
        self._journal = Journal()
        self._configured = asyncio.Event()
        self.synced = asyncio.Event()
        ledger = Ledger()
        self.metrics = Metrics(
            ledger.current_view,
            Exported(
                leads=lambda: self._leadership.held,
                queue_names=lambda: self.configuration.settings.metrics_queue_names,
                watches=lambda: self._readiness.watches(),
                history=lambda: self._rest.history,
            ),
        )
        self._preemptions = RecentPlans()
        decisions = DecisionLog(call_later)
        witness = RestWitness(
            DecisionWitness(self._journal, log, decisions, self.metrics, self._preemptions, clock=self._clock)
        )
        self.engine = Engine(
            Outward(
                self._clock,
                call_later,
                self._perform,
                witness,
                lambda: self._leadership.held,
                witness.settled,
            ),
            ledger,
        )
        self.configuration = LiveConfiguration(
            self.engine,
            overrides=options.overrides,
            on_refused=self._refused,
            on_applied=self._applied,
            on_missing=self._missing,
        )
        self.metrics.refused.set_function(lambda: bool(self.configuration.error))
        self._auditing = Auditing(self.engine, self.synced)
        self._offers = Offers(self.configuration, options.namespace)
        self._missing_notice = MissingNotice(
            self._clock, lambda source, message: self._warn_of(source, "ConfigurationMissing", message)
        )
        self._leadership = Leadership(
            client,
            lease=lambda: self.configuration.settings.lease,
            host=socket.gethostname(),
            clock=clock_of_host,
            wall=time.time,
            began=lambda: self._administration.began(),
            ended=lambda: self.engine.learn(on.ActingEnded()),
        )
        self._reporting = Reporting(self.metrics, log, unread=lambda *a: self._rest.memory.faults.unread(*a))
        self._own_tls = own_tls_of(client, options.namespace, options.client_secret, self._reporting)
        self._effector = Effector(
            client,
            learn=self.engine.learn,
            may_act=lambda: self._leadership.held,
            count=self.metrics.effected.count,
            report=self._reporting.failed,
            placeholders=lambda: self.configuration.settings.placeholders,
            calls=lambda: self.engine.calls,
        )
        self._host_groups = HostGroups(self.engine.learn)
        self._confirming = Confirmation(
            self.engine,
            lambda namespace, name, within: self._effector.read_pod(namespace, name, within=within),
            clock=time.monotonic,
            count=lambda outcome: self.metrics.unshown.labels(outcome).inc(),
            warn=log.warning,
        )
        self._waits_for = ""
        self._verbs = PureVerbs(
            self.engine,
            asked=self.engine.asked,
            confirming=self._confirming,
            lead=self._leadership,
            waits_for=lambda: self._waits_for,
        )
        self._bind_verb = BindVerb(
            self.engine,
            self._effector,
            synced=self.synced,
            asked=self.engine.asked,
            lead=self._leadership,
            waits_for=lambda: self._waits_for,
        )
        self._first_queues = FirstQueues(client, options.namespace, self.configuration, self._leadership, log)
        self._config_maps = ConfigMapFeed(client, options.namespace, self._offers.offer, self._reporting)
        self._administration = Administration(
            client,
            options.namespace,
            engine=self.engine,
            configuration=self.configuration,
            configured=self._configured,
            leadership=self._leadership,
            reporting=self._reporting,
            perform=self._perform,
            unready=self._unready,
        )
        self._feeds = Feeds(
            client, self.engine.learn, reporter=self._reporting, configured=self._administration.wait_read
        )
        self._readiness = Readiness(
            self.configuration,
            self._config_maps,
            self._feeds,
            self._leadership,
            self._configured,
            self.synced,
            lambda: {"first queues": self._first_queues.problem, **self.front_door.notes()},
            self._administration.problem,
            client.missing_rights,
            self._own_tls,
        )
        self._rest = RestService(
            self.engine,
            self.configuration,
            clock=self._clock,
            version=version(),
            validate=lambda text: validation_of(text, active=self.configuration.checksum),
            unready=self._unready,
            on_bug=self._on_bug,
            log_level=self._options.log_level,
        )
        witness.rest = self._rest.reports
        self._explanations = Explanations(
            self.engine,
            story=self._journal.story,
            unready=self._unready,
            ended=self._reporting.explained,
            on_bug=self._on_bug,
        )
        own = (self._administration.compare, *admin_endpoints(self._admin()))
        self._endpoints = (*own, *self._rest.endpoints())
        self.front_door = FrontDoor(
            client,
            endpoints=self._endpoints,
            explanations=self._explanations,
            administered=self._administration.endpoints,
            webhook=webhook_of(self.engine.current_view, self._offers, options.namespace),
            settings=lambda: self.configuration.settings,
            configured=self._configured,
            places=options.door or DoorPlaces(namespace=options.namespace),
            leadership=self._leadership,
            reporting=self._reporting,
        )

    async def run(self) -> None:
        """Serve until cancelled. Raises `StartError` for a first configuration that is refused."""
        async with listening(self._listeners()):
            try:
                await self._work()
            finally:
                unfreeze()

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._leadership.run())
            group.create_task(self._effector.run())
            group.create_task(self._host_groups.run())
            group.create_task(self._confirming.run())
            group.create_task(self._follow_configuration())
            group.create_task(self._offers.take())
            group.create_task(self._administration.run())
            group.create_task(self._feeds.run())
            group.create_task(every(TICK, self._pass_time))
            group.create_task(every(NOTED_EVERY, self._note))
            group.create_task(every(CLEAN_EVERY, self.engine.clean))
            group.create_task(self._become_ready())
            group.create_task(self.front_door.run())
            group.create_task(self._auditing.run())
            group.create_task(self._rest.run())
            group.create_task(watch_stalls(self.metrics.stalls.observe))

    async def _follow_configuration(self) -> None:
        if self._options.queues is None:
            await asyncio.gather(self._config_maps.run(), self._first_queues.run())
        else:
            await self._offers.follow_file(self._options.queues)

    # -- configuration -----------------------------------------------------------------------------------

    def _refused(self, source: Source, message: str) -> None:
        self.metrics.reloads.labels("refused").inc()
        self._log.error("configuration was refused and has no effect", source=source.name, error=message)
        if not (self._configured.is_set() or self.configuration.missing):
            raise StartError(message)
        self._warn_of(source, "ConfigurationRefused", message)

    def _missing(self, source: Source, message: str) -> None:
        """Report that the configuration is missing from its source, or back (F-4)."""
        self.metrics.missing.set(bool(message))
        self._waits_for = "" if self._configured.is_set() else "no queues are configured yet"
        if message:
            self.metrics.reloads.labels("kept").inc()
            self._log.error("configuration is missing from its source", source=source.name, error=message)
        else:
            self._log.info("configuration is back in its source", source=source.name)
        self._missing_notice.changed(source, message)

    def _warn_of(self, source: Source, reason: str, message: str) -> None:
        if source.kind == "ConfigMap" and source.name:
            self._perform(PostEvent(source.kind, source.namespace, source.name, source.uid, reason, message))

    def _applied(self, source: Source, held: tuple[str, ...]) -> None:
        self.metrics.reloads.labels("applied").inc()
        self._log.info(
            "configuration was applied",
            source=source.name,
            checksum=self.configuration.checksum,
            queues=len(self.engine.view.tree),
            needs_restart=list(held),
            unread=list(self.configuration.unread),
        )
        self._bind_verb.deadline = self.configuration.settings.bind_deadline
        self._configured.set()

    def _perform(self, effect: Any) -> None:
        if isinstance(effect, ResolveGroups):
            self._host_groups.look_up(effect.user)
        elif isinstance(effect, EndWait):
            self._bind_verb.waits.end(effect.uid, effect.why)
        else:
            self._effector.perform(effect)

    async def _become_ready(self) -> None:
        """Become ready once the cluster was read and the groups of users are known."""
        # Running pods count in no queue until the groups of their users are known.
        await self._feeds.wait_synced()
        await self._host_groups.idle()
        self._reporting.queues_over_max(self.engine.view)
        freeze_survivors()
        self.synced.set()
        self._log.info("Paddock is ready", pods=sum(1 for _ in self.engine.view.pods()))

    def _pass_time(self) -> None:
        self.engine.pass_time()
        self._pace.follow(self.engine.version)

    def _note(self) -> None:
        """Note what changes without an event of the ledger, for metrics, reports and the REST interface."""
        self._rest.pass_time()
        self._missing_notice.check()
        self.metrics.daemon_sets.set(self._feeds.of(DAEMON_SETS).synced.is_set())
        self.metrics.leading.set(self._leadership.held)
        self._reporting.clock_differs(self._client.clock_skew)
        self.engine.compare_clocks(self._client.clock_skew + time.time() - self._clock())
        self._reporting.rights_missing(self._client.missing_rights.current())

    def _verbs_of(self, door: Door) -> VerbsServer:
        verbs = self._verbs
        timed = self.metrics.yunikorn.calls.timed_filter(verbs.filter, lambda: verbs.nodes_taken)
        return verbs_server(
            {**verbs.fenced(timed), "bind": self._bind_verb.bind},
            measure=self.metrics.calls.measure(self._failed),
            on_bug=self._on_bug,
            door=door,
        )

    def _failed(self, verb: str, fault: str) -> None:
        self.metrics.failed(verb, fault)
        self._rest.memory.faults.called(fault, now=self._clock())

    def _unready(self) -> str:
        """Return why the REST interface cannot answer yet, or empty (REST-43)."""
        amiss = next((f"{name}: {each}" for name, each in self._readiness.checks().items() if each), "")
        return amiss or ("" if self._leadership.held else "this instance does not lead")

    def _on_bug(self, verb: str, error: BaseException, body: bytes) -> None:
        self._log.error("call failed because of a bug", verb=verb, bytes=len(body), exc_info=error)

    def _listeners(self) -> Listeners:
        return Listeners(
            verbs=self._verbs_of,
            endpoints=self._endpoints,
            explanations=self._explanations,
            places=Places(self._options.verbs, self._options.admin, self._own_tls or self._options.tls),
            settings=lambda: self.configuration.settings,
            closed=self._reporting.closed,
            not_renewed=self._reporting.certificate_not_renewed,
        )

    def _admin(self) -> Admin:
        return Admin(
            checks=self._readiness.checks,
            notes=self._readiness.notes,
            metrics=Exposition(self.metrics.pieces),
            yunikorn_metrics=Exposition(self.metrics.yunikorn_pieces),
            audit=self._auditing.once,
            preemptions=self._preemptions.latest_first,
            story=lambda namespace, name: story_of(self.engine.view, self._journal, namespace, name),
        )


async def serve(options: Options, log: Logger) -> None:
    """Connect and serve until cancelled."""
    in_cluster = options.kubeconfig is None and is_in_cluster()
    async with await connect(kubeconfig=options.kubeconfig, in_cluster=in_cluster) as client:
        with suppress(asyncio.CancelledError):
            await App(options, client, log).run()
