"""PodDisruptionBudgets as the Eviction API reads them: the pods that one covers, and how many may be evicted.

Source: pkg/registry/core/pod/storage/eviction.go and pkg/registry/policy, tried on Kubernetes 1.36.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.workload.nodes.affinity import Requirement, meets


@dataclass(frozen=True, slots=True)
class BudgetFacts:
    """A PodDisruptionBudget as last reported.

    ``selector``: requirements on labels, all of which must hold. An empty one covers every pod of the
    namespace, and None (no selector) covers none. ``allowed``: disruptions that may happen now. 0 also while
    its status is about an older spec, because the Eviction API evicts no pod then.
    """

    namespace: str
    name: str
    selector: tuple[Requirement, ...] | None
    allowed: int


Budgets = Mapping[str, Mapping[str, BudgetFacts]]
"""Budgets by namespace, then by name."""


def covers(budget: BudgetFacts, labels: Mapping[str, str]) -> bool:
    """True if a budget covers a pod of its namespace with these labels."""
    return budget.selector is not None and meets(budget.selector, labels)


def covering(budgets: Budgets, namespace: str, labels: Mapping[str, str]) -> tuple[BudgetFacts, ...]:
    """Budgets that cover a pod. Cost: O(budgets of its namespace)."""
    there = budgets.get(namespace)
    return tuple(each for each in there.values() if covers(each, labels)) if there else ()


def disruptions_left(budgets: Budgets, namespace: str, labels: Mapping[str, str]) -> int | None:
    """Number of pods like this one that may be evicted now, or None if no budget covers them.

    Only for running pods: a pod without a node, or one that terminates, may always be evicted. A pod with
    several budgets gets 0, because the Eviction API evicts no such pod.
    """
    found = covering(budgets, namespace, labels)
    if not found:
        return None
    return max(0, found[0].allowed) if len(found) == 1 else 0


def forbids(budgets: Budgets, namespace: str, labels: Mapping[str, str]) -> bool:
    """True if the Eviction API would not evict such a pod now because of a budget."""
    return disruptions_left(budgets, namespace, labels) == 0
