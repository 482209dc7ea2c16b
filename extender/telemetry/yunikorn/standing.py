"""Present numbers of applications and nodes (METRIC-4, 5, 12, 13)."""

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
"""Resources of METRIC-12 that have series before any node has them."""


class ApplicationsNow:
    """Live applications by state, in total and by leaf."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.by_queue: Mapping[str, Counter[str]] = {}

    def refresh(self, view: LedgerView, shown: Callable[[str], bool]) -> Iterator[None]:
        """Count again, with pauses. ``shown``: True for a queue with series."""
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
    """Path of an application's leaf or requested leaf, or `OTHER`."""
    if application.queue is not None:
        return application.queue
    asked = asked_queue(tree, application.requested)
    return asked.path if asked is not None else OTHER


class NodesNow:
    """Nodes by state, and by usage of each resource by managed pods."""

    def __init__(self) -> None:
        self.active = self.draining = 0
        #: Nodes in each tenth, by the part of the metric's name that stands for the resource.
        self.usage: Mapping[str, list[int]] = {}
        #: Number of resources of nodes without series.
        self.unshown = 0

    def refresh(self, view: LedgerView) -> Iterator[None]:
        """Count again, with pauses."""
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
    """Return the usage of a node's resources by managed pods, in percent."""
    use = view.use_of(node.name)
    amounts = dict(node.allocatable.items())
    used = usage_percent(Limit(amounts), use.allocated.as_resource()) if use is not None else {}
    return {name: used.get(name, 0) for name in amounts}


def tenth_of(percent: int) -> int:
    """Return the index of a range. 10 percent is in the first, and more than 100 percent in the last."""
    return min(len(RANGES) - 1, max(0, -(-percent // 10) - 1))


def _by_name_part(usage: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Usage by the part of a metric's name. If two resources give the same part, the first one has it."""
    found: dict[str, list[int]] = {}
    for name in sorted(usage):
        found.setdefault(name_part(name), usage[name])
    return found
