"""Concurrent replacements: their number and order. A stuck one does not delay others for long."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.decisions.admission import NODE_RESERVED
from core.ids import NodeName, PodUid
from core.ledger import effects as do
from core.ledger import events as on
from core.ledger.effects import Effect
from core.ledger.gangs import matching
from core.ledger.gangs.matching import COUNTED_FOR
from core.ledger.outcomes import Purpose
from core.reasons import SentRefusal
from core.workload.pod import OWN_GATE, REPLACES
from tests.builders import make_gang, make_ledger, make_node, make_queue
from tests.core.ledger.gangs.play import GangPlay


@pytest.fixture(autouse=True)
def three_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "AT_ONCE", 3)


class Cluster(GangPlay):
    """A cluster that delays deletions of placeholders.

    They wait in ``held`` for `let`, and those of gangs in ``stuck`` for longer.
    """

    def __init__(self, nodes: int = 1) -> None:
        super().__init__(make_ledger(make_queue("root.a"), nodes=nodes))
        self.held: dict[PodUid, Effect] = {}
        self.stuck: set[str] = set()

    def gang(self, app: str, members: int, **facts: object) -> None:
        self.now += 1
        for number in range(members):
            name = f"{app}-{number}"
            self.create(name, app=app, gang=make_gang(members, cpu=100), cpu=100, task_group="g", **facts)

    def let(self, most: int = 1) -> None:
        """Perform some of the deletions of placeholders, in the order of their requests."""
        for _ in range(most):
            free = (uid for uid in self.held if self.pods[uid].app_id not in self.stuck)
            uid = next(free, None)
            if uid is not None:
                super()._carry_out(self.held.pop(uid), reached=True)

    def linked(self, since: int = 0) -> list[str]:
        """Members in the order in which they were linked with a placeholder."""
        writes = [each for each in self.done[since:] if isinstance(each, do.WriteRecord)]
        return [each.name for each in writes if dict(each.entries).get(REPLACES)]

    def _carry_out(self, effect: Effect, *, reached: bool) -> None:
        if not isinstance(effect, do.DeletePod):
            super()._carry_out(effect, reached=reached)
        elif effect.uid in self.pods:
            self.held.setdefault(effect.uid, effect)


def played(*gangs: tuple[str, int], **facts: object) -> Cluster:
    """A gang whose placeholders all have their nodes, before any deletion."""
    cluster = Cluster()
    for app, members in gangs:
        cluster.gang(app, members, **facts)
    cluster.bind_placeholders()
    return cluster


# -- how many ------------------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-12")
@pytest.mark.parametrize("gates", [(), (OWN_GATE,)], ids=["refused", "gated"])
def test_the_next_member_is_linked_when_one_has_its_capacity(gates: tuple[str, ...]) -> None:
    cluster = played(("a", 5), gates=gates)
    assert cluster.linked() == ["a-0", "a-1", "a-2"]
    cluster.let()
    assert cluster.linked() == ["a-0", "a-1", "a-2", "a-3"]
    cluster.let(2)
    assert cluster.linked() == ["a-0", "a-1", "a-2", "a-3", "a-4"]


@pytest.mark.rule("GANG-12")
def test_members_with_capacity_hold_no_pod_up_until_they_are_bound() -> None:
    cluster = played(("a", 20))
    while cluster.held:
        cluster.let()
    assert len(cluster.linked()) == 20
    assert cluster.placeholders() == []


@pytest.mark.rule("GANG-13")
def test_members_beyond_the_last_placeholder_are_asks_like_others() -> None:
    cluster = Cluster()
    for number in range(6):
        cluster.create(f"a-{number}", app="a", gang=make_gang(4, cpu=100), cpu=100, task_group="g")
    cluster.bind_placeholders()
    cluster.let(4)
    assert cluster.admitted("uid-a-5")
    assert cluster.counts("a") == [(4, 0, 0)]


@pytest.mark.rule("GANG-11")
def test_one_that_goes_before_its_placeholder_lets_the_next_begin() -> None:
    cluster = played(("a", 5))
    cluster.delete("uid-a-1")
    assert cluster.linked() == ["a-0", "a-1", "a-2", "a-3"]


# -- in which order ------------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-12")
def test_a_gang_that_has_begun_goes_on_before_the_next_begins() -> None:
    cluster = played(("a", 5), ("b", 5))
    cluster.let(5)
    assert cluster.linked() == [f"a-{at}" for at in range(5)] + ["b-0", "b-1", "b-2"]


@pytest.mark.rule("GANG-12")
def test_kube_scheduler_comes_to_those_of_higher_priority_first() -> None:
    cluster = Cluster()
    cluster.gang("a", 5)
    cluster.gang("b", 5)
    cluster.gang("c", 5, priority=7)
    cluster.bind_placeholders()
    cluster.let(5)
    assert cluster.linked()[3:8] == [f"c-{at}" for at in range(5)]


# -- what is stuck -------------------------------------------------------------------------------------------


def with_one_stuck() -> Cluster:
    """A gang whose placeholders are being deleted but do not disappear."""
    cluster = Cluster()
    cluster.stuck.add("a")
    cluster.gang("a", 20)
    return cluster


@pytest.mark.rule("GANG-12")
def test_placeholders_that_do_not_go_hold_other_gangs_up_once_for_a_moment() -> None:
    cluster = with_one_stuck()
    cluster.gang("b", 9)
    cluster.bind_placeholders()
    cluster.wait(COUNTED_FOR - 1)
    assert cluster.linked() == ["a-0", "a-1", "a-2"]
    cluster.wait(1)
    assert cluster.linked()[3:] == ["b-0", "b-1", "b-2"]
    cluster.let(9)
    assert cluster.linked()[3:12] == [f"b-{at}" for at in range(9)]


@pytest.mark.rule("GANG-12")
def test_a_gang_that_is_stuck_goes_on_when_no_other_waits() -> None:
    cluster = with_one_stuck()
    cluster.bind_placeholders()
    cluster.wait(2 * COUNTED_FOR)
    assert len(cluster.linked()) == 9


@pytest.mark.rule("GANG-12")
def test_one_is_stuck_no_longer_when_its_placeholders_go_after_all() -> None:
    cluster = Cluster()
    cluster.stuck.add("a")
    cluster.gang("a", 7)
    cluster.gang("b", 7)
    cluster.bind_placeholders()
    cluster.wait(COUNTED_FOR)
    cluster.stuck.clear()
    cluster.let(14)
    assert cluster.placeholders() == []
    assert sorted(cluster.linked()) == [f"{app}-{at}" for app in "ab" for at in range(7)]


@pytest.mark.rule("GANG-12")
def test_writes_that_fail_hold_no_pod_up() -> None:
    cluster = Cluster()
    carry_out: Callable[..., None] = cluster._carry_out

    def except_those_of_a(effect: Effect, *, reached: bool) -> None:
        carry_out(effect, reached=reached and not (isinstance(effect, do.WriteRecord) and effect.name < "b"))

    cluster._carry_out = except_those_of_a  # type: ignore[method-assign]
    cluster.gang("a", 9)
    cluster.gang("b", 3)
    cluster.bind_placeholders()
    assert cluster.linked()[3:] == ["b-0", "b-1", "b-2"]


def test_it_is_known_when_the_next_may_begin() -> None:
    """A clock that jumps from timer to timer must stop at this moment."""
    cluster = played(("a", 5))
    linked = cluster.now
    due = cluster.ledger.view.next_due()
    assert due is not None
    assert due <= linked + COUNTED_FOR
    cluster.now = linked + COUNTED_FOR
    cluster.tell(on.TimePassed())
    assert len(cluster.linked()) == 5


# -- restarts ------------------------------------------------------------------------------------------------


@pytest.mark.rule("GANG-20")
def test_those_that_had_begun_before_a_restart_count() -> None:
    cluster = played(("a", 8))
    before = len(cluster.done)
    cluster.restarted(make_ledger(make_queue("root.a"), listed=False))
    assert cluster.linked(before) == []
    cluster.let()
    assert cluster.linked(before) == ["a-3"]


@pytest.mark.rule("GANG-20")
def test_an_instance_that_takes_over_begins_no_more_than_the_one_before() -> None:
    cluster = played(("a", 8), ("b", 2))
    before = len(cluster.done)
    cluster.tell(on.ActingEnded())
    cluster.let()
    assert cluster.linked(before) == []
    cluster.tell(on.ActingBegan())
    assert cluster.linked(before) == ["a-3"]


# -- whether it is tried in time -----------------------------------------------------------------------------


def offered_others(cluster: Cluster, uid: str) -> None:
    """kube-scheduler tries a pod and does not offer the pod's slot."""
    cluster.tell(on.FilterCalled(PodUid(uid)))
    sent = SentRefusal(NODE_RESERVED.text, NODE_RESERVED.code, 1)
    cluster.tell(on.PodRefused(PodUid(uid), NODE_RESERVED, sent))


