"""PodDisruptionBudgets as the Eviction API reads them: whom one covers, and how many more of them may go.

Source: pkg/registry/core/pod/storage/eviction.go and pkg/registry/policy, tried on Kubernetes 1.36.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.workload.nodes.affinity import Requirement, meets


@dataclass(frozen=True, slots=True)
class BudgetFacts:
    """A PodDisruptionBudget as last told.

    ``selector``: requirements on labels, all of which must hold; empty covers every pod of the namespace,
    None (no selector) covers none; ``allowed``: disruptions that may happen now, 0 also while its status
    speaks of an older spec, since the Eviction API evicts nobody then.
    """

    namespace: str
    name: str
    selector: tuple[Requirement, ...] | None
    allowed: int


Budgets = Mapping[str, Mapping[str, BudgetFacts]]
"""By namespace, then by name."""


def covers(budget: BudgetFacts, labels: Mapping[str, str]) -> bool:
    """Whether a budget is about a pod of its namespace with these labels."""
    return budget.selector is not None and meets(budget.selector, labels)


def covering(budgets: Budgets, namespace: str, labels: Mapping[str, str]) -> tuple[BudgetFacts, ...]:
    """The budgets that are about a pod. Cost: O(budgets of its namespace)."""
    there = budgets.get(namespace)
    return tuple(each for each in there.values() if covers(each, labels)) if there else ()


def disruptions_left(budgets: Budgets, namespace: str, labels: Mapping[str, str]) -> int | None:
    """How many pods like this one may go now; None when no budget is about them.

    For a running pod: one without a node, and one that is leaving, may always go. 0 for a pod of several
    budgets, whatever they allow: the Eviction API evicts no such pod.
    """
    found = covering(budgets, namespace, labels)
    if not found:
        return None
    return max(0, found[0].allowed) if len(found) == 1 else 0


def forbids(budgets: Budgets, namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether the Eviction API would not evict such a pod now, for the sake of a budget."""
    return disruptions_left(budgets, namespace, labels) == 0
