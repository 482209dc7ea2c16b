"""The choice of a node for a pod: in-tree filters, the extender's, scores. One pod, one state of the cache.

Source: pkg/scheduler/schedule_one.go (findNodesThatFitPod, evaluateNominatedNode, prioritizeNodes).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from extender.simulator.scheduler.extender_calls import (
    CallFailed,
    ExtenderServer,
    call_filter,
    call_prioritize,
    encoded_names,
)
from extender.simulator.scheduler.node_cache import NodeCache, PodInfo, Shape
from extender.simulator.scheduler.nominator import Nominator
from extender.simulator.scheduler.plugins import Fitting, Status, Statuses, status_on, statuses_of

WEIGHT = 200
"""The weight of Paddock's scores, as shipped (manifests, `scheduler-config-prioritize.yaml`)."""

SCORE_SCALE = 10
"""The factor between an extender's scores, up to 10, and a plugin's, up to 100."""

LEAST_NODES = 100
LEAST_PERCENTAGE = 5


class NoNodes(Exception):
    """A cluster without a node."""


class Unfit(Exception):
    """A pod that no node takes. ``extended``: the extender was asked, and refused what was left."""

    def __init__(self, statuses: Statuses, total: int, *, extended: bool) -> None:
        super().__init__()
        self.statuses = statuses
        self.total = total
        self.extended = extended

    def text(self, preemption: str) -> str:
        """The message of the pod's condition (framework.FitError)."""
        reasons = ", ".join(self.statuses.counts)
        text = f"0/{self.total} nodes are available"
        return f"{text}: {reasons}. {preemption}".strip() if reasons else f"{text}. {preemption}".strip()


@dataclass(slots=True)
class _Known:
    """Feasible nodes for one shape of pods, encoded for the extender."""

    #: Fitting of that shape on every node.
    fitting: Fitting
    #: Names of the feasible nodes as JSON.
    encoded: bytes
    #: Stamp of ``fitting`` when they were encoded.
    stamp: int


class NodeChoice:
    """The choice of nodes. ``percentage``: that of nodes to score, 0 for the scheduler's own rule."""

    def __init__(
        self, cache: NodeCache, nominator: Nominator, server: ExtenderServer, *, percentage: int
    ) -> None:
        self._cache = cache
        self._nominator = nominator
        self._server = server
        self._percentage = percentage
        self._known: dict[Shape, _Known] = {}
        self._next_start = 0

    def choose(self, info: PodInfo) -> str:
        """The best node. Raises `Unfit`, `NoNodes`, or `CallFailed` from the extender."""
        if not self._cache.names:
            raise NoNodes("no nodes available to schedule pods")
        nominated = info.facts.nominated
        if nominated and self._takes_nominated(info, nominated):
            return nominated
        names, encoded, statuses = self._feasible(info)
        if not names:
            raise Unfit(statuses_of(statuses), len(self._cache.names), extended=False)
        return self._best(info, self._left_by_extender(info, names, encoded, statuses))

    def _left_by_extender(
        self, info: PodInfo, names: list[str], encoded: bytes, statuses: Mapping[str, Status]
    ) -> list[str]:
        found = call_filter(self._server, info.pod.raw, encoded, names)
        if found.feasible is None:
            return names
        if not found.feasible:
            raise Unfit(_joined(statuses, found.statuses), len(self._cache.names), extended=True)
        return sorted(found.feasible)

    def _best(self, info: PodInfo, names: list[str]) -> str:
        """Return the node with the best score; ties by name, since ``names`` is sorted."""
        if len(names) == 1:
            return names[0]
        scores = self._lookup(info.shape).fitting.scores
        theirs = call_prioritize(self._server, info.pod.raw, encoded_names(names))
        if not theirs:
            return max(names, key=scores.__getitem__)
        return max(names, key=lambda name: scores[name] + theirs.get(name, 0) * WEIGHT * SCORE_SCALE)

    def _takes_nominated(self, info: PodInfo, name: str) -> bool:
        """Try the nominated node alone first. Any failure there only leads to the full search."""
        if self._cache.on_node(name) is None or self._status(info, name) is not None:
            return False
        try:
            found = call_filter(self._server, info.pod.raw, encoded_names([name]), [name])
        except CallFailed:
            return False
        return found.feasible is None or bool(found.feasible)

    def _status(self, info: PodInfo, name: str) -> Status | None:
        """The verdict on one node, counting the pods nominated to it as kube-scheduler does."""
        fitting = self._lookup(info.shape).fitting
        nominated = self._nominator.on(name, priority=info.priority, besides=info.uid)
        if nominated:
            status = status_on(fitting.shape, self._cache.nodes[name], nominated)
            if status is not None:
                return status
        return fitting.statuses.get(name)

    def _lookup(self, shape: Shape) -> _Known:
        known = self._known.get(shape)
        if known is None:
            fitting = Fitting(shape, self._cache)
            known = self._known[shape] = _Known(fitting, encoded_names(fitting.feasible), fitting.stamp)
        elif known.fitting.refresh().stamp != known.stamp:
            known.encoded, known.stamp = encoded_names(known.fitting.feasible), known.fitting.stamp
        return known

    def _feasible(self, info: PodInfo) -> tuple[list[str], bytes, Mapping[str, Status]]:
        """The nodes to offer, encoded too, and why each of the others is not among them."""
        known = self._lookup(info.shape)
        most = self._most_nodes()
        if most < len(self._cache.names):
            names, statuses = self._sample(info, most)
            return names, encoded_names(names), statuses
        held = self._held_by_nominated(info, known.fitting)
        if not held:
            return known.fitting.feasible, known.encoded, known.fitting.statuses
        names = [name for name in known.fitting.feasible if name not in held]
        return names, encoded_names(names), {**known.fitting.statuses, **held}

    def _held_by_nominated(self, info: PodInfo, fitting: Fitting) -> dict[str, Status]:
        statuses = {
            name: self._status(info, name) for name in self._nominator.nodes if name in fitting.scores
        }
        return {name: status for name, status in statuses.items() if status is not None}

    def _most_nodes(self) -> int:
        """The number of feasible nodes that is enough (numFeasibleNodesToFind)."""
        total = len(self._cache.names)
        if total < LEAST_NODES:
            return total
        percentage = self._percentage or max(LEAST_PERCENTAGE, 50 - total // 125)
        return max(LEAST_NODES, total * percentage // 100)

    def _sample(self, info: PodInfo, most: int) -> tuple[list[str], dict[str, Status]]:
        """Search from where the last pod's search ended, until enough nodes are found."""
        all_names = self._cache.names
        names: list[str] = []
        statuses: dict[str, Status] = {}
        for offset in range(len(all_names)):
            name = all_names[(self._next_start + offset) % len(all_names)]
            status = self._status(info, name)
            if status is not None:
                statuses[name] = status
            else:
                names.append(name)
                if len(names) == most:
                    break
        self._next_start = (self._next_start + len(names) + len(statuses)) % len(all_names)
        return sorted(names), statuses


def _joined(in_tree: Mapping[str, Status], extended: Statuses) -> Statuses:
    """Verdicts on nodes, with the extender's in place of earlier ones (1.32 and later)."""
    if in_tree.keys() <= extended.by_node.keys():
        return extended
    return statuses_of({**in_tree, **extended.by_node})
