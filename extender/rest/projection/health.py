"""Health checks of the ledger, and of faults counted elsewhere (REST-11)."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.ids import NodeName, PodUid
from core.ledger.view import LedgerView
from core.resource import Resource
from extender.rest.facts import Facts
from extender.rest.model.health import Health, HealthCheck
from extender.rest.projection.counting import Counted, afloat_of, allocated_in, counted_as
from extender.rest.projection.units import amounts, total

NAMES = (
    "Scheduling errors",
    "Failed nodes",
    "Negative resources",
    "Negative resources",
    "Consistency of data",
    "Consistency of data",
    "Reservation check",
    "Orphan allocation on node check",
    "Orphan allocation on app check",
)
DESCRIPTIONS = (
    "Calls of kube-scheduler that ended in a fault within the last hour",
    "Nodes that could not be read",
    "Amounts of the partition below zero",
    "Amounts of nodes below zero",
    "The partition's capacity is the sum of its nodes' capacity",
    "A node's capacity is the sum of allocated, occupied and available",
    "Nodes held for pods, as a share of all nodes",
    "Allocations of nodes that no application has",
    "Allocations of applications that no node has",
)


PODS_AT_ONCE, NODES_AT_ONCE = 100, 100
"""Pods that are checked in one step of a round, and nodes whose capacities are added."""


@dataclass(frozen=True, slots=True)
class Found:
    """Faults that were counted elsewhere."""

    #: Number of calls of verbs that failed within the last hour.
    errors: int = 0
    #: Number of nodes that could not be read.
    unreadable_nodes: int = 0
    #: Differences that the last audit found, as one text each.
    drifts: tuple[str, ...] = ()
    #: Paddock's own checks: name and fault; the fault is empty if there is none.
    own: tuple[tuple[str, str], ...] = ()


class HealthRound:
    """Round of the nine checks of REST-11 and of Paddock's own. Iterate over it, then read ``health``.

    A step checks one node, or some pods. Its numbers belong to one moment.
    """

    def __init__(self, facts: Facts, found: Found) -> None:
        self._view = facts.view
        self._found = found
        self.health: Health

    def __iter__(self) -> Iterator[bytes]:
        """Perform the round in steps, each of which yields an empty piece."""
        found, view = self._found, self._view
        nodes: list[str] = []
        sums: list[str] = []
        orphans: list[str] = []
        for name in sorted(view.nodes_in_use()):
            nodes += _names_below_zero(_node_amounts(view, name))
            sums += _node_sums(view, name)
            yield b""
        for at, record in enumerate(list(view.pods())):
            orphans += _orphans(view, record.uid)
            if at % PODS_AT_ONCE == 0:
                yield b""
        capacities = yield from _partition_sums(view)
        amiss = (
            _number(found.errors, "calls failed"),
            _number(found.unreadable_nodes, "nodes were not read"),
            _listed("below zero: ", _names_below_zero(_partition_amounts(view))),
            _listed("below zero: ", nodes),
            capacities,
            _listed("the sums differ on ", sums),
            "",
            _listed("of no application: ", sorted(orphans)),
            "; ".join(found.drifts[:5]),
        )
        checks = [
            _check(name, description, what)
            for name, description, what in zip(NAMES, DESCRIPTIONS, amiss, strict=True)
        ]
        checks += [_check(name, name, what) for name, what in found.own]
        self.health = Health(healthy=all(each.succeeded for each in checks), health_checks=tuple(checks))


def health_from(facts: Facts, found: Found) -> Health:
    """Perform a whole round at once. Cost: O(pods)."""
    checks = HealthRound(facts, found)
    for _ in checks:
        pass
    return checks.health


def _check(name: str, description: str, amiss: str) -> HealthCheck:
    return HealthCheck(name=name, succeeded=not amiss, description=description, diagnosis_message=amiss)


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count else ""


def _listed(before: str, wrong: Sequence[str]) -> str:
    return before + ", ".join(wrong[:5]) if wrong else ""


def _names_below_zero(values: Iterable[tuple[str, Resource]]) -> list[str]:
    return [name for name, each in values if any(amount < 0 for _, amount in each.items())]


def _partition_amounts(view: LedgerView) -> list[tuple[str, Resource]]:
    return [("allocated", allocated_in(view.tree.root, afloat_of(view)))]


def _node_amounts(view: LedgerView, name: NodeName) -> list[tuple[str, Resource]]:
    use = view.use_of(name)
    return [(name, use.allocated.as_resource()), (name, use.occupied.as_resource())] if use else []


def _partition_sums(view: LedgerView) -> Generator[bytes, None, str]:
    """Compare the partition's capacity with that of the nodes at the time of the first step."""
    size, nodes = view.tree.root.max, list(view.nodes.values())
    parts: list[Resource] = []
    for start in range(0, len(nodes), NODES_AT_ONCE):
        parts.append(total(node.allocatable for node in nodes[start : start + NODES_AT_ONCE]))
        yield b""
    mine = {name: amount for name, amount in amounts(total(parts)).items() if amount > 0}
    return "" if mine == (dict(size.items()) if size is not None else {}) else "the capacities differ"


def _node_sums(view: LedgerView, name: NodeName) -> list[str]:
    """Compare the total size of a node's pods with the ledger's counters of the node."""
    use = view.use_of(name)
    if use is None:
        return []
    charges = (view.charge_of(uid) for uid in use.pods)
    sizes = total(each.size for each in charges if each is not None)
    held = use.allocated.as_resource() + use.occupied.as_resource()
    return [name] if amounts(sizes) != amounts(held) else []


def _orphans(view: LedgerView, uid: PodUid) -> list[str]:
    record = view.pod(uid)
    app = record.membership.application if record is not None else None
    orphan = app is None or view.application(app) is None
    return [uid] if orphan and counted_as(view.charge_of(uid)) is Counted.ALLOCATION else []
