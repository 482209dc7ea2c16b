"""Placement rules that lead elsewhere than they seem to."""

from collections.abc import Iterator

from core.ids import ROOT
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, shown
from extender.queueconfig.rules.placement_rules import Chain, nearest_queue, rule_chains, static_path


def rules(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Fixed rules that end at a parent (CFG-32), and the root named as a parent rule (PL-4)."""
    queues: dict[str, QueueNode] = {queue.path: queue for queue in partition.root.with_descendants()}
    for chain in rule_chains(partition):
        path, dynamic = static_path(chain)
        queue = nearest_queue(path, queues) if path else None
        if queue is not None and queue.path == path and not (dynamic or queue.is_leaf or queue.says_parent):
            message = f"{shown(path)} is a parent queue, so this rule places nothing; name one of its leaves"
            yield DocumentFinding(chain[0][0], "CFG-32", message)
        yield from _roots(chain)


def _roots(chain: Chain) -> Iterator[DocumentFinding]:
    for at, rule in chain[1:]:
        if rule.name.lower() == "fixed" and rule.value.lower() == ROOT:
            message = (
                "as a parent rule this gives root.root; leave the parent rule out to place below the root"
            )
            yield DocumentFinding((*at, "value"), "PL-4", message)
