"""Health from the ledger and from what was counted (REST-11)."""

from collections.abc import Iterable
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Found:
    """Numbers that others have counted."""

    #: Verb calls that ended in a bug or a fault within the last hour.
    errors: int = 0
    #: Nodes that could not be read.
    unreadable_nodes: int = 0
    #: Differences that the last audit found, one text each.
    drifts: tuple[str, ...] = ()
    #: Checks of Paddock's own: name, and what is amiss; empty for nothing.
    own: tuple[tuple[str, str], ...] = ()


def health_from(facts: Facts, found: Found) -> Health:
    """The nine checks of REST-11 in their order, then Paddock's own. Cost: O(pods)."""
    amiss = (
        _number(found.errors, "calls failed"),
        _number(found.unreadable_nodes, "nodes were not read"),
        _below_zero(_partition_amounts(facts.view)),
        _below_zero(_node_amounts(facts.view)),
        _partition_sums(facts.view),
        _node_sums(facts.view),
        "",
        _orphans_on_nodes(facts.view),
        "; ".join(found.drifts[:5]),
    )
    checks = [
        _check(name, description, what)
        for name, description, what in zip(NAMES, DESCRIPTIONS, amiss, strict=True)
    ]
    checks += [_check(name, name, what) for name, what in found.own]
    return Health(healthy=all(each.succeeded for each in checks), health_checks=tuple(checks))


def _check(name: str, description: str, amiss: str) -> HealthCheck:
    return HealthCheck(name=name, succeeded=not amiss, description=description, diagnosis_message=amiss)


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count else ""


def _below_zero(values: Iterable[tuple[str, Resource]]) -> str:
    wrong = [name for name, each in values if any(amount < 0 for _, amount in each.items())]
    return "below zero: " + ", ".join(wrong[:5]) if wrong else ""


def _partition_amounts(view: LedgerView) -> list[tuple[str, Resource]]:
    return [("allocated", allocated_in(view.tree.root, afloat_of(view)))]


def _node_amounts(view: LedgerView) -> list[tuple[str, Resource]]:
    found: list[tuple[str, Resource]] = []
    for name in sorted(view.nodes_in_use()):
        use = view.use_of(name)
        if use is not None:
            found += [(name, use.allocated.as_resource()), (name, use.occupied.as_resource())]
    return found


def _partition_sums(view: LedgerView) -> str:
    size = view.tree.root.max
    nodes = total(node.allocatable for node in view.nodes.values())
    mine = {name: amount for name, amount in amounts(nodes).items() if amount > 0}
    return "" if mine == (dict(size.items()) if size is not None else {}) else "the capacities differ"


def _node_sums(view: LedgerView) -> str:
    """Sums of pods' sizes against what the ledger has counted on their nodes."""
    wrong = []
    for name in sorted(view.nodes_in_use()):
        use = view.use_of(name)
        if use is not None:
            charges = (view.charge_of(uid) for uid in use.pods)
            sizes = total(each.size for each in charges if each is not None)
            held = use.allocated.as_resource() + use.occupied.as_resource()
            if amounts(sizes) != amounts(held):
                wrong.append(name)
    return "the sums differ on " + ", ".join(wrong[:5]) if wrong else ""


def _orphans_on_nodes(view: LedgerView) -> str:
    wrong = []
    for record in view.pods():
        charge, app_id = view.charge_of(record.uid), record.membership.application
        if counted_as(charge) is Counted.ALLOCATION and (app_id is None or view.application(app_id) is None):
            wrong.append(record.uid)
    return "of no application: " + ", ".join(sorted(wrong)[:5]) if wrong else ""
