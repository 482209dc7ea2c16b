"""Configured queues below which placement rules may create dynamic queues (PL-4, PL-11)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.ids import ROOT, QueuePath
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.schema import PlacementRule


@dataclass(frozen=True, slots=True)
class _Area:
    """A queue that a rule names. ``below``: True if the rule may also name any queue below it."""

    path: str
    below: bool


_ANYWHERE = _Area(ROOT, True)


def creation_parents(partition: PartitionNode) -> frozenset[QueuePath]:
    """Configured queues that may get dynamic children, according to the rules alone."""
    queues = {queue.path: queue for queue in partition.root.with_descendants()}
    rules = [rule for rule in partition.section.placementrules if rule.create]
    return frozenset(path for rule in rules for path in _parents_of(rule, queues))


def _parents_of(rule: PlacementRule, queues: Mapping[QueuePath, QueueNode]) -> Iterator[QueuePath]:
    area = _result(rule) if rule.name.lower() == "fixed" else _leaf_parent(rule)
    if area.below:
        prefix = area.path + "."
        yield from (path for path, queue in queues.items() if not queue.is_leaf and path.startswith(prefix))
    elif rule.name.lower() == "fixed" and area.path in queues:
        return
    above = QueuePath(area.path)
    while above not in queues and "." in above:
        above = QueuePath(above.rpartition(".")[0])
    if above in queues and not queues[above].is_leaf:
        yield above


def _leaf_parent(rule: PlacementRule) -> _Area:
    """Parent of the leaf that a user or tag rule names, or any queue if the name may be a whole path."""
    # The name of a namespace has no dots, so the tag `namespace` is never a whole path.
    kind = rule.name.lower()
    if kind == "provided" or (kind == "tag" and rule.value.lower() != "namespace"):
        return _ANYWHERE
    if rule.parent is None:
        return _Area(ROOT, False)
    above = _result(rule.parent)
    return _Area(f"{ROOT}.{ROOT}", above.below) if above.path == ROOT and not above.below else above


def _result(rule: PlacementRule) -> _Area:
    """Queue that a fixed rule or a parent rule names."""
    above = _leaf_parent(rule)
    if rule.name.lower() != "fixed":
        return _Area(above.path, True)
    value = rule.value.lower()
    if value == ROOT or value.startswith(ROOT + "."):
        return _Area(value, False)
    return above if above.below else _Area(f"{above.path}.{value}", False)
