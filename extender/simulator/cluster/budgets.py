"""PodDisruptionBudgets as their controller maintains them: how many more pods of each may be evicted now.

Source: pkg/controller/disruption/disruption.go. Without controllers the expected pods are the matching ones.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from core.workload.budget import BudgetFacts, covers
from core.workload.nodes.affinity import Requirement
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.scenario.cluster_entries import BudgetEntry


class PlayedBudgets:
    """The cluster's budgets, each as its controller last wrote it. ``pods``: every pod that exists."""

    def __init__(self, entries: Sequence[BudgetEntry], pods: Callable[[], Iterable[Pod]]) -> None:
        self._entries = entries
        self._pods = pods
        self._written: dict[tuple[str, str], BudgetFacts] = {}
        self.reconcile()

    @property
    def written(self) -> Collection[BudgetFacts]:
        """All budgets, in the order of the file."""
        return self._written.values()

    def reconcile(self) -> list[BudgetFacts]:
        """Check the pods again, as the controller does, and return the budgets that changed."""
        changes = []
        pods = self._counted() if self._entries else []
        for entry in self._entries:
            facts = _facts(entry, allowed(entry, pods))
            if self._written.get((entry.namespace, entry.name)) != facts:
                self._written[entry.namespace, entry.name] = facts
                changes.append(facts)
        return changes

    def objection(self, pod: Pod) -> str:
        """The reason why the Eviction API would not evict a pod now, or empty.

        A pod that is not running or is terminating may always be evicted. A pod under several budgets never
        may. Source: pkg/registry/core/pod/storage/eviction.go.
        """
        if pod.terminal or pod.deleting or not pod.node:
            return ""
        over = [entry for entry in self._entries if _covers(entry, pod)]
        if len(over) > 1:
            return f"more than one budget: {', '.join(sorted(entry.name for entry in over))}"
        if over and not allowed(over[0], self._counted()):
            return f"budget {over[0].name} allows no disruption"
        return ""

    def _counted(self) -> list[Pod]:
        return [pod for pod in self._pods() if not pod.terminal]


def allowed(budget: BudgetEntry, pods: Iterable[Pod]) -> int:
    """The number of disruptions that a budget still allows, 0 or more."""
    mine = [pod for pod in pods if _covers(budget, pod)]
    healthy = sum(1 for pod in mine if pod.node and not pod.deleting)
    if budget.min_available is not None:
        wanted = _scaled(budget.min_available, len(mine))
    else:
        wanted = len(mine) - _scaled(budget.max_unavailable or "0", len(mine))
    return max(0, healthy - max(0, wanted))


def matches(budget: BudgetEntry, namespace: str, labels: Mapping[str, str]) -> bool:
    """Match as kube-scheduler does: an empty selector matches nothing (filterPodsWithPDBViolation)."""
    return bool(budget.match_labels) and namespace == budget.namespace and covers(_facts(budget, 0), labels)


def _covers(budget: BudgetEntry, pod: Pod) -> bool:
    """Match as controller and API server do: an empty selector covers the whole namespace."""
    labels = pod.body["metadata"].get("labels") or {}
    return pod.namespace == budget.namespace and covers(_facts(budget, 0), labels)


def _facts(budget: BudgetEntry, allowing: int) -> BudgetFacts:
    selector = (Requirement(key, "In", (value,)) for key, value in sorted(budget.match_labels.items()))
    return BudgetFacts(budget.namespace, budget.name, tuple(selector), allowing)


def _scaled(bound: str, total: int) -> int:
    """A number, or a percentage of the pods, rounded up."""
    if bound.endswith("%"):
        return -(-total * int(bound[:-1]) // 100)
    return int(bound)
