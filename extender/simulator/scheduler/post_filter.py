"""PostFilter for a pod that fits nowhere: kube-scheduler's preemption, shaped by the extender.

Source: pkg/scheduler/framework/preemption/preemption.go (Preempt) and executor.go; CONTRACT-4.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from core.ids import PodUid
from extender.simulator.cluster.api_server import PlayedApi
from extender.simulator.cluster.budgets import allowed
from extender.simulator.cluster.clock import Clock
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.scenario.cluster_entries import BudgetEntry
from extender.simulator.scenario.objects import stamp
from extender.simulator.scheduler.default_preemption import Budgets, best_of, victims_on
from extender.simulator.scheduler.extender_calls import CallFailed, ExtenderServer, Victims, call_preempt
from extender.simulator.scheduler.node_cache import NodeCache, PodInfo
from extender.simulator.scheduler.node_choice import NodeChoice, Unfit
from extender.simulator.scheduler.nominator import Nominator

DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


class SchedulerObserver(Protocol):
    """Observer of the scheduler."""

    def attempted(self, pod: Pod, message: str, *, reason: str, asked: bool) -> None:
        """Note a failed attempt.

        ``reason``: that of the condition. ``asked``: True if the extender was called.
        """
        ...

    def preempted(self, pod: Pod, preemptor: Pod, node: str) -> None:
        """Note that a pod was preempted for another."""

    def nominated(self, pod: Pod, node: str) -> None:
        """Note that a pod was nominated to a node."""


class PostFiltered(NamedTuple):
    """The outcome of preemption for one pod."""

    #: Text for the pod's message.
    text: str
    #: Node to nominate; empty to clear the nomination, None to leave it.
    nominated: str | None


class PostFilter:
    """Preemption for one pod at a time. ``budgets``: the cluster's PodDisruptionBudgets."""

    def __init__(
        self,
        clock: Clock,
        api: PlayedApi,
        cache: NodeCache,
        nominator: Nominator,
        server: ExtenderServer,
        onlooker: SchedulerObserver,
        choice: NodeChoice,
        budgets: tuple[BudgetEntry, ...],
    ) -> None:
        self._clock = clock
        self._api = api
        self._cache = cache
        self._nominator = nominator
        self._server = server
        self._onlooker = onlooker
        self._choice = choice
        self._budgets = budgets

    def run(self, info: PodInfo, unfit: Unfit) -> PostFiltered:
        """Evict other pods for a pod, if that would help and the extender agrees."""
        ineligible = self._ineligible(info, unfit)
        if ineligible:
            return PostFiltered(f"preemption: not eligible due to {ineligible}.", None)
        candidates = self._candidates(info, unfit)
        if not candidates:
            total = unfit.total
            helpless = f"{total} Preemption is not helpful for scheduling."
            return PostFiltered(f"preemption: 0/{total} nodes are available: {helpless}", "")
        try:
            chosen = self._offered(info, candidates)
        except CallFailed as error:
            return PostFiltered(f"preemption: {error}", None)
        if not chosen:
            return PostFiltered("preemption: no candidate node for preemption", None)
        node = best_of(chosen, self._now)
        self._evict(info, node, chosen[node])
        return PostFiltered("", node)

    def _ineligible(self, info: PodInfo, unfit: Unfit) -> str:
        """The reason why the pod may not preempt now, or empty (PodEligibleToPreemptOthers)."""
        if info.never_preempts:
            return "preemptionPolicy=Never"
        nominated = info.facts.nominated
        node = self._cache.on_node(nominated) if nominated else None
        status = unfit.statuses.by_node.get(nominated)
        if node is None or status is None or not status.resolvable:
            return ""
        leaving = any(each.preempted and each.priority < info.priority for each in node.pods.values())
        return "a terminating pod on the nominated node" if leaving else ""

    def _candidates(self, info: PodInfo, unfit: Unfit) -> dict[str, Victims]:
        if not unfit.statuses.resolvable:
            return {}
        shape = info.shape
        budgets = self._budgets_now()
        found = {}
        for name in unfit.statuses.resolvable:
            node = self._cache.on_node(name)
            if node is not None:
                nominated = self._nominator.on(name, priority=info.priority, besides=info.uid)
                victims = victims_on(info, shape, node, nominated, budgets, self._now)
                if victims is not None:
                    found[name] = victims
        return found

    def _budgets_now(self) -> Budgets:
        if not self._budgets:
            return ()
        pods = [pod for pod in self._api.live_pods() if not pod.terminal]
        return [(budget, allowed(budget, pods)) for budget in self._budgets]

    def _offered(self, info: PodInfo, candidates: Mapping[str, Victims]) -> dict[str, Victims]:
        """The candidates that the extender leaves. It may name other nodes and victims."""
        found = {}
        for name, (uids, violations) in call_preempt(self._server, info.pod.raw, candidates).items():
            node = self._cache.on_node(name)
            if node is None or any(uid not in node.pods for uid in uids):
                raise CallFailed(f"extender names a victim that is not on node {name}")
            found[name] = Victims(tuple(node.pods[PodUid(uid)] for uid in uids), violations)
        return found

    def _evict(self, info: PodInfo, node: str, victims: Victims) -> None:
        for other in self._nominator.below(node, info.priority):
            self._api.set_status(other.pod, None, nominated="")
        for victim in victims.pods:
            pod = victim.pod
            if pod.exists and not pod.deleting:
                self._onlooker.preempted(pod, info.pod, node)
                self._api.set_status(pod, DISRUPTED)
                self._api.delete(pod, why="preempted")
        self._onlooker.nominated(info.pod, node)

    @property
    def _now(self) -> str:
        return stamp(self._clock.now)
