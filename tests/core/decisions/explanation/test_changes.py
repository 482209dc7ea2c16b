"""The smallest change that would free a pod, by example. `tests.histories.explanation` has random states."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from core.decisions.explanation import playing
from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.values import Barrier, Remedies, Remedy
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.trial.change import Change
from core.queues.limit_state import LimitKind
from core.queues.properties import SORT_POLICY
from core.reasons import Code
from core.workload.gangs.gang import PodGroup
from core.workload.nodes.affinity import Constraints, Requirement, Term
from core.workload.pod import OWN_GATE
from tests.builders import START, make_ledger, make_node, make_queue
from tests.core.decisions.explanation.scenes import ASK, BARRIERS, LIMITED, SCENES, cycled, limited, observed
from tests.picture import picture_of

A = "root.a"


def remedies(ledger: Ledger) -> Remedies:
    found = explain_at_once(cycled(ledger).view, ASK, now=START)
    assert found is not None
    assert found.remedies is not None
    return found.remedies


def by_kind(ledger: Ledger) -> tuple[list[Change], list[Change]]:
    """Changes that raise or add something, and changes that end pods."""
    changes = remedies(ledger).changes
    return [each for each in changes if not each.ended], [each for each in changes if each.ended]


def raises(ledger: Ledger) -> dict[tuple[str, str, str], int]:
    ((only,), _) = by_kind(ledger)
    assert only.node is None
    return {(each.key.path, each.key.name, each.key.resource): each.by for each in only.raises}


def full(cap: int = 1000, **queue: Mapping[str, int]) -> Ledger:
    """A leaf with a max, and a pod that uses 1000 of it."""
    ledger = make_ledger(make_queue(A, max={"vcore": cap}, **queue))
    observed(ledger, "runs", node="n1", app="first", created=1.0)
    return ledger


# -- raised limits -------------------------------------------------------------------------------------------


@pytest.mark.rule("QUO-7")
def test_one_limit_is_raised_by_what_is_missing() -> None:
    ledger = full(1200)
    observed(ledger, "ask", app="mine", cpu=700)
    assert raises(ledger) == {(A, "", "vcore"): 500}


@pytest.mark.rule("CYC-4")
def test_what_pods_before_it_would_take_is_a_part() -> None:
    ledger = full()
    for at in range(3):
        observed(ledger, f"p{at}", app="older", cpu=200, created=float(at))
    observed(ledger, "ask", app="mine", cpu=700, created=9.0)
    assert raises(ledger) == {(A, "", "vcore"): 3 * 200 + 700}


@pytest.mark.rule("CYC-7")
def test_a_larger_pod_before_it_is_passed_by() -> None:
    ledger = full()
    observed(ledger, "large", app="older", cpu=5000, created=1.0)
    observed(ledger, "ask", app="mine", cpu=700, created=9.0)
    assert raises(ledger) == {(A, "", "vcore"): 700}


def test_every_limit_that_binds_is_raised() -> None:
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 1500, "memory": 3}),
        make_queue("root.p.a", max={"vcore": 1200}),
    )
    observed(ledger, "runs", queue="root.p.a", node="n1", app="first")
    observed(ledger, "ask", queue="root.p.a", app="mine", cpu=1000, memory=4)
    assert raises(ledger) == {
        ("root.p", "", "memory"): 1,
        ("root.p", "", "vcore"): 500,
        ("root.p.a", "", "vcore"): 800,
    }


def test_a_limit_that_binds_only_after_others_are_raised_is_found() -> None:
    """The older pod takes what its parent has left."""
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 2000}), make_queue("root.p.a", max={"vcore": 500})
    )
    observed(ledger, "runs", queue="root.p.a", node="n1", app="first", cpu=500)
    observed(ledger, "older", queue="root.p.a", app="older", cpu=1000, created=1.0)
    observed(ledger, "ask", queue="root.p.a", app="mine", cpu=1000, created=2.0)
    assert raises(ledger) == {("root.p", "", "vcore"): 500, ("root.p.a", "", "vcore"): 2000}


@pytest.mark.rule("UGM-8")
@pytest.mark.parametrize("kind", ["user", "group"])
def test_a_limit_of_a_user_or_group_is_raised(kind: str) -> None:
    ledger = make_ledger(limited(kind, max=1000))
    observed(ledger, "runs", node="n1", app="first", identity=LIMITED)
    observed(ledger, "ask", app="second", identity=LIMITED, cpu=300)
    name = "alice" if kind == "user" else "dev"
    assert raises(ledger) == {(A, name, "vcore"): 300}


@pytest.mark.rule("QUO-13")
def test_a_number_of_applications_is_raised() -> None:
    ledger = make_ledger(replace(make_queue(A), max_applications=1))
    observed(ledger, "runs", node="n1", app="first")
    observed(ledger, "older", app="older", created=1.0)
    observed(ledger, "ask", app="mine", created=2.0)
    assert raises(ledger) == {(A, "", ""): 2}


# -- a new node ----------------------------------------------------------------------------------------------


def small_nodes(**facts: object) -> Ledger:
    ledger = make_ledger(make_queue(A, max={"vcore": 9000}), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
    observed(ledger, "ask", cpu=1500, created=START, **facts)
    return ledger


def test_a_node_of_the_size_of_the_pod_is_enough() -> None:
    ((only,), _) = by_kind(small_nodes())
    assert only.node is not None
    assert dict(only.node.allocatable.items()) == {"pods": 1, "vcore": 1500}
    assert only.raises == ()


def test_the_node_has_the_labels_that_the_pod_wants() -> None:
    zone = Requirement("zone", "In", ("a", "b"))
    where = Constraints((("disk", "ssd"),), (Term((zone,), ()),))
    ((only,), _) = by_kind(small_nodes(constraints=where))
    assert only.node is not None
    assert only.node.labels == {"disk": "ssd", "zone": "a"}


def test_a_pod_tied_to_a_node_by_name_gets_no_other() -> None:
    named = Term((), (Requirement("metadata.name", "In", ("n9",)),))
    found = remedies(small_nodes(constraints=Constraints((), (named,))))
    assert (found.remedy, found.changes) == (Remedy.NONE_FOUND, ())


def test_a_node_and_raised_limits_go_together() -> None:
    ledger = make_ledger(make_queue(A, max={"vcore": 1000}), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)), now=START)
    observed(ledger, "ask", cpu=1500)
    ((only,), _) = by_kind(ledger)
    assert [(each.key.kind, each.by) for each in only.raises] == [(LimitKind.QUEUE, 500)]
    assert only.node is not None


# -- ended pods ----------------------------------------------------------------------------------------------


def test_as_few_pods_as_needed_are_ended() -> None:
    ledger = make_ledger(make_queue(A, max={"vcore": 3000}))
    for name, cpu in (("large", 1500), ("small", 500), ("tiny", 100), ("other", 900)):
        observed(ledger, name, node="n1", app="first", cpu=cpu)
    observed(ledger, "ask", app="mine", cpu=1300)
    _, (ended,) = by_kind(ledger)
    assert ended.ended == (PodUid("uid-large"),)


def test_pods_end_on_the_same_node_where_no_node_takes_it() -> None:
    ledger = make_ledger(make_queue(A), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=2000)), now=START)
        for at in range(2):
            observed(ledger, f"{name}-{at}", node=name, app="first", cpu=900)
    observed(ledger, "ask", app="mine", cpu=1900, created=START)
    _, (ended,) = by_kind(ledger)
    nodes = {ledger.view.pod(uid).node for uid in ended.ended}  # type: ignore[union-attr]
    assert (len(ended.ended), len(nodes)) == (2, 1)


# -- none ----------------------------------------------------------------------------------------------------


def test_no_change_is_needed_by_a_pod_whose_turn_comes() -> None:
    ledger = make_ledger(make_queue(A))
    observed(ledger, "ask", gates=(OWN_GATE,))
    found = explain_at_once(ledger.view, ASK, now=START)
    assert found is not None
    assert found.remedies == Remedies(Remedy.NOTHING, trials=1)


@pytest.mark.rule("CYC-2")
def test_no_node_is_added_where_another_pod_leaves_its_own() -> None:
    """The next cycle releases the node of the later pod, whose queue is full, and it takes this one."""
    ledger = make_ledger(
        make_queue(A, max={"vcore": 2500}), make_queue("root.b", max={"vcore": 500}), nodes=0
    )
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=2000)), now=START)
    observed(ledger, "ask", cpu=2000, app="mine", created=1.0, reserved_node="n1")
    observed(ledger, "later", queue="root.b", cpu=1000, app="later", created=2.0, reserved_node="n2")
    observed(ledger, "runs", cpu=1000, app="first", node="n1")
    ledger.apply(on.ActingBegan(), now=START)
    found = explain_at_once(ledger.view, ASK, now=START)
    assert found is not None
    assert found.remedies is not None
    change = found.remedies.changes[0]
    assert change.node is None
    assert [each.by for each in change.raises] == [500]


@pytest.mark.parametrize(
    "obstacle", [Code.ACCESS_DENIED, Code.QUEUE_DRAINING, Code.STATE_AWARE_HOLD, Barrier.BACK_OFF]
)
def test_what_no_such_change_lifts_is_named(obstacle: Code | Barrier) -> None:
    ledger, _ = (SCENES[obstacle] if isinstance(obstacle, Code) else BARRIERS[obstacle])()
    found = remedies(ledger)
    assert (found.remedy, found.beyond) == (Remedy.OUT_OF_REACH, (obstacle,))


@pytest.mark.rule("COS-3")
def test_a_whole_pod_group_is_freed_together() -> None:
    ledger = full()
    for name in ("ask", "second"):
        observed(ledger, name, app="mine", cpu=300, pod_group=PodGroup("g", 2))
    assert raises(ledger) == {(A, "", "vcore"): 600}


@pytest.mark.rule("COS-3", "GANG-6")
@pytest.mark.parametrize("members", [2, 1])
def test_the_max_below_a_pod_group_is_raised_once_its_members_are_there(members: int) -> None:
    ledger = make_ledger(make_queue(A, max={"vcore": 500}))
    for name in ("ask", "second")[:members]:
        observed(ledger, name, app="mine", cpu=300, pod_group=PodGroup("g", 2))
    found = remedies(ledger)
    if members == 2:
        assert raises(ledger) == {(A, "", "vcore"): 100}
    else:
        assert (found.remedy, found.beyond) == (
            Remedy.OUT_OF_REACH,
            (Code.GANG_TOO_LARGE, Code.GANG_INCOMPLETE),
        )


@pytest.mark.rule("CYC-2", "SORT-8")
def test_a_pod_with_a_reserved_node_needs_no_change_while_another_application_starts() -> None:
    ledger = make_ledger(replace(make_queue(A), properties={SORT_POLICY: "stateaware"}))
    observed(ledger, "runs", app="first", node="n1")
    observed(ledger, "ask", app="mine", reserved_node="n1")
    ledger.apply(on.ActingBegan(), now=START)
    found = explain_at_once(ledger.view, ASK, now=START)
    assert found is not None
    assert Code.STATE_AWARE_HOLD in [each.code for each in found.obstacles]
    assert found.remedies == Remedies(Remedy.NOTHING, trials=1)
    assert cycled(ledger).view.has_turn(ASK)


def with_a_rival() -> Ledger:
    """A ``stateaware`` leaf, which lets the older application in first."""
    spec = replace(make_queue(A, max={"vcore": 500}), properties={SORT_POLICY: "stateaware"})
    ledger = make_ledger(spec)
    observed(ledger, "older", app="older", cpu=600, created=1.0)
    observed(ledger, "ask", app="mine", cpu=700, created=2.0)
    return ledger


@pytest.mark.rule("SORT-8")
def test_no_limit_lets_a_pod_in_before_a_rival() -> None:
    found = remedies(with_a_rival())
    assert (found.remedy, found.beyond) == (Remedy.OUT_OF_REACH, (Code.STATE_AWARE_HOLD,))


@pytest.mark.rule("SORT-8")
def test_beyond_the_budget_no_rival_is_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "UNITS_AT_MOST", 5)
    found = remedies(with_a_rival())
    assert (found.remedy, found.exhausted) == (Remedy.NONE_FOUND, True)


def test_beyond_the_budget_none_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "UNITS_AT_MOST", 5)
    ledger = full()
    observed(ledger, "ask", app="mine")
    found = remedies(ledger)
    assert (found.remedy, found.changes, found.exhausted) == (Remedy.NONE_FOUND, (), True)


def test_a_search_leaves_the_ledger_as_it_was() -> None:
    ledger = small_nodes()
    for at in range(3):
        observed(ledger, f"p{at}", app="older", cpu=700, created=float(at))
    before = picture_of(cycled(ledger))
    remedies(ledger)
    assert picture_of(ledger) == before
