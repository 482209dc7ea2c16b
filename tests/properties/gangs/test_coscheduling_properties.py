"""All or none for pod groups that lose members, crash and compete for capacity (COS-5, COS-6).

Histories are scenarios, played by the simulator. The ledger is checked at each instant.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.ledger.view import LedgerView
from core.workload.pod_group import HOLDING, PLACED, Group, MemberPhase, standing_of_group
from core.workload.pod_group_phase import AttemptPhase, GroupPhase
from extender.simulator.paddock import Paddock
from extender.simulator.run import run_scenario
from extender.simulator.scenario.reader import scenario_from
from extender.simulator.scheduler.scheduler import Server

SLOW = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
QUIET = 700
"""Seconds after the last step: longer than the longest back-off."""

NAMES = ("g", "h", "i")
PORT = {
    "containers": [
        {
            "name": "main",
            "image": "pause",
            "ports": [{"containerPort": 80, "hostPort": 80}],
            "resources": {"requests": {"cpu": "1"}},
        }
    ]
}


@dataclass
class Plan:
    """A scenario in the making. ``alive``: members that may be deleted."""

    nodes: list[dict[str, Any]]
    least: dict[str, int]
    ported: frozenset[str]
    steps: list[dict[str, Any]] = field(default_factory=list)
    alive: list[str] = field(default_factory=list)
    made: int = 0

    def member(self, group: str) -> dict[str, Any]:
        name = f"{group}-{self.made}"
        self.made += 1
        self.alive.append(name)
        pod: dict[str, Any] = {"name": name, "app": group, "queue": "root.a", "cpu": 1}
        pod["podGroup"] = {"name": group, "minAvailable": self.least[group]}
        if group in self.ported:
            pod["spec"] = PORT
        return pod

    def single(self, seconds: int) -> dict[str, Any]:
        self.made += 1
        return {"name": f"s-{self.made}", "app": "s", "queue": "root.b", "cpu": 1, "runFor": f"{seconds}s"}

    def text(self, *, gates: bool, bind: str) -> str:
        last = int(self.steps[-1]["at"].removesuffix("s")) if self.steps else 0
        return yaml.safe_dump(
            {
                "apiVersion": "paddock.dev/v1",
                "kind": "Scenario",
                "name": "any history",
                "gates": gates,
                "delays": {"bind": bind},
                "config": {"partitions": [{"name": "default", "queues": [QUEUES]}]},
                "cluster": {"nodes": self.nodes},
                "steps": [*self.steps, {"at": f"{last + QUIET}s"}],
            }
        )


QUEUES = {"name": "root", "submitacl": "*", "queues": [{"name": "a"}, {"name": "b"}]}


@st.composite
def plans(draw: st.DrawFn, *, crashes: bool = True) -> Plan:
    count = draw(st.integers(1, 3))
    nodes = [{"name": f"n{at}", "cpu": draw(st.integers(1, 3))} for at in range(count)]
    least = {name: draw(st.integers(1, 4)) for name in NAMES}
    ported = draw(st.frozensets(st.sampled_from(NAMES), max_size=1))
    plan = Plan(nodes, least, ported)
    actions = ["members", "members", "members", "single", "delete", "node"]
    actions += ["restart", "restartScheduler", "kill"] if crashes else []
    at = 0
    for _ in range(draw(st.integers(3, 10))):
        at += draw(st.sampled_from([0, 1, 3, 12, 20]))
        plan.steps.append({"at": f"{at}s", **_step(draw, plan, draw(st.sampled_from(actions)))})
    return plan


def _step(draw: st.DrawFn, plan: Plan, action: str) -> dict[str, Any]:
    match action:
        case "members":
            groups = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6))
            return {"submit": [plan.member(group) for group in groups]}
        case "single":
            return {"submit": [plan.single(draw(st.integers(1, 20)))]}
        case "node":
            plan.made += 1
            return {"addNodes": [{"name": f"late-{plan.made}", "cpu": 1}]}
        case "delete" if plan.alive:
            return {"delete": [plan.alive.pop(draw(st.integers(0, len(plan.alive) - 1)))]}
        case "kill":
            effect = draw(st.sampled_from(["PostBinding", "WakePod", "OpenGate"]))
            return {"kill": {"after": effect, "nth": draw(st.integers(1, 3))}}
        case "restart" | "restartScheduler":
            return {action: True}
        case _:
            return {}


@dataclass
class Seen:
    """The ledger at the last instant."""

    groups: dict[str, Group] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    free: int = 0
    trace: list[str] = field(default_factory=list)
    now: float = 0.0

    def check(self, view: LedgerView, now: float) -> None:
        self.now = now
        self.groups = {group.key.name: group for group in view.pod_groups()}
        self.held = {
            name: group.count(*HOLDING) + sum(map(view.has_turn, group.phases))
            for name, group in self.groups.items()
        }
        self.free = sum(max(0, view.free_on(node).get("vcore", 0)) // 1000 for node in view.nodes)


def played(plan: Plan, *, gates: bool, bind: str = "0s") -> Seen:
    """The end of a history, with the rules checked at each instant on the way."""
    found: list[Server] = []

    def between(server: Server) -> Server:
        found.append(server)
        return server

    seen = Seen()

    def watch(_: int, __: int) -> None:
        (paddock,) = found
        assert isinstance(paddock, Paddock)
        seen.check(paddock.life.view, paddock.life.engine.now)
        for group in seen.groups.values():
            check(group)

    scenario = scenario_from(plan.text(gates=gates, bind=bind), file="s.yaml", folder=Path("/nowhere"))
    run_scenario(scenario, watch=watch, between=between)
    return seen


def check(group: Group) -> None:
    """Check a pod group with too few members on nodes: it ran before, or was reported as degraded."""
    if group.open or not group.count(*PLACED):
        assert group.degraded_since is None
        return
    unfinished = group.there > group.count(*PLACED)
    assert group.phase is GroupPhase.STARTED or group.degraded_since is not None or not unfinished, (
        standing_of_group(group)
    )


def check_quiet(seen: Seen) -> None:
    """A pod group that has not started holds capacity only in an attempt. Degraded ones are reported (COS-6).

    A group that fits no node is tried again after each back-off, so the end may be during an attempt.
    """
    for name, group in seen.groups.items():
        if not group.open:
            if group.attempt_phase is AttemptPhase.NONE:
                assert seen.held[name] == 0, (name, group)
            else:
                assert seen.now < max(group.wait_until or 0.0, group.leased or 0.0), (name, group)
            assert group.degraded_since is None or group.phase is GroupPhase.REPORTED
            assert group.counts[MemberPhase.POSTING] == 0


@settings(SLOW, max_examples=150)
@given(plan=plans(), gates=st.booleans(), bind=st.sampled_from(["0s", "0s", "700ms"]))
def test_at_quiet_enough_members_are_on_nodes_or_none_holds_capacity(
    plan: Plan, gates: bool, bind: str
) -> None:
    check_quiet(played(plan, gates=gates, bind=bind))


@settings(SLOW, max_examples=150)
@given(plan=plans(), gates=st.booleans())
def test_at_quiet_no_group_waits_that_has_capacity(plan: Plan, gates: bool) -> None:
    seen = played(plan, gates=gates)
    for name, group in seen.groups.items():
        if group.complete and not group.open and name not in plan.ported:
            needed = group.min_available - group.held
            others = any(other in plan.ported for other in seen.groups)
            assert seen.free < needed or others, (name, group)


@settings(SLOW, max_examples=60)
@given(plan=plans(crashes=False), gates=st.booleans())
def test_without_a_crash_no_group_is_left_in_part(plan: Plan, gates: bool) -> None:
    for group in played(plan, gates=gates).groups.values():
        assert group.open or group.phase is GroupPhase.STARTED or not group.count(*PLACED)
