"""The order of a cycle over the queues while the ledger changes, and the objects that a cycle leaves."""

import gc
from dataclasses import replace

import pytest

from core.decisions.decision import Admitted
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.admission import cycle as cycle_module
from core.ledger.admission.order.branch import Branch
from core.workload.pod import OWN_GATE
from tests.builders import START, filtered, make_ledger, make_pod, make_queue


def test_a_pass_leaves_nothing_to_the_garbage_collector() -> None:
    """Branches reference each other. Garbage collection of many cycles would block all calls for a while."""
    ledger = make_ledger(make_queue("root.p", leaf=False), make_queue("root.p.a"), make_queue("root.p.b"))
    for name in ("a", "b"):
        pod = make_pod(name, queue=f"root.p.{name}", app=name, gates=(OWN_GATE,))
        ledger.apply(on.PodObserved(pod), now=START)
    gc.collect()
    gc.disable()
    try:
        effects = ledger.apply(on.CycleDue(), now=START)
        assert (len(effects), ledger.view.cycle_wanted) == (2, False)
        assert [each for each in gc.get_objects() if isinstance(each, Branch)] == []
    finally:
        gc.enable()


@pytest.mark.rule("PRI-2", "SORT-5")
@pytest.mark.parametrize("units", [10, 20, 40, 80])
def test_turns_used_while_the_pass_goes_on_are_not_counted_twice(
    units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-11: all asks of x come before y of the same queue, however few turns a slice gives."""
    monkeypatch.setattr(cycle_module, "WORK_PER_SLICE", units)
    ledger = make_ledger(make_queue("root.a"), make_queue("root.b", max={"vcore": 5000}))
    for app, count, queue, priority in (
        ("x", 4, "root.b", 100),
        ("y", 2, "root.b", 0),
        ("z", 2, "root.a", 0),
    ):
        for at in range(count):
            pod = make_pod(f"{app}{at}", app=app, queue=queue, priority=priority, gates=(OWN_GATE,))
            ledger.apply(on.PodObserved(pod), now=START)
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START)
        for uid in list(ledger.view.turns):
            assert isinstance(filtered(ledger, uid, now=START), Admitted)
            ledger.apply(on.PodBound(uid, NodeName("n1")), now=START)
    on_nodes = sorted(record.facts.name for record in ledger.view.pods() if record.node)
    assert on_nodes == ["x0", "x1", "x2", "x3", "y0", "z0", "z1"]


def test_an_application_that_goes_while_its_leaf_is_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for a ``stateaware`` leaf, too, which checks all of them at once."""
    monkeypatch.setattr(cycle_module, "WORK_PER_SLICE", 1)
    aware = {"application.sort.policy": "stateaware"}
    ledger = make_ledger(replace(make_queue("root.a"), properties=aware))
    names = [f"p{at}" for at in range(8)]
    for name in names:
        ledger.apply(on.PodObserved(make_pod(name, app=name, gates=(OWN_GATE,))), now=START)
    for name in names[:-1]:
        for _ in range(4):
            ledger.apply(on.CycleDue(), now=START)
        ledger.apply(on.PodDeleted(PodUid(f"uid-{name}")), now=START)
        ledger.apply(on.TimePassed(), now=START + 31)
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START + 31)
    assert list(ledger.view.turns) == ["uid-p7"]