@pytest.mark.rule("GANG-12")
def test_one_that_is_tried_before_it_is_nominated_is_woken_when_it_is() -> None:
    cluster = played(("a", 1))
    cluster.failing.add("NominateNode")
    nominations: list[Effect] = []
    carry_out: Callable[..., None] = cluster._carry_out

    def but_nominations(effect: Effect, *, reached: bool) -> None:
        if isinstance(effect, do.NominateNode):
            nominations.append(effect)
        else:
            carry_out(effect, reached=reached)

    cluster._carry_out = but_nominations  # type: ignore[method-assign]
    cluster.let()
    offered_others(cluster, "uid-a-0")
    woken = [each for each in cluster.done if isinstance(each, do.WakePod)]
    cluster.tell(on.NodeNominated(PodUid("uid-a-0"), NodeName("n1"), True, Purpose.REPLACEMENT))
    assert len([each for each in cluster.done if isinstance(each, do.WakePod)]) == len(woken) + 1
    cluster.wait(30)
    assert cluster.ledger.view.gang_tally.cancelled == 0
    assert len(nominations) >= 1


@pytest.mark.rule("GANG-12")
def test_one_that_is_refused_its_node_again_has_ten_seconds() -> None:
    cluster = played(("a", 1))
    cluster.let()
    offered_others(cluster, "uid-a-0")
    cluster.wait(3)
    offered_others(cluster, "uid-a-0")
    cluster.wait(2)
    offered_others(cluster, "uid-a-0")
    cluster.wait(7)
    assert cluster.ledger.view.gang_tally.cancelled == 0
    cluster.wait(2)
    assert cluster.ledger.view.gang_tally.cancelled == 1


@pytest.mark.rule("GANG-12")
def test_asks_whose_turn_was_counted_there_take_no_capacity_away() -> None:
    """Others may be admitted while one node has capacity for one of them, and be placed on another node."""
    cluster = Cluster(nodes=2)
    cluster.tell(on.ObjectObserved(on.NODES, make_node("n1", cpu=100)))
    cluster.gang("a", 1)
    cluster.bind_placeholders()
    cluster.let()
    other = cluster.create("other", app="x", cpu=100)
    record = cluster.ledger.view.pod(other)
    assert record is not None
    assert cluster.admitted(other)
    record.admission.noted = NodeName("n1")
    cluster.tell(on.PodObserved(replace(cluster.pods[other], version=99)))
    assert cluster.ledger.view.free_on(NodeName("n1"))["vcore"] < 0
    cluster.wait(5)
    assert cluster.ledger.view.gang_tally.cancelled == 0
    cluster.create("stranger", scheduler_name="x", app="", queue="", node="n1", cpu=100)
    assert cluster.ledger.view.gang_tally.cancelled == 1
