"""Freed capacity reaches the pods that wait for it, whatever frees it (CYC-1).

Managed pods of two queues and unmanaged pods share nodes of a simulated cluster. They are created, end and
are resized at random.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import NodeName
from core.resource import Resource
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.scenario.reader import scenario_from
from extender.simulator.simulation import Cluster

QUIET = 200_000
"""Milliseconds after the last change. The longest back-off of an ask is 60 s."""

MAX = {"a": 4, "b": None}
"""Max of each queue in cpu."""


@dataclass(frozen=True)
class Change:
    """A change of the cluster."""

    #: ``submit``, ``end`` or ``resize``.
    kind: str
    #: Number of the pod, modulo the number of possible pods.
    number: int
    #: Seconds until the change.
    after: int


sizes = st.tuples(st.sampled_from(("a", "b", None)), st.integers(1, 3))
changes = st.builds(
    Change,
    st.sampled_from(("submit", "end", "end", "end", "resize")),
    st.integers(0, 9),
    st.sampled_from((0, 1, 5, 30)),
)


class Played:
    """A cluster, and the pods that are still to be submitted."""

    def __init__(self, nodes: list[int], pods: list[tuple[str | None, int]], *, gates: bool) -> None:
        lines = [_line(f"p{at}", queue, cpu) for at, (queue, cpu) in enumerate(pods)]
        scenario = scenario_from(_document(nodes, lines), file="s.yaml", folder=Path("/nowhere"))
        self.cluster = Cluster(replace(scenario, gates=gates))
        self._coming = list(scenario.steps[0].submit)

    def play(self, changes: list[Change]) -> None:
        """Submit most pods, play the changes, and wait until the cluster is quiet."""
        self._submit(len(self._coming) - 1)
        for change in changes:
            self._wait(change.after * 1000)
            self._happen(change)
            self.cluster.settle()
        self._wait(QUIET)

    def stuck(self) -> list[str]:
        """Pods that wait although their queue and a node have capacity for them."""
        return [pod.name for pod in self._live() if not pod.node and self._fits(pod)]

    def end(self) -> None:
        """Close the cluster."""
        self.cluster.paddock.life.end()
        self.cluster.world.loop.drain()

    def _wait(self, milliseconds: int) -> None:
        self.cluster.advance(self.cluster.clock.now + milliseconds, lambda: None)
        self.cluster.settle()

    def _submit(self, most: int) -> None:
        coming, self._coming = self._coming[:most], self._coming[most:]
        for entry in coming:
            self.cluster.submit(entry, entry.name)
            self.cluster.settle()

    def _happen(self, change: Change) -> None:
        running = [pod for pod in self._live() if pod.node]
        if change.kind == "submit":
            self._submit(1)
        elif running:
            pod = running[change.number % len(running)]
            if change.kind == "end":
                self.cluster.api.delete(pod)
            else:
                self.cluster.api.resize(pod, {"cpu": "1"})

    def _live(self) -> list[Pod]:
        return [pod for pod in self.cluster.api.live_pods() if not pod.terminal]

    def _fits(self, pod: Pod) -> bool:
        if not pod.facts.app_id:
            return False
        path = pod.facts.queue
        cap = MAX[path.removeprefix("root.")]
        used = sum(
            each.facts.size.get("vcore") for each in self._live() if each.node and each.facts.queue == path
        )
        if cap is not None and used + pod.facts.size.get("vcore") > cap * 1000:
            return False
        reserved = self.cluster.paddock.life.view.reserved_nodes
        names = [name for name in self.cluster.api.nodes if reserved.get(NodeName(name), pod.uid) == pod.uid]
        return any(self._free_on(name).covers(pod.facts.size) for name in names)

    def _free_on(self, name: str) -> Resource:
        free = self.cluster.api.nodes[NodeName(name)].facts.allocatable
        for pod in self._live():
            if pod.node == name:
                free -= pod.facts.size
        return free


def _line(name: str, queue: str | None, cpu: int) -> dict[str, Any]:
    if queue is None:
        return {"name": name, "cpu": cpu, "schedulerName": "default-scheduler"}
    return {"name": name, "cpu": cpu, "app": f"{queue}-job", "queue": f"root.{queue}"}


def _document(nodes: list[int], lines: list[dict[str, Any]]) -> str:
    queues = [
        {"name": name, **({"resources": {"max": {"vcore": cap}}} if cap else {})} for name, cap in MAX.items()
    ]
    root = {"name": "root", "submitacl": "*", "queues": queues}
    return json.dumps(
        {
            "apiVersion": "paddock.dev/v1",
            "kind": "Scenario",
            "name": "freed capacity",
            "config": {"partitions": [{"name": "default", "queues": [root]}]},
            "cluster": {"nodes": [{"name": f"n{at}", "cpu": cpu} for at, cpu in enumerate(nodes)]},
            "steps": [{"at": "0s", "submit": lines}],
        }
    )


@pytest.mark.rule("CYC-1", "CYC-7")
@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.lists(sizes, min_size=3, max_size=8),
    st.lists(changes, min_size=1, max_size=4),
    st.booleans(),
)
def test_no_pod_waits_beside_free_capacity(
    nodes: list[int], pods: list[tuple[str | None, int]], changes: list[Change], gates: bool
) -> None:
    played = Played(nodes, pods, gates=gates)
    try:
        played.play(changes)
        assert played.stuck() == []
    finally:
        played.end()
