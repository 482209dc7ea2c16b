"""The played kube-scheduler: one pod at a time from the queue to a node, with the extender's calls.

Sources: pkg/scheduler/schedule_one.go and eventhandlers.go; CONTRACT-3 to CONTRACT-7. It has its own cache
and learns of the cluster only from the API's changes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from core.ids import PodUid
from extender.simulator.cluster.api_server import PlayedApi
from extender.simulator.cluster.clock import Clock
from extender.simulator.cluster.played_objects import Change, NodeChange, Pod, PodChange
from extender.simulator.scenario.cluster_entries import BudgetEntry
from extender.simulator.scenario.objects import Json
from extender.simulator.scheduler.extender_calls import CallFailed, ExtenderServer, bind_body
from extender.simulator.scheduler.node_cache import NodeCache, PodInfo, pod_info
from extender.simulator.scheduler.node_choice import NodeChoice, NoNodes, Unfit
from extender.simulator.scheduler.nominator import Nominator
from extender.simulator.scheduler.post_filter import PostFilter, SchedulerObserver
from extender.simulator.scheduler.scheduling_queue import Place, PodQueue, Queued, shrank

MOST_ATTEMPTS = 1000
"""The most attempts of one pod at one instant (format, rule 5)."""


class Spinning(Exception):
    """A pod that is tried over and over at one instant."""


class Server(ExtenderServer, Protocol):
    """The extender with all four verbs."""

    def bind(self, body: bytes, answered: Callable[[str], None]) -> None:
        """Bind a pod. ``answered`` is called with an error, or with an empty text if the pod is bound."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the played kube-scheduler."""

    #: Percentage of nodes to score; 0 for the scheduler's own rule.
    percentage: int
    #: Longest back-off of a pod, in milliseconds.
    max_backoff: int
    #: Scheduler names that it serves.
    profiles: frozenset[str]


