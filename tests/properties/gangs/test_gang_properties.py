"""Gangs in a simulated cluster: all or none, counted once, with no stuck pod and no remainder.

Random gangs of both styles, nodes, quotas, unmanaged pods, deletions, losses of nodes and crashes; see
`Cluster`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import AppId, NodeName
from core.reasons import Code
from core.resource import Resource
from core.workload.gangs.phase import GangPhase
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.scenario.model import PodEntry, Scenario
from extender.simulator.scenario.reader import scenario_from
from extender.simulator.simulation import Cluster

TIMEOUT = 20
QUIET = 200_000
"""Milliseconds after the last change, in which timers expire and applications complete."""


@dataclass(frozen=True)
class Happens:
    """``which``: number of the pod, modulo the number of possible pods; ``after``: seconds until then."""

    what: str
    which: int
    after: int


WHATS = ("submit", "submit", "delete", "stranger", "add node", "lose node", "restart", "kill")


@st.composite
def gangs(draw: st.DrawFn, number: int) -> list[dict[str, Any]]:
    """The ``submit`` lines of one gang. Its members may be more, fewer or larger than declared."""
    groups = [
        {
            "name": f"g{at}",
            "minMember": draw(st.integers(1, 3)),
            "minResource": {"cpu": draw(st.integers(1, 2))},
        }
        for at in range(draw(st.integers(1, 2)))
    ]
    style = draw(st.sampled_from(("Soft", "Hard")))
    policy = f"placeholderTimeoutInSeconds={TIMEOUT} gangSchedulingStyle={style}"
    return [
        {
            "name": f"a{number}-{group['name']}",
            "count": draw(st.integers(1, 4)),
            "app": f"a{number}",
            "queue": "root.a",
            "cpu": max(1, group["minResource"]["cpu"] + draw(st.sampled_from((-1, 0, 0, 0, 1)))),
            "taskGroup": group["name"],
            "taskGroups": groups,
            "schedulingPolicy": policy,
        }
        for group in groups
    ]


@st.composite
def worlds(draw: st.DrawFn) -> Scenario:
    """A world whose only step submits later pods. See `History`."""
    quota = draw(st.sampled_from((None, 3, 4, 6)))
    queue = {"name": "a"} if quota is None else {"name": "a", "resources": {"max": {"vcore": quota}}}
    root = {"name": "root", "submitacl": "*", "queues": [queue]}
    document = {
        "apiVersion": "paddock.dev/v1",
        "kind": "Scenario",
        "name": "gangs",
        "config": {"partitions": [{"name": "default", "queues": [root]}]},
        "cluster": {"nodes": [{"name": f"n{at}", "cpu": draw(st.integers(1, 4))} for at in range(2)]},
        "steps": [
            {
                "at": "0s",
                "submit": [line for at in range(draw(st.integers(1, 3))) for line in draw(gangs(at))],
                "addNodes": [{"name": f"more{at}", "cpu": 2} for at in range(2)],
            }
        ],
    }
    scenario = scenario_from(json.dumps(document), file="s.yaml", folder=Path("/nowhere"))
    return replace(scenario, gates=draw(st.booleans()))


histories = st.lists(
    st.builds(Happens, st.sampled_from(WHATS), st.integers(0, 7), st.sampled_from((0, 1, 5, 25))), max_size=9
)


class History:
    """A cluster, and its history."""

    def __init__(self, scenario: Scenario) -> None:
        (step,) = scenario.steps
        self.cluster = Cluster(scenario)
        self._coming = [(entry, name) for entry in step.submit for name in entry.names]
        self._nodes = list(step.add_nodes)
        self._strangers = 0
        self._stranger = _plain(step.submit[0])

    def play(self, happens: list[Happens]) -> None:
        self._submit(len(self._coming) // 2)
        self.settle()
        for each in happens:
            self.wait(each.after * 1000)
            self._happen(each)
            self.settle()
        self._submit(len(self._coming))
        self.wait(QUIET)

    def wait(self, milliseconds: int) -> None:
        self.cluster.advance(self.cluster.clock.now + milliseconds, self.check)
        self.settle()

    def settle(self) -> None:
        self.cluster.settle()
        self.check()

    def _submit(self, most: int) -> None:
        coming, self._coming = self._coming[:most], self._coming[most:]
        for entry, name in coming:
            self.cluster.submit(entry, name)

    def _happen(self, each: Happens) -> None:
        cluster, api = self.cluster, self.cluster.api
        match each.what:
            case "submit":
                self._submit(1)
            case "delete" if pods := self.live():
                api.delete(pods[each.which % len(pods)])
            case "stranger":
                self._strangers += 1
                cluster.submit(self._stranger, f"stranger-{self._strangers}")
            case "add node" if self._nodes:
                cluster.add_nodes(self._nodes.pop())
            case "lose node" if len(api.nodes) > 1:
                api.remove_node(sorted(api.nodes)[each.which % len(api.nodes)])
            case "restart":
                cluster.paddock.restart()
            case "kill":
                effects = ("CreatePlaceholder", "WriteRecord", "DeletePod", "PostBinding")
                cluster.paddock.kill_after(effects[each.which % 4], 1 + each.which // 4)

    # -- what must hold at every moment ----------------------------------------------------------------------

    def live(self) -> list[Pod]:
        return [pod for pod in self.cluster.api.live_pods() if not pod.terminal]

    def placeholders(self) -> list[Pod]:
        return [pod for pod in self.live() if pod.entry is None]

    def check(self) -> None:
        self._usage_is_what_is_on_nodes()
        for pod in self.live():
            if pod.entry is None:
                assert self.cluster.api.pods[pod.facts.owner].exists, pod.name
            elif pod.node and self.phase(pod) is GangPhase.RESERVING:
                raise AssertionError(f"{pod.name} runs before its gang has started")

    def _usage_is_what_is_on_nodes(self) -> None:
        """A placeholder and its member are never both charged, and usage never exceeds the max."""
        queue = self.cluster.paddock.life.view.tree.get("root.a")
        assert queue is not None
        on_nodes = [pod.facts.size for pod in self.live() if pod.node and pod.facts.app_id]
        assert queue.allocated.as_resource() == sum(on_nodes, Resource({}))
        if queue.max is not None:
            held = (queue.allocated.as_resource() + queue.reserved.as_resource()).get("vcore")
            assert held <= (queue.max.get("vcore") or 0)

    def phase(self, pod: Pod) -> GangPhase | None:
        application = self.cluster.paddock.life.view.application(AppId(pod.facts.app_id, pod.namespace))
        gang_progress = application.gang_progress if application is not None else None
        return gang_progress.phase if gang_progress is not None else None

    # -- what must hold when all is quiet --------------------------------------------------------------------

    def stuck(self) -> Iterator[str]:
        """Pods that wait although they fit, other than for placeholders or for a refused gang."""
        for pod in self.live():
            if not pod.node and not self._has_reason(pod) and self._fits(pod):
                yield pod.name

    def _has_reason(self, pod: Pod) -> bool:
        application = self.cluster.paddock.life.view.application(AppId(pod.facts.app_id, pod.namespace))
        if application is not None and application.refusal is not None:
            return application.refusal.code is Code.GANG_TOO_LARGE
        return pod.entry is not None and self.phase(pod) is GangPhase.RESERVING

    def _fits(self, pod: Pod) -> bool:
        queue = self.cluster.paddock.life.view.tree.get("root.a")
        assert queue is not None
        wanted = queue.allocated.as_resource() + pod.facts.size
        cap = queue.max.get("vcore") if queue.max is not None and pod.facts.app_id else None
        if cap is not None and wanted.get("vcore") > cap:
            return False
        reserved = self.cluster.paddock.life.view.reserved_nodes
        names = [name for name in self.cluster.api.nodes if reserved.get(NodeName(name), pod.uid) == pod.uid]
        return any(self._free_on(name).covers(pod.facts.size) for name in names)

    def _free_on(self, name: str) -> Resource:
        free = self.cluster.api.nodes[NodeName(name)].facts.allocatable
        for pod in self.live():
            if pod.node == name:
                free -= pod.facts.size
        return free

    def half_reserved(self) -> set[str]:
        """Applications that hold capacity with placeholders."""
        return {pod.facts.app_id for pod in self.placeholders() if pod.node}

    def none_left(self) -> None:
        """Assert that no pod is left after the deletion of all but placeholders."""
        for pod in self.live():
            if pod.entry is not None:
                self.cluster.api.delete(pod)
        self.settle()


def _plain(entry: PodEntry) -> PodEntry:
    """An unmanaged pod of this size."""
    plain = PodEntry(line=1, name="stranger", names=(), scheduler_name="default-scheduler")
    return replace(plain, requests=entry.requests)


@contextmanager
def played(scenario: Scenario, happens: list[Happens]) -> Iterator[History]:
    history = History(scenario)
    try:
        history.play(happens)
        yield history
    finally:
        history.cluster.paddock.life.end()
        history.cluster.world.loop.drain()


@pytest.mark.rule("GANG-9", "GANG-12", "GANG-14")
@settings(deadline=None, max_examples=150)
@given(worlds(), histories)
def test_all_or_none_counted_once_and_no_pod_is_stuck(scenario: Scenario, happens: list[Happens]) -> None:
    with played(scenario, happens) as history:
        assert history.half_reserved() == set()
        assert list(history.stuck()) == []
        history.none_left()
        assert history.placeholders() == []
        history.wait(60_000)
        queue = history.cluster.paddock.life.view.tree.get("root.a")
        assert queue is not None
        assert queue.allocated.as_resource() == Resource({})
