"""Nodes that a pod may run on: selector, required node affinity, taints and cordons.

Read as kube-scheduler does (plugins nodeunschedulable, tainttoleration, nodeaffinity). Terms between pods,
ports and volumes are not known here.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from core.workload.nodes.node import NodeFacts, Taint

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
NODE_NAME = "metadata.name"
_BARRING = ("NoSchedule", "NoExecute")


class Toleration(NamedTuple):
    """Toleration of a pod. ``operator``: Equal or Exists. An empty key or effect stands for every one."""

    key: str
    operator: str
    value: str
    effect: str


class Requirement(NamedTuple):
    """Expression on labels or fields. ``operator``: In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...]


class Term(NamedTuple):
    """Conjunction of requirements. Without any requirement it matches nothing."""

    labels: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]


class Constraints:
    """Constraints of a pod on nodes. Immutable; the hash is computed once.

    ``terms``: one of them must match; None without required affinity. ``weight``: approximate units of work
    to judge one node. ``unread``: the pod has more constraints than `MOST_WEIGHED`, so kube-scheduler alone
    judges its nodes (F-17). Then every node counts as possible, and nothing is stored here.
    """

    __slots__ = ("_hash", "selector", "terms", "tolerations", "unread", "weight")

    def __init__(
        self,
        selector: tuple[tuple[str, str], ...] = (),
        terms: tuple[Term, ...] | None = None,
        tolerations: tuple[Toleration, ...] = (),
        *,
        unread: bool = False,
    ) -> None:
        self.selector = selector
        self.terms = terms
        self.tolerations = tolerations
        self.unread = unread
        self.weight = len(selector) + len(tolerations) + sum(map(_weight_of, terms or ()))
        self._hash = hash((selector, terms, tolerations, unread))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Constraints) or self._hash != other._hash:
            return False
        return (self.selector, self.terms, self.tolerations, self.unread) == (
            other.selector,
            other.terms,
            other.tolerations,
            other.unread,
        )

    def __repr__(self) -> str:
        return f"Constraints({self.selector!r}, {self.terms!r}, {self.tolerations!r}, unread={self.unread})"


def _weight_of(term: Term) -> int:
    return 1 + sum(1 + len(each.values) // 16 for each in (*term.labels, *term.fields))


MOST_WEIGHED = 64
"""Labels, terms, expressions and tolerations of one pod that Paddock reads, and sixteen times as many
values."""

ANYWHERE = Constraints()
UNREAD = Constraints(tolerations=(Toleration("", "Exists", "", ""),), unread=True)
"""Constraints of every pod that has more."""


def admits(node: NodeFacts, constraints: Constraints) -> bool:
    """True if a node would take such a pod, given enough capacity."""
    return why_not(node, constraints) == ""


def why_not(node: NodeFacts, constraints: Constraints) -> str:
    """First obstacle on a node: ``cordon``, ``taint`` or ``affinity``; empty for none."""
    if node.unschedulable and not _tolerated(CORDON, constraints):
        return "cordon"
    for taint in node.taints:
        if taint.effect in _BARRING and not _tolerated(taint, constraints):
            return "taint"
    labels = node.labels
    for key, value in constraints.selector:
        if labels.get(key) != value:
            return "affinity"
    terms = constraints.terms
    if terms is not None and not any(_matches(term, node) for term in terms):
        return "affinity"
    return ""


def bars_of(node: NodeFacts) -> frozenset[Taint]:
    """Taints that repel pods without a toleration, including the cordon."""
    bars = {taint for taint in node.taints if taint.effect in _BARRING}
    return frozenset(bars | {CORDON} if node.unschedulable else bars)


@lru_cache(maxsize=4096)
def passes(bars: frozenset[Taint], tolerations: tuple[Toleration, ...]) -> bool:
    """True if a pod with these tolerations tolerates all bars."""
    return all(any(_tolerates(each, bar) for each in tolerations) for bar in bars)


def meets(requirements: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    """True if all requirements hold. True if there are none."""
    for each in requirements:  # noqa: SIM110 - asked of every node: a generator costs double
        if not _holds(each, labels):
            return False
    return True


def _tolerated(taint: Taint, constraints: Constraints) -> bool:
    return any(_tolerates(each, taint) for each in constraints.tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value


def _matches(term: Term, node: NodeFacts) -> bool:
    if not (term.labels or term.fields):
        return False
    return meets(term.labels, node.labels) and (
        not term.fields or meets(term.fields, {NODE_NAME: str(node.name)})
    )


def _holds(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as which:
            return _compares(value, requirement.values, greater=which == "Gt")
        case _:
            return False


def _compares(value: str | None, values: tuple[str, ...], *, greater: bool) -> bool:
    try:
        here, bound = int(value or ""), int(values[0])
    except (ValueError, IndexError):
        return False
    return here > bound if greater else here < bound
