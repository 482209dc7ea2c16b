"""Whether the ``max`` and ``guaranteed`` of a partition's queues are quantities, and fit each other.

Units of every amount: millicores for ``vcore``, the base unit for every other resource.
"""

from collections.abc import Generator, Iterator, Mapping

from core.errors import QuantityError
from core.quantity import queue_amount
from core.resource import UNLIMITED, ZERO, Amounts, Limit, Resource, is_zero
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import Finding, Location


def resources(partition: PartitionNode) -> Iterator[Finding]:
    """Every queue's own quantities (CFG-22, CFG-23), and those of parents and children (CFG-24 to CFG-27).

    A value that is no quantity takes no part in the other checks, nor do resources on the root (CFG-7).
    """
    yield from _guaranteed_below(partition.root, UNLIMITED)


def templates(partition: PartitionNode) -> Iterator[Finding]:
    """The amounts of child templates are quantities (APPLY-3)."""
    for queue in partition.root.walk():
        template = queue.section.childtemplate
        if template is None:
            continue
        at = (*queue.at, "childtemplate", "resources")
        for key, texts in (("guaranteed", template.resources.guaranteed), ("max", template.resources.max)):
            for finding in _only_findings(texts or {}, (*at, key)):
                yield Finding(finding.at, "APPLY-3", finding.message)


def _only_findings(texts: Mapping[str, str], at: Location) -> Iterator[Finding]:
    yield from _amounts(texts, at)


def _guaranteed_below(queue: QueueNode, inherited: Limit) -> Generator[Finding, None, Resource]:
    """Check a queue and all below it; returns what it adds to its parent's sum (CFG-27).

    ``inherited``: the effective max of the parent, the smallest on the path per resource (CFG-24).
    """
    own_max, guaranteed = yield from _own_amounts(queue)
    at = (*queue.at, "resources")
    yield from _above(guaranteed, own_max, (*at, "guaranteed"), "CFG-23", "the queue's own max")
    yield from _above(own_max, inherited, (*at, "max"), "CFG-24", "the smallest max above")
    effective = own_max.tightest(inherited)
    below = ZERO
    for child in queue.children:
        below += yield from _guaranteed_below(child, effective)
    yield from _sum_findings(queue, below, Limit.of(guaranteed), effective)
    return below if is_zero(guaranteed) else guaranteed


def _own_amounts(queue: QueueNode) -> Generator[Finding, None, tuple[Limit, Resource]]:
    if queue.is_root:
        return UNLIMITED, ZERO
    section, at = queue.section.resources, (*queue.at, "resources")
    guaranteed = yield from _amounts(section.guaranteed or {}, (*at, "guaranteed"))
    maximum = yield from _amounts(section.max or {}, (*at, "max"))
    return Limit(maximum), Resource(guaranteed)


def _amounts(texts: Mapping[str, str], at: Location) -> Generator[Finding, None, dict[str, int]]:
    amounts = {}
    for name, text in texts.items():
        try:
            amounts[name] = queue_amount(name, text)
        except QuantityError as error:
            yield Finding((*at, name), "CFG-22", f"{error}; write it like 10, 500m (vcore only), 5G or 512Mi")
    return amounts


def _sum_findings(
    queue: QueueNode, below: Resource, guaranteed: Limit, effective: Limit
) -> Iterator[Finding]:
    at = (*queue.at, "resources")
    whose = "the children's guaranteed together"
    yield from _above(below, guaranteed, (*at, "guaranteed"), "CFG-25", "this queue's guaranteed", whose)
    for finding in _above(below, effective, (*at, "max"), "CFG-26", "the smallest max down to here", whose):
        # The max may be an ancestor's: then there is no such key here to point at.
        declared = finding.at[-1] in (queue.section.resources.max or {})
        yield finding if declared else Finding(queue.at, finding.rule, finding.message)


def _above(
    amounts: Amounts, cap: Limit, at: Location, rule: str, cap_name: str, whose: str = ""
) -> Iterator[Finding]:
    """One finding for each resource that exceeds its cap; a resource without one is unlimited."""
    for name, amount in amounts.items():
        most = cap.get(name)
        if most is not None and amount > most:
            what = f"{whose}, {name}={amount}," if whose else f"{name}={amount}"
            yield Finding((*at, name), rule, f"{what} is above {cap_name}, {name}={most}")