class PlayedScheduler:
    """The played scheduler. It starts from a list of all objects. ``budgets``: PodDisruptionBudgets."""

    def __init__(
        self,
        clock: Clock,
        api: PlayedApi,
        server: Server,
        onlooker: SchedulerObserver,
        settings: Settings,
        budgets: tuple[BudgetEntry, ...],
    ) -> None:
        self._clock = clock
        self._api = api
        self._server = server
        self._onlooker = onlooker
        self._profiles = settings.profiles
        self._cache = NodeCache()
        self._nominator = Nominator()
        self._queue = PodQueue(clock, max_backoff=settings.max_backoff)
        self._choice = NodeChoice(self._cache, self._nominator, server, percentage=settings.percentage)
        self._post_filter = PostFilter(
            clock, api, self._cache, self._nominator, server, onlooker, self._choice, budgets
        )
        self._known: dict[PodUid, PodInfo] = {}
        self._counted: dict[PodUid, tuple[int, int]] = {}
        self.attempts = 0
        self.stopped = False
        for node in api.nodes.values():
            self._cache.set_node(node, dict(node.facts.allocatable.items()))
        for pod in api.live_pods():
            if not pod.terminal:
                self._on_pod(PodChange(pod, pod.facts, pod.raw))

    # -- what it learns --------------------------------------------------------------------------

    def deliver(self, change: Change) -> None:
        """Take in a change of the API."""
        match change:
            case NodeChange(node, facts, deleted):
                if deleted:
                    self._cache.remove_node(node.name)
                    self._queue.on_capacity_freed()
                elif self._cache.set_node(node, dict(facts.allocatable.items())):
                    self._queue.on_capacity_freed()
            case PodChange():
                self._on_pod(change)

    def _on_pod(self, change: PodChange) -> None:
        """Take in a pod. A pod that has ended leaves the selection, which looks like its deletion."""
        pod, facts = change.pod, change.facts
        known = self._known.get(pod.uid)
        if change.deleted or facts.terminal:
            if known is not None:
                self._pod_left(known)
            return
        info = self._known[pod.uid] = pod_info(pod, facts)
        if facts.node:
            self._pod_bound(info, known)
        elif known is None:
            self._pod_added(info)
        else:
            self._pod_updated(info, known)

    def _pod_bound(self, info: PodInfo, known: PodInfo | None) -> None:
        self._cache.confirm(info, info.facts.node)
        self._queue.remove(info.uid)
        self._nominator.remove(info.uid)
        if known is not None and known.facts.node and shrank(known, info):
            self._queue.on_capacity_freed()
        else:
            self._queue.on_bound_pod()

    def _pod_added(self, info: PodInfo) -> None:
        if info.facts.scheduler_name in self._profiles:
            self._queue.add(info)
            if not info.facts.gates:
                self._nominator.set(info, info.facts.nominated)

    def _pod_updated(self, info: PodInfo, known: PodInfo) -> None:
        if self._cache.is_assumed(info.uid):
            if info.deleting and not known.deleting:
                self._forget_assumed(info.uid)
            return
        if self._queue.get(info.uid) is None:
            return
        self._queue.update(info)
        before = known.facts.nominated
        self._nominator.update(info, before)
        if before and before != info.facts.nominated:
            self._queue.on_capacity_freed(most_priority=info.priority)

    def _pod_left(self, known: PodInfo) -> None:
        del self._known[known.uid]
        was_queued = self._queue.get(known.uid) is not None
        self._queue.remove(known.uid)
        self._nominator.remove(known.uid)
        if self._cache.forget(known.uid):
            self._queue.on_capacity_freed()
        elif was_queued and known.facts.nominated:
            self._queue.on_capacity_freed(most_priority=known.priority)

    def _forget_assumed(self, uid: PodUid) -> None:
        """Forget an assumed pod that is being deleted. Its capacity is free at once (1.35 and later)."""
        self._cache.forget(uid)
        self._queue.on_capacity_freed()

    # -- one cycle -------------------------------------------------------------------------------

    def cycle(self) -> bool:
        """Try one pod. False if no pod is to be tried. Raises `Spinning`."""
        queued = self._queue.pop()
        if queued is None:
            return False
        pod = queued.info.pod
        if queued.info.deleting or self._cache.is_assumed(queued.uid):
            self._queue.remove(queued.uid)
            return True
        self._count(pod)
        try:
            node = self._choice.choose(queued.info)
        except Unfit as unfit:
            self._fail_unfit(queued, unfit)
        except NoNodes as error:
            self._fail(queued, Place.ERROR, str(error), nominated="", asked=False)
        except CallFailed as error:
            self._fail(queued, Place.ERROR, str(error), reason="SchedulerError", nominated="")
        else:
            self._assume(queued, node)
        return True

    def _count(self, pod: Pod) -> None:
        self.attempts += 1
        at, times = self._counted.get(pod.uid, (-1, 0))
        times = times + 1 if at == self._clock.now else 1
        self._counted[pod.uid] = self._clock.now, times
        if times > MOST_ATTEMPTS:
            raise Spinning(f"{pod.full_name} was tried {MOST_ATTEMPTS} times at one instant")

    # -- bind ------------------------------------------------------------------------------------

    def _assume(self, queued: Queued, node: str) -> None:
        info, pod = queued.info, queued.info.pod
        self._queue.remove(queued.uid)
        self._nominator.remove(info.uid)
        self._cache.assume(info, node)
        body = bind_body(pod.name, pod.namespace, info.uid, node)
        self._server.bind(body, lambda error: self._bind_answered(queued, error))

    def _bind_answered(self, queued: Queued, error: str) -> None:
        if self.stopped or not error:
            return
        uid = queued.uid
        if self._cache.is_assumed(uid):
            self._cache.forget(uid)
        self._queue.on_capacity_freed()
        info = self._known.get(uid)
        if info is None or info.facts.node or queued.info.pod.node:
            return
        queued.info = info
        self._fail(queued, Place.ERROR, error, reason="SchedulerError", nominated="")

    # -- failure ---------------------------------------------------------------------------------

    def _fail_unfit(self, queued: Queued, unfit: Unfit) -> None:
        found = self._post_filter.run(queued.info, unfit)
        place = Place.REFUSED if unfit.extended else Place.POOL
        self._fail(queued, place, unfit.text(found.text), nominated=found.nominated, asked=unfit.extended)

    def _fail(
        self,
        queued: Queued,
        place: Place,
        message: str,
        *,
        reason: str = "Unschedulable",
        nominated: str | None = None,
        asked: bool = True,
    ) -> None:
        """Put the pod back into the queue, then write its condition. The write may wake the pod again."""
        pod = queued.info.pod
        if not pod.exists or pod.node:
            self._queue.remove(queued.uid)
            return
        queued.info = self._known.get(queued.uid, queued.info)
        self._queue.put_back(queued, place)
        if nominated is not None:
            self._nominator.set(queued.info, nominated)
        elif queued.info.facts.nominated:
            self._nominator.set(queued.info, queued.info.facts.nominated)
        condition: Json = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        self._onlooker.attempted(pod, message, reason=reason, asked=asked)
        self._api.set_status(pod, condition, nominated=nominated)
