"""Evictions and deletions in the simulated cluster: evicted pods, refusals and reports."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import pytest

from core.ids import NO_POD, PodUid
from core.ledger.effects import DeletePod, Effect, EvictPod
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.workload.budget import disruptions_left
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.report.recording import Happening
from extender.simulator.scenario.reader import scenario_from
from extender.simulator.simulation import Cluster
from tests.extender.simulator.cluster.one_node import HEAD

BUDGETS = """\
  podDisruptionBudgets:
    - {name: db, matchLabels: {tier: db}, minAvailable: 1}
"""
STEPS = """\
steps:
  - at: 0s
    submit:
      - {name: db, count: 2, app: x, queue: root.a, cpu: 1, labels: {tier: db}}
      - {name: web, app: x, queue: root.a, cpu: 1, grace: 10s, recreate: true}
      - {name: high, app: y, queue: root.a, cpu: 1}
      - {name: big, app: z, queue: root.a, cpu: 100, labels: {tier: db}}
"""


class Stage:
    """A cluster in which the pods of `STEPS` run, but for ``big``, which fits nowhere."""

    def __init__(self, budgets: str = "", *, delays: str = "") -> None:
        scenario = scenario_from(HEAD + budgets + delays + STEPS, file="s.yaml", folder=Path("/nowhere"))
        self.cluster = Cluster(scenario)
        for entry in scenario.steps[0].submit:
            for name in entry.names:
                self.cluster.submit(entry, name)
        self.cluster.settle()

    def pod(self, name: str) -> Pod:
        pod = self.cluster.find_pod(name, even_if_deleted=True)
        assert pod is not None
        return pod

    def evict(self, name: str, *, preemptor: str = "high", uid: str = "") -> EvictPod:
        pod, by = self.pod(name), self.pod(preemptor).uid if preemptor else NO_POD
        return EvictPod(PodUid(uid) or pod.uid, "default", name, by, "guarantee of root.a")

    def delete(self, name: str, *, at_once: bool = False, preemptor: str = "high") -> DeletePod:
        pod, by = self.pod(name), self.pod(preemptor).uid if preemptor else NO_POD
        return DeletePod(pod.uid, "default", name, at_once, by, purpose=Purpose.VICTIM)

    def do(self, *effects: Effect) -> None:
        """Request an effect in Paddock's name."""
        self.cluster.paddock.life.effects.extend(effects)
        self.cluster.settle()

    def outcome(self, name: str) -> EvictionOutcome | None:
        record = self.cluster.paddock.life.view.pod(self.pod(name).uid)
        assert record is not None
        return record.preemption.eviction

    @property
    def evicted(self) -> Sequence[str]:
        return [pod.name for pod in self.cluster.recorder.since.evicted]

    def happenings(self, *kinds: str) -> list[Happening]:
        return [each for each in self.cluster.recorder.timeline if each.kind in kinds]

    @property
    def allowed(self) -> int | None:
        """The budget as Paddock knows it."""
        budgets = self.cluster.paddock.life.view.budgets
        return disruptions_left(budgets, "default", {"tier": "db"})


@pytest.mark.parametrize("deletes", [False, True], ids=["evicted", "deleted"])
def test_a_pod_leaves_and_disappears_after_its_grace(deletes: bool) -> None:
    stage = Stage()
    stage.do(stage.delete("web") if deletes else stage.evict("web"))
    assert stage.pod("web").deleting
    assert stage.outcome("web") is EvictionOutcome.DONE
    assert stage.evicted == ["web"]
    stage.cluster.advance(9_999, lambda: None)
    assert stage.pod("web").exists
    stage.cluster.advance(10_000, lambda: None)
    stage.cluster.settle()
    assert not stage.pod("web").exists
    assert stage.evicted == ["web"]


def test_the_timeline_names_victim_preemptor_and_reason_before_the_copy_comes() -> None:
    stage = Stage()
    stage.do(stage.evict("web"))
    happenings = [
        (each.kind, each.pod, each.what, each.why) for each in stage.happenings("evicted", "submitted")
    ]
    assert happenings[-2:] == [
        ("evicted", "web", "evicted from n1", "for high: guarantee of root.a"),
        ("submitted", "web.1", "submitted", ""),
    ]


