"""How applications and nodes stand now, counted in one pass over each (METRIC-4, 5, 12, 13)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from core.ledger.view import LedgerView
from core.queues.tree import QueueTree
from core.resource import Limit, usage_percent
from core.workload.application import Application
from core.workload.nodes.node import NodeFacts
from extender.telemetry.lines import name_part
from extender.telemetry.shown import RESOURCES_SHOWN
from extender.telemetry.yunikorn.families import OTHER, RANGES, STATES
from extender.telemetry.yunikorn.totals import asked_queue

NODES_AT_ONCE, APPLICATIONS_AT_ONCE = 50, 500

TYPES = ("ephemeral-storage", "memory", "pods", "vcore")
"""Resources of METRIC-12 that are shown before any node has them."""


class ApplicationsNow:
    """Live applications by state, in all and by leaf."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.by_queue: Mapping[str, Counter[str]] = {}

    def refresh(self, view: LedgerView, shown: Callable[[str], bool]) -> Iterator[None]:
        """Count anew, with pauses. ``shown``: whether a queue has series of its own."""
        states: Counter[str] = Counter()
        by_queue: dict[str, Counter[str]] = {}
        for place, application in enumerate(list(view.applications())):
            state = STATES.get(application.state)
            if state is not None:
                path = _place_of(view.tree, application)
                by_queue.setdefault(path if shown(path) else OTHER, Counter())[state] += 1
                states[state] += 1
            if place % APPLICATIONS_AT_ONCE == 0:
                yield
        self.states, self.by_queue = states, by_queue


def _place_of(tree: QueueTree, application: Application) -> str:
    """The path of an application's leaf, or of the one that it asked for; else `OTHER`."""
    if application.queue is not None:
        return application.queue
    asked = asked_queue(tree, application.requested)
    return asked.path if asked is not None else OTHER


class NodesNow:
    """Nodes by state, and by how much of each resource pods of queues hold."""

    def __init__(self) -> None:
        self.active = self.draining = 0
        #: Nodes in each tenth, by the part of the metric's name that stands for the resource.
        self.usage: Mapping[str, list[int]] = {}
        #: Number of resources of nodes without series.
        self.unshown = 0

    def refresh(self, view: LedgerView) -> Iterator[None]:
        """Count anew, with pauses."""
        draining, usage = 0, {name: [0] * len(RANGES) for name in TYPES}
        nodes = list(view.nodes.values())
        unshown: set[str] = set()
        for place, node in enumerate(nodes):
            draining += node.unschedulable
            for name, percent in usage_of(view, node).items():
                if name not in usage and len(usage) >= RESOURCES_SHOWN:
                    unshown.add(name)
                else:
                    usage.setdefault(name, [0] * len(RANGES))[tenth_of(percent)] += 1
            if place % NODES_AT_ONCE == 0:
                yield
        self.active, self.draining = len(nodes) - draining, draining
        self.usage = _by_name_part(usage)
        self.unshown = len(unshown) + len(usage) - len(self.usage)


def usage_of(view: LedgerView, node: NodeFacts) -> dict[str, int]:
    """Percent that pods of queues hold of everything a node has; 0 of what they do not use."""
    use = view.use_of(node.name)
    amounts = dict(node.allocatable.items())
    used = usage_percent(Limit(amounts), use.allocated.as_resource()) if use is not None else {}
    return {name: used.get(name, 0) for name in amounts}


def tenth_of(percent: int) -> int:
    """Index of a range: 10 percent is in the first, above 100 percent is in the last."""
    return min(len(RANGES) - 1, max(0, -(-percent // 10) - 1))


def _by_name_part(usage: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Of two resources whose names differ only in other signs, the first in order has the name."""
    found: dict[str, list[int]] = {}
    for name in sorted(usage):
        found.setdefault(name_part(name), usage[name])
    return found
