"""May this pod run on this node, as kube-scheduler's own filter plugins see it, and how good is the node?

Sources: pkg/scheduler/framework/plugins: nodeunschedulable, tainttoleration, nodeaffinity, nodeports,
noderesources (fit.go, least_allocated.go, balanced_allocation.go). They run in that order and the first that
rejects a node decides its status. A pod that names its node is on it, so nodename has nothing to check.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from extender.simulator.node_cache import ANY_ADDRESS, NodeCache, NodeInfo, PodInfo, Port, Shape

TOP = 100
"""The best score of one plugin."""

_UNSCHEDULABLE_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_KUBERNETES_NAME = {"vcore": "cpu"}


class Status(NamedTuple):
    """Why a node does not take a pod. ``resolvable``: evicting pods from it might help."""

    resolvable: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statuses:
    """Why nodes do not take a pod, by name, with what the pod's message needs of it counted once.

    ``counts``: nodes per reason; ``resolvable``: names of nodes where evicting might help, sorted.
    """

    by_node: Mapping[str, Status]
    counts: tuple[str, ...]
    resolvable: tuple[str, ...]


def statuses_of(by_node: Mapping[str, Status]) -> Statuses:
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


@dataclass(frozen=True, slots=True)
class Placing:
    """A shape's constraints, read once."""

    shape: Shape
    selector: Mapping[str, str]
    terms: tuple[Mapping[str, Any], ...] | None
    tolerations: tuple[Mapping[str, Any], ...]


def placing_of(shape: Shape) -> Placing:
    required = json.loads(shape.affinity) if shape.affinity else None
    return Placing(
        shape,
        json.loads(shape.selector) if shape.selector else {},
        tuple(required.get("nodeSelectorTerms") or ()) if required is not None else None,
        tuple(json.loads(shape.tolerations)) if shape.tolerations else (),
    )


def status_on(placing: Placing, node: NodeInfo, extra: Iterable[PodInfo] = ()) -> Status | None:
    """Why a pod of this shape cannot run on a node, or None. ``extra``: pods to count on top."""
    return (
        _static(placing, node)
        or _ports_status(placing.shape, node, extra)
        or _fit(placing.shape, node, extra)
    )


def _static(placing: Placing, node: NodeInfo) -> Status | None:
    """What does not depend on the other pods."""
    if node.unschedulable and not _tolerated(_UNSCHEDULABLE_TAINT, placing.tolerations):
        return UNSCHEDULABLE
    for taint in node.taints:
        repels = taint.get("effect") in ("NoSchedule", "NoExecute")
        if repels and not _tolerated(taint, placing.tolerations):
            return UNTOLERATED
    if any(node.labels.get(key) != value for key, value in placing.selector.items()):
        return OTHER_AFFINITY
    if placing.terms is not None and not any(_term_matches(term, node) for term in placing.terms):
        return OTHER_AFFINITY
    return None


def _tolerated(taint: Mapping[str, Any], tolerations: Iterable[Mapping[str, Any]]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    key = toleration.get("key")
    if key and key != taint.get("key"):
        return False
    if (toleration.get("operator") or "Equal") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def _term_matches(term: Mapping[str, Any], node: NodeInfo) -> bool:
    """A term without any requirement matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not (expressions or fields):
        return False
    return all(_holds(each, node.labels) for each in expressions) and all(
        _holds(each, {"metadata.name": node.name}) for each in fields
    )


def _holds(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement["key"])
    values = [str(each) for each in requirement.get("values") or ()]
    match requirement["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as which:
            return _compares(value, values, greater=which == "Gt")
        case _:
            return False


def _compares(value: str | None, values: list[str], *, greater: bool) -> bool:
    try:
        here, bound = int(value or ""), int(values[0])
    except (ValueError, IndexError):
        return False
    return here > bound if greater else here < bound


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
        room = node.allocatable.get(name, 0) - node.used.get(name, 0)
        for info in extra:
            room -= dict(info.shape.requests).get(name, 0)
        if amount > room:
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
    """How much better balanced the node is with the pod than without: 50 to 100, 0 for a best-effort pod."""
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
    """What is known of one shape on every node, brought up to date from the cache's changes.

    ``feasible``: names of the nodes that take such a pod, sorted; ``scores``: of those; ``statuses``: of the
    others. Nominated pods are not in it. Cost: O(nodes changed since the last look).
    """

    def __init__(self, shape: Shape, cache: NodeCache) -> None:
        self.placing = placing_of(shape)
        self._cache = cache
        self._seen = 0
        self.feasible: list[str] = []
        self.scores: dict[str, int] = {}
        self.statuses: dict[str, Status] = {}
        self.stamp = 0
        self._look_at(cache.names)
        self._seen = len(cache.changes)

    def refresh(self) -> "Fitting":
        changes = self._cache.changes
        if self._seen < len(changes):
            self._look_at(dict.fromkeys(changes[self._seen :]))
            self._seen = len(changes)
        return self

    def _look_at(self, names: Iterable[str]) -> None:
        self.stamp += 1
        for name in names:
            node = self._cache.on_node(name)
            status = status_on(self.placing, node) if node is not None else None
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
        self.scores[name] = score_on(self.placing.shape, node)