def test_an_eviction_without_a_preemptor_gives_the_reason_alone() -> None:
    stage = Stage()
    stage.do(stage.evict("web", preemptor=""))
    assert [each.why for each in stage.happenings("evicted")] == ["guarantee of root.a"]


def test_a_pod_evicted_twice_leaves_once() -> None:
    stage = Stage()
    stage.do(stage.evict("web"), stage.evict("web"))
    assert stage.evicted == ["web"]
    assert len(stage.happenings("evicted")) == 1


def test_a_deletion_at_once_knows_no_grace() -> None:
    stage = Stage()
    stage.do(stage.delete("web", at_once=True))
    assert not stage.pod("web").exists
    assert stage.evicted == ["web"]


def test_a_deletion_at_once_ends_one_that_has_begun() -> None:
    stage = Stage()
    stage.do(stage.evict("web"))
    stage.do(stage.delete("web", at_once=True))
    assert not stage.pod("web").exists
    assert stage.evicted == ["web"]
    assert stage.cluster.find_pod("web.2") is None


def test_another_pod_of_the_name_is_left_alone() -> None:
    stage = Stage()
    stage.do(stage.evict("web", uid="uid-of-its-predecessor"))
    assert not stage.pod("web").deleting
    assert stage.evicted == []


def test_a_placeholder_that_is_deleted_is_no_victim() -> None:
    """A pod without an entry in the scenario was created by Paddock itself."""
    stage = Stage()
    body = deepcopy(stage.pod("web").body)
    body["metadata"]["name"] = "ph"
    placeholder = stage.cluster.api.create_pod(body, entry=None, root="ph", created=0)
    stage.do(DeletePod(placeholder.uid, "default", "ph", at_once=True, purpose=Purpose.REPLACEMENT))
    assert not placeholder.exists
    assert (stage.evicted, stage.happenings("evicted")) == ([], [])
    assert [each.pod for each in stage.happenings("deleted")] == ["ph"]


# -- budgets -----------------------------------------------------------------------------------------------


def test_a_budget_lets_one_go_and_spares_the_other() -> None:
    stage = Stage(BUDGETS)
    assert stage.allowed == 1
    stage.do(stage.evict("db-0"), stage.evict("db-1"))
    assert stage.evicted == ["db-0"]
    assert not stage.pod("db-1").deleting
    assert stage.outcome("db-1") is None
    (spared,) = stage.happenings("spared")
    assert (spared.pod, spared.why) == ("db-1", "for high: budget db allows no disruption")
    assert stage.allowed == 0


def test_a_budget_allows_more_when_more_run() -> None:
    stage = Stage(BUDGETS)
    entry = next(each for each in stage.cluster.scenario.steps[0].submit if each.name == "db")
    stage.cluster.submit(entry, "db-2")
    stage.cluster.settle()
    assert stage.allowed == 2


def test_a_deletion_asks_no_budget() -> None:
    stage = Stage(BUDGETS)
    stage.do(stage.delete("db-0"), stage.delete("db-1"))
    assert stage.evicted == ["db-0", "db-1"]


def test_a_pod_that_does_not_run_may_always_go() -> None:
    stage = Stage(BUDGETS.replace("minAvailable: 1", "maxUnavailable: 0"))
    stage.do(stage.evict("big"), stage.evict("db-0"))
    assert stage.evicted == ["big"]


def test_a_pod_under_two_budgets_is_not_evicted() -> None:
    more = BUDGETS + "    - {name: all, matchLabels: {}, maxUnavailable: 5}\n"
    stage = Stage(more)
    stage.do(stage.evict("db-0"), stage.evict("web"))
    assert stage.evicted == ["web"]
    assert [each.why for each in stage.happenings("spared")] == ["for high: more than one budget: all, db"]


def test_a_restart_reads_the_budgets_again() -> None:
    stage = Stage(BUDGETS)
    stage.do(stage.evict("db-0"))
    stage.cluster.paddock.restart()
    assert stage.allowed == 0
    stage.cluster.settle()
    assert stage.outcome("db-1") is None


def test_a_late_update_of_a_budget_is_late() -> None:
    stage = Stage(BUDGETS, delays="delays: {watch: 2s}\n")
    for at, allowed in ((1_999, 0), (2_000, 1)):
        stage.cluster.advance(at, lambda: None)
        stage.cluster.settle()
        assert stage.allowed == allowed
