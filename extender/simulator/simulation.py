"""A whole played cluster: API server, kube-scheduler, controllers and Paddock, moved from instant to instant.

The order within one instant is the format's rule 2. Nothing else is decided here.
"""

from collections import deque
from collections.abc import Callable

import msgspec

from core.errors import PaddockError
from extender.simulator.cluster.api_server import PlayedApi, Refusal
from extender.simulator.cluster.budgets import PlayedBudgets
from extender.simulator.cluster.clock import Clock, HandLoop, Kind
from extender.simulator.cluster.garbage_collector import GarbageCollector
from extender.simulator.cluster.played_objects import Change, Pod, PodChange
from extender.simulator.cluster.pod_validation import objections
from extender.simulator.cluster.world import ClusterChange, World
from extender.simulator.paddock import Paddock
from extender.simulator.report.recorder import Recorder
from extender.simulator.scenario.checks import SYSTEM_CLASSES
from extender.simulator.scenario.cluster_entries import NodeEntry
from extender.simulator.scenario.daemon_sets import daemon_sets_of
from extender.simulator.scenario.model import PodEntry, Scenario
from extender.simulator.scenario.objects import (
    Json,
    add_gate,
    admitted,
    anonymous_class,
    config_map_of,
    namespace_object,
    node_object,
    pod_object,
    priority_class_object,
    priority_class_of_entry,
)
from extender.simulator.scheduler.node_cache import shape_of
from extender.simulator.scheduler.scheduler import PlayedScheduler, Server, Settings
from extender.wire.translate import POD, pod_from

PROFILES = frozenset({"default-scheduler", "yunikorn", "paddock"})
"""Scheduler names that the shipped configuration serves (DESIGN-7)."""


Between = Callable[[Server], Server]
"""A layer between the played kube-scheduler and Paddock."""


