"""kube-scheduler's own preemption: which pods it would evict where, and which node it takes.

Sources: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go and
pkg/scheduler/framework/preemption/preemption.go. Every node is tried, by name (format, rule 6).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from extender.simulator.cluster.budgets import matches
from extender.simulator.scenario.cluster_entries import BudgetEntry
from extender.simulator.scheduler.extender_calls import Victims
from extender.simulator.scheduler.node_cache import NodeInfo, PodInfo, Shape
from extender.simulator.scheduler.plugins import status_on

Nominated = Callable[[str], tuple[PodInfo, ...]]
"""Pods nominated to a node, for which the preemptor must leave capacity."""

Budgets = Sequence[tuple[BudgetEntry, int]]
"""Budgets with the disruptions that each still allows."""

_MOST_NEGATIVE = 2**31


def fits(shape: Shape, node: NodeInfo, nominated: tuple[PodInfo, ...]) -> bool:
    """True if a pod fits both with and without the nominated pods (RunFilterPluginsWithNominatedPods)."""
    if nominated and status_on(shape, node, nominated) is not None:
        return False
    return status_on(shape, node) is None


def victims_on(
    info: PodInfo,
    shape: Shape,
    node: NodeInfo,
    nominated: tuple[PodInfo, ...],
    budgets: Budgets,
    now: str,
) -> Victims | None:
    """The fewest and least important pods of lower priority whose removal lets a pod in, or None.

    Pods whose budget would be violated are reprieved first.
    """
    left = node.copy()
    potential = sorted(
        (each for each in node.pods.values() if each.priority < info.priority),
        key=lambda e: e.importance(now),
    )
    for each in potential:
        left.remove(each.uid)
    if not potential or not fits(shape, left, nominated):
        return None
    violating, others = _by_violation(potential, budgets)
    victims, violations = [], 0
    for each in [*violating, *others]:
        left.add(each)
        if not fits(shape, left, nominated):
            left.remove(each.uid)
            victims.append(each)
            violations += each in violating
    return Victims(tuple(sorted(victims, key=lambda e: e.importance(now))), violations) if victims else None


def _by_violation(pods: Iterable[PodInfo], budgets: Budgets) -> tuple[list[PodInfo], list[PodInfo]]:
    left = [allowed for _, allowed in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for info in pods:
        violates = False
        for at, (budget, _) in enumerate(budgets):
            if matches(budget, info.facts.namespace, info.labels):
                left[at] -= 1
                violates = violates or left[at] < 0
        (violating if violates else others).append(info)
    return violating, others


def best_of(candidates: Mapping[str, Victims], now: str) -> str:
    """The node to preempt on (pickOneNodeForPreemption); ties by name. Raises ValueError without one."""
    return min(candidates, key=lambda name: _cost(name, candidates[name], now))


def _cost(name: str, victims: Victims, now: str) -> tuple[int, int, int, int, tuple[int, ...], str]:
    pods = victims.pods
    highest = max(info.priority for info in pods)
    earliest = min(info.started or now for info in pods if info.priority == highest)
    return (
        victims.violations,
        pods[0].priority,
        sum(info.priority + _MOST_NEGATIVE for info in pods),
        len(pods),
        # Later is better, so the text is inverted.
        tuple(-ord(letter) for letter in earliest),
        name,
    )
