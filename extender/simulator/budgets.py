"""PodDisruptionBudgets as their controller keeps them: how many more pods of each may go now.

Source: pkg/controller/disruption/disruption.go. Without controllers the expected pods are the matching ones.
"""

from collections.abc import Iterable, Mapping

from extender.simulator.api import Pod
from extender.simulator.scenario import BudgetEntry


def allowed(budget: BudgetEntry, pods: Iterable[Pod]) -> int:
    """Disruptions that a budget still allows, 0 or more."""
    mine = [pod for pod in pods if matches(budget, pod.namespace, pod.body["metadata"].get("labels") or {})]
    healthy = sum(1 for pod in mine if pod.node and not pod.deleting)
    if budget.min_available is not None:
        wanted = _scaled(budget.min_available, len(mine))
    else:
        wanted = len(mine) - _scaled(budget.max_unavailable or "0", len(mine))
    return max(0, healthy - max(0, wanted))


def matches(budget: BudgetEntry, namespace: str, labels: Mapping[str, str]) -> bool:
    """An empty selector matches nothing for the scheduler (filterPodsWithPDBViolation)."""
    return (
        namespace == budget.namespace
        and bool(budget.match_labels)
        and all(labels.get(key) == value for key, value in budget.match_labels.items())
    )


def _scaled(bound: str, total: int) -> int:
    """A number, or a percentage of the pods, rounded up."""
    if bound.endswith("%"):
        return -(-total * int(bound[:-1]) // 100)
    return int(bound)