class Cluster:
    """The played cluster. ``between``: nothing by default.

    Raises `PaddockError` if Paddock does not start with the scenario's configuration.
    """

    def __init__(self, scenario: Scenario, *, between: Between | None = None) -> None:
        self.scenario = scenario
        self.clock = Clock()
        self.recorder = Recorder(self.clock)
        self.api = PlayedApi(self.clock, self._publish)
        self.api.on_deleted = self._recreate
        self.api.post_pod = self._create
        self._garbage = GarbageCollector(self.api)
        self._scheduler_changes: deque[Change] = deque()
        self._scheduler: PlayedScheduler | None = None
        self._paddock: Paddock | None = None
        self._finished_attempts = 0
        self._pods_changed = False
        self._add_what_stands()
        self.world = World(
            self.clock,
            # Only what asyncio itself needs of a loop is implemented.
            HandLoop(self.clock),  # type: ignore[abstract]
            self.api,
            PlayedBudgets(scenario.cluster.pod_disruption_budgets, self.api.live_pods),
            self.recorder,
            scenario.delays.bind,
            config_map_of(scenario.config.text, scenario.settings),
            daemon_sets_of(scenario.steps),
        )
        self._paddock = Paddock(self.world)
        self._server: Server = between(self._paddock) if between is not None else self._paddock
        self.recorder.view = lambda: self.paddock.life.view
        self._scheduler = self._new_scheduler()

    @property
    def paddock(self) -> Paddock:
        """Paddock in this cluster."""
        assert self._paddock is not None  # noqa: S101 - only while the cluster is being built
        return self._paddock

    @property
    def scheduler(self) -> PlayedScheduler:
        """The scheduler in this cluster."""
        assert self._scheduler is not None  # noqa: S101 - only while the cluster is being built
        return self._scheduler

    @property
    def attempts(self) -> int:
        """The number of scheduling attempts so far."""
        return self._finished_attempts + self.scheduler.attempts

    # -- what stands still -----------------------------------------------------------------------------------

    def _add_what_stands(self) -> None:
        cluster = self.scenario.cluster
        named = {entry.name: entry for entry in cluster.namespaces}
        for name in ("default", "kube-system", *named):
            if name not in self.api.namespaces:
                self.api.add_namespace(namespace_object(name, named.get(name)))
        for name, value in SYSTEM_CLASSES.items():
            self.api.add_priority_class(priority_class_object(name, value))
        for entry in cluster.priority_classes:
            self.api.add_priority_class(priority_class_of_entry(entry))
        self._add_what_pods_need()
        for node in cluster.nodes:
            self.add_nodes(node)

    def _add_what_pods_need(self) -> None:
        """Add anonymous classes, and namespaces that only pods name."""
        for step in self.scenario.steps:
            for entry in step.submit:
                if entry.namespace not in self.api.namespaces:
                    self.api.add_namespace(namespace_object(entry.namespace))
                if entry.priority:
                    name = anonymous_class(entry.priority)
                    self.api.add_priority_class(priority_class_object(name, entry.priority))

    def add_nodes(self, entry: NodeEntry) -> None:
        """Add nodes. Raises `Refusal` for a name that is taken."""
        for name in entry.names:
            self.api.add_node(node_object(entry, name, at=self.clock.now))

    # -- pods ------------------------------------------------------------------------------------------------

    def submit(self, entry: PodEntry, name: str) -> Pod:
        """Create pods. Raises `Refusal` for a name that is taken, or a node that does not exist."""
        if entry.node is not None and entry.node not in self.api.nodes:
            raise Refusal(f"there is no node {entry.node}")
        body = self._body(entry, name, created=self.clock.now - entry.age, node=entry.node)
        return self.api.create_pod(body, entry=entry, root=name, created=self.clock.now - entry.age)

    def find_pod(self, name: str, *, even_if_deleted: bool = False) -> Pod | None:
        """A pod by its name, or ``namespace/name``. Of several the one in ``default``, else the latest."""
        namespace, _, plain = name.rpartition("/")
        found = [
            pod
            for pod in self.api.named.get(plain, ())
            if namespace in ("", pod.namespace) and (pod.exists or even_if_deleted)
        ]
        return max(found, key=lambda pod: (pod.exists, pod.namespace == "default", pod.seq), default=None)

    def _recreate(self, pod: Pod) -> None:
        """Submit a copy at once, as a controller does for a deleted pod (format, rule 8)."""
        if pod.entry is None or not pod.entry.recreate:
            return
        copies = pod.copies + 1
        body = self._body(pod.entry, f"{pod.root}.{copies}", created=self.clock.now, node=None)
        made = self.api.create_pod(body, entry=pod.entry, root=pod.root, created=self.clock.now)
        made.copies = copies

    def _create(self, posted: Json) -> None:
        """Create a pod that Paddock posts. Raises `Refusal`."""
        refused = "; ".join(objections(posted, self.api.priority_classes))
        if refused:
            raise Refusal(refused)
        body = admitted(posted, self.api.priority_classes, at=self.clock.now)
        _check(body)
        if self.scenario.gates and self.paddock.manages(body):
            add_gate(body)
        self.api.create_pod(body, entry=None, root=body["metadata"]["name"], created=self.clock.now)

    def _body(self, entry: PodEntry, name: str, *, created: int, node: str | None) -> Json:
        """The pod as it is stored, with Paddock's gate if it is managed and the scenario asks for gates."""
        body = pod_object(entry, name, self.api.priority_classes, at=created, node=node)
        _check(body)
        if self.scenario.gates and node is None and self.paddock.manages(body):
            add_gate(body)
        return body

    # -- news ------------------------------------------------------------------------------------------------

    def _publish(self, change: Change) -> None:
        self.recorder.changed(change)
        if isinstance(change, PodChange):
            self._pods_changed = True
            self._garbage.heard(change)
        if self._scheduler is not None:
            self._scheduler_changes.append(change)
        self._tell_paddock(change)

    def _tell_paddock(self, change: ClusterChange) -> None:
        if self._paddock is not None:
            delay = self.scenario.delays.watch
            self._paddock.hear(change, due=self.clock.now + delay)
            if delay:
                self.clock.at(self.clock.now + delay, Kind.API, _change_is_there)

    def _reconcile_budgets(self) -> None:
        """Play the disruption controller, once for all changes since its last run."""
        if self._pods_changed:
            self._pods_changed = False
            for change in self.world.budgets.reconcile():
                self._tell_paddock(change)

    # -- time ------------------------------------------------------------------------------------------------

    def advance(self, until: int, watch: Callable[[], None]) -> None:
        """Play everything before ``until``, then run its timers. ``watch``: called after each instant."""
        while (due := self.clock.next_due()) is not None and due < until:
            self.clock.now = due
            self.clock.run_due()
            self.settle()
            watch()
        self.clock.now = until
        self.clock.run_due()

    def settle(self) -> None:
        """Repeat rule 2c until nothing changes. Raises `Spinning`."""
        busy = True
        while busy:
            self._garbage.collect()
            self._reconcile_budgets()
            busy = self.paddock.read_changes()
            while self._scheduler_changes:
                self.scheduler.deliver(self._scheduler_changes.popleft())
                busy = True
            busy = self.paddock.run_effects() or busy
            busy = (not self.scheduler.stopped and self.scheduler.cycle()) or busy
            busy = self.world.loop.run_ready() or busy
            self.paddock.plan_time()
            busy = self.clock.run_due() or busy
        self.recorder.sample(self.paddock.life.view.tree)

    # -- restarts --------------------------------------------------------------------------------------------

    def restart_scheduler(self) -> None:
        """Restart the scheduler. Queue, assumptions and open calls are forgotten."""
        self.stop_scheduler()
        self._finished_attempts += self.scheduler.attempts
        self._scheduler_changes.clear()
        self._scheduler = self._new_scheduler()

    def stop_scheduler(self) -> None:
        """Stop the scheduler until it is restarted. Its calls are broken off."""
        if not self.scheduler.stopped:
            self.scheduler.stopped = True
            self.paddock.life.hang_up()

    def _new_scheduler(self) -> PlayedScheduler:
        names = self.paddock.life.configuration.settings.scheduler_names
        settings = Settings(
            self.scenario.scheduler.percentage_of_nodes_to_score,
            self.scenario.scheduler.pod_max_backoff_seconds * 1000,
            PROFILES | names,
        )
        budgets = self.scenario.cluster.pod_disruption_budgets
        return PlayedScheduler(self.clock, self.api, self._server, self.recorder, settings, budgets)


def _check(body: Json) -> None:
    """Check a spec as the API server does. Raises `Refusal` for a wrong shape."""
    try:
        shape_of(body["spec"], pod_from(POD.decode(msgspec.json.encode(body))))
    except (ValueError, PaddockError, TypeError, AttributeError, KeyError) as error:
        raise Refusal(f"spec is not a pod's: {error}") from error


def _change_is_there() -> None:
    """Do nothing: late changes arrive at this instant, and `Cluster.settle` reads them."""
