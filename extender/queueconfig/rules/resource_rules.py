"""Whether the ``max`` and ``guaranteed`` of a partition's queues are quantities, and fit each other.

Units of every amount: see `amounts`. Time and memory are linear in the document times its depth.
"""

from collections.abc import Generator, Iterator, Mapping

from core.quantity import saturated
from extender.queueconfig.amounts import amounts_from, excesses, named
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, Location


def resources(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Every queue's own quantities (CFG-22, CFG-23), and those of parents and children (CFG-24 to CFG-27).

    A value that is no quantity takes no part in the other checks, nor do resources on the root (CFG-7).
    """
    yield from _guaranteed_below(partition.root, {})


def templates(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """The amounts of child templates are quantities (APPLY-3); that of a leaf is never read (TPL-2)."""
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
    """Check a queue and all below it; returns what it adds to its parent's sum (CFG-27).

    ``effective``: the max in force at the parent, the smallest on the path per resource (CFG-24); left as it
    was, because a copy per queue would cost queues times resources.
    """
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
    """The queue's max and guaranteed; none for the root."""
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
    """The sum, in the larger of the two, which both belong to the caller."""
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
        # The max may be an ancestor's: then there is no such key here to point at.
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
    """One finding for each resource that exceeds its cap; a resource without one is unlimited."""
    for name, amount, most in excesses(amounts, cap):
        message = f"{whose}{named(name, amount)} is above {cap_name}, {named(name, most)}"
        yield DocumentFinding((*at, name), rule, f"{message}; lower the first or raise the second")
