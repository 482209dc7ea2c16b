"""The filters and scores of kube-scheduler's own plugins for one pod and one node.

Sources: pkg/scheduler/framework/plugins: nodeunschedulable, tainttoleration, nodeaffinity, nodeports,
noderesources (fit.go, least_allocated.go, balanced_allocation.go). They run in that order, and the first that
rejects a node decides its status. A pod that names its node is on it, so nodename has nothing to check.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from core.workload.nodes.affinity import why_not
from extender.simulator.scheduler.node_cache import ANY_ADDRESS, NodeCache, NodeInfo, PodInfo, Port, Shape

TOP = 100
"""The best score of one plugin."""

_KUBERNETES_NAME = {"vcore": "cpu"}


class Status(NamedTuple):
    """The verdict on a node that does not take a pod."""

    #: True if evicting pods from the node might help.
    resolvable: bool
    #: Reasons, in the order of the plugins.
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statuses:
    """Verdicts on the nodes that do not take a pod, with the counts for its message."""

    #: Verdict on each of them, by node name.
    by_node: Mapping[str, Status]
    #: Number of nodes per reason as text, sorted.
    counts: tuple[str, ...]
    #: Names of nodes where evicting might help, sorted.
    resolvable: tuple[str, ...]


def statuses_of(by_node: Mapping[str, Status]) -> Statuses:
    """The verdicts with their counts."""
    counts: dict[str, int] = {}
    for status in by_node.values():
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return Statuses(
        by_node,
        tuple(sorted(f"{count} {reason}" for reason, count in counts.items())),
        tuple(sorted(name for name, status in by_node.items() if status.resolvable)),
    )


UNSCHEDULABLE = Status(False, ("node(s) were unschedulable",))
UNTOLERATED = Status(False, ("node(s) had untolerated taint(s)",))
OTHER_AFFINITY = Status(False, ("node(s) didn't match Pod's node affinity/selector",))
PORTS_TAKEN = Status(True, ("node(s) didn't have free ports for the requested pod ports",))


_STATIC = {"cordon": UNSCHEDULABLE, "taint": UNTOLERATED, "affinity": OTHER_AFFINITY}


def status_on(shape: Shape, node: NodeInfo, extra: Iterable[PodInfo] = ()) -> Status | None:
    """The reason why a pod of this shape cannot run on a node, or None. ``extra``: pods to count as well."""
    return _static(shape, node) or _ports_status(shape, node, extra) or _fit(shape, node, extra)


def _static(shape: Shape, node: NodeInfo) -> Status | None:
    """The checks that do not depend on the other pods."""
    return _STATIC.get(why_not(node.facts, shape.constraints))


def _ports_status(shape: Shape, node: NodeInfo, extra: Iterable[PodInfo]) -> Status | None:
    if not shape.ports:
        return None
    taken = node.ports() | {port for info in extra for port in info.shape.ports}
    return PORTS_TAKEN if any(_clash(port, other) for port in shape.ports for other in taken) else None


def _clash(port: Port, other: Port) -> bool:
    same = port[1:] == other[1:]
    return same and (port[0] == other[0] or ANY_ADDRESS in (port[0], other[0]))


def _fit(shape: Shape, node: NodeInfo, extra: Iterable[PodInfo]) -> Status | None:
    extra = tuple(extra)
    reasons, resolvable = [], True
    if len(node.pods) + len(extra) + 1 > node.allocatable.get("pods", 0):
        reasons.append("Too many pods")
    for name, amount in shape.requests:
        if amount == 0:
            continue
        free = node.allocatable.get(name, 0) - node.used.get(name, 0)
        for info in extra:
            free -= dict(info.shape.requests).get(name, 0)
        if amount > free:
            reasons.append(f"Insufficient {_KUBERNETES_NAME.get(name, name)}")
            resolvable = resolvable and amount <= node.allocatable.get(name, 0)
    return Status(resolvable, tuple(reasons)) if reasons else None


# -- scores -------------------------------------------------------------------------------------------------


def score_on(shape: Shape, node: NodeInfo) -> int:
    """LeastAllocated and BalancedAllocation, weight 1 each, as 1.36 computes them."""
    return _least_allocated(shape, node) + _balanced(shape, node)


def _least_allocated(shape: Shape, node: NodeInfo) -> int:
    total = count = 0
    for at, name in enumerate(("vcore", "memory")):
        has = node.allocatable.get(name, 0)
        if has:
            asked = node.nonzero[at] + shape.nonzero[at]
            total += (has - asked) * TOP // has if asked <= has else 0
            count += 1
    return total // count if count else 0


def _balanced(shape: Shape, node: NodeInfo) -> int:
    """The score for balance.

    From 50 to 100, the better the pod balances the node; 0 for a best-effort pod.
    """
    requests = dict(shape.requests)
    wanted = [requests.get(name, 0) for name in ("vcore", "memory")]
    if not any(wanted):
        return 0
    used = [node.used.get(name, 0) for name in ("vcore", "memory")]
    has = [node.allocatable.get(name, 0) for name in ("vcore", "memory")]
    with_pod = _balance([one + more for one, more in zip(used, wanted, strict=True)], has)
    return TOP // 2 + (TOP // 2 + with_pod - _balance(used, has)) // 2


def _balance(used: list[int], has: list[int]) -> int:
    shares = [min(1.0, one / of) for one, of in zip(used, has, strict=True) if of]
    deviation = abs((shares[0] - shares[1]) / 2) if len(shares) == 2 else 0.0
    return int((1 - deviation) * TOP)


class Fitting:
    """The fitting of one shape on every node, updated from the cache's changes.

    ``feasible``: names of the nodes that take such a pod, sorted. ``scores``: theirs. ``statuses``: those of
    the others. Nominated pods do not count. Cost: O(nodes changed since the last update).
    """

    def __init__(self, shape: Shape, cache: NodeCache) -> None:
        self.shape = shape
        self._cache = cache
        self._seen = 0
        self.feasible: list[str] = []
        self.scores: dict[str, int] = {}
        self.statuses: dict[str, Status] = {}
        self.stamp = 0
        self._update(cache.names)
        self._seen = len(cache.changes)

    def refresh(self) -> "Fitting":
        """Bring the fitting up to date and return it."""
        changes = self._cache.changes
        if self._seen < len(changes):
            self._update(dict.fromkeys(changes[self._seen :]))
            self._seen = len(changes)
        return self

    def _update(self, names: Iterable[str]) -> None:
        self.stamp += 1
        for name in names:
            node = self._cache.on_node(name)
            status = status_on(self.shape, node) if node is not None else None
            if node is None or status is not None:
                self._set_infeasible(name, status)
            else:
                self._set_feasible(name, node)

    def _set_infeasible(self, name: str, status: Status | None) -> None:
        if self.scores.pop(name, None) is not None:
            del self.feasible[bisect_left(self.feasible, name)]
        if status is None:
            self.statuses.pop(name, None)
        else:
            self.statuses[name] = status

    def _set_feasible(self, name: str, node: NodeInfo) -> None:
        if name not in self.scores:
            self.feasible.insert(bisect_left(self.feasible, name), name)
            self.statuses.pop(name, None)
        self.scores[name] = score_on(self.shape, node)
