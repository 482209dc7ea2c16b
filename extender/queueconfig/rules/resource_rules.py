"""Rules for ``max`` and ``guaranteed``, of each queue and along the tree.

Units: see `amounts`. Cost: linear in the size of the document times its depth.
"""

from collections.abc import Generator, Iterator, Mapping

from core.quantity import saturated
from extender.queueconfig.amounts import amounts_from, excesses, named
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, Location


def resources(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check quantities of each queue (CFG-22, CFG-23), and of parents and children (CFG-24 to CFG-27).

    Invalid quantities are left out of the other checks, as are resources of the root (CFG-7).
    """
    yield from _guaranteed_below(partition.root, {})


def templates(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check that the amounts of child templates are quantities (APPLY-3), except on leaves (TPL-2)."""
    for queue in partition.root.with_descendants():
        template = queue.section.childtemplate
        if template is None or template.is_empty or queue.is_leaf:
            continue
        at = (*queue.at, "childtemplate", "resources")
        for key, texts in (("guaranteed", template.resources.guaranteed), ("max", template.resources.max)):
            for name, message in amounts_from(texts)[1].items():
                yield DocumentFinding((*at, key, name), "APPLY-3", message)


def _guaranteed_below(
    queue: QueueNode, effective: dict[str, int]
) -> Generator[DocumentFinding, None, dict[str, int]]:
    """Check a queue and all below it. Returns the amounts that it adds to its parent's sum (CFG-27).

    ``effective``: the effective max of the parent (CFG-24). It is changed meanwhile and restored at the end.
    """
    # A copy of `effective` for each queue would cost queues times resources.
    own_max, guaranteed = yield from _own_amounts(queue)
    at = (*queue.at, "resources")
    yield from _above(guaranteed, own_max, (*at, "guaranteed"), "CFG-23", "the queue's own max")
    yield from _above(own_max, effective, (*at, "max"), "CFG-24", "the smallest max above")
    hidden = {name: effective[name] for name in own_max if name in effective}
    effective.update({name: min(most, hidden.get(name, most)) for name, most in own_max.items()})
    below: dict[str, int] = {}
    for child in queue.children:
        below = _added(below, (yield from _guaranteed_below(child, effective)))
    yield from _sum_findings(queue, below, guaranteed, effective)
    for name in own_max:
        del effective[name]
    effective.update(hidden)
    return guaranteed if any(guaranteed.values()) else below


def _own_amounts(queue: QueueNode) -> Generator[DocumentFinding, None, tuple[dict[str, int], dict[str, int]]]:
    """Max and guaranteed of a queue. Both are empty for the root."""
    if queue.is_root:
        return {}, {}
    section, at = queue.section.resources, (*queue.at, "resources")
    guaranteed, broken = amounts_from(section.guaranteed)
    for name, message in broken.items():
        yield DocumentFinding((*at, "guaranteed", name), "CFG-22", message)
    maximum, broken = amounts_from(section.max)
    for name, message in broken.items():
        yield DocumentFinding((*at, "max", name), "CFG-22", message)
    return maximum, guaranteed


def _added(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    """Add two maps of amounts. The larger one is changed and returned."""
    into, more = (left, right) if len(left) >= len(right) else (right, left)
    for name, amount in more.items():
        into[name] = saturated(into.get(name, 0) + amount)
    return into


def _sum_findings(
    queue: QueueNode, below: Mapping[str, int], guaranteed: Mapping[str, int], effective: Mapping[str, int]
) -> Iterator[DocumentFinding]:
    at = (*queue.at, "resources")
    whose = "the children's guaranteed together, "
    yield from _above(below, guaranteed, (*at, "guaranteed"), "CFG-25", "this queue's guaranteed", whose)
    for finding in _above(below, effective, (*at, "max"), "CFG-26", "the smallest max down to here", whose):
        # The max may be that of an ancestor. The finding then has the location of the queue.
        declared = finding.at[-1] in (queue.section.resources.max or {})
        yield finding if declared else DocumentFinding(queue.at, finding.rule, finding.message)


def _above(
    amounts: Mapping[str, int],
    cap: Mapping[str, int],
    at: Location,
    rule: str,
    cap_name: str,
    whose: str = "",
) -> Iterator[DocumentFinding]:
    """A finding for each resource above its cap. A resource without a cap is unlimited."""
    for name, amount, most in excesses(amounts, cap):
        message = f"{whose}{named(name, amount)} is above {cap_name}, {named(name, most)}"
        yield DocumentFinding((*at, name), rule, f"{message}; lower the first or raise the second")
