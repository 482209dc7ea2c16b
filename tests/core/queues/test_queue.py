"""Queues over several documents: states, changes of owner, templates (Q-2 to Q-11, TPL-1 to TPL-5)."""

from dataclasses import replace

import pytest

from core.ids import AppId, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.queue import Queue
from core.queues.spec import QueueSpec, RuleSpec, TemplateSpec
from core.resource import Limit, Resource
from tests.builders import START, filtered, make_ledger, make_partition, make_pod, make_queue, woken

ANY = RuleSpec("provided", create=True)


def template(vcore: int) -> TemplateSpec:
    return TemplateSpec(max=Limit({"vcore": vcore}))


def configure(ledger: Ledger, *queues: QueueSpec, root: QueueSpec | None = None) -> None:
    partition = make_partition(*queues)
    top = (replace(root, path=QueuePath("root"), parent=None),) if root else partition.queues[:1]
    partition = replace(partition, rules=(ANY,), queues=(*top, *partition.queues[1:]))
    ledger.apply(on.Configured(partition, LedgerSettings()), now=START)


def ledger_with(*queues: QueueSpec, root: QueueSpec | None = None) -> Ledger:
    ledger = make_ledger()
    configure(ledger, *queues, root=root)
    return ledger


def submit(ledger: Ledger, queue: str, *, app: str = "", node: str = "") -> None:
    pod = make_pod(f"pod-{app or queue}", queue=queue, app=app or queue, node=node)
    ledger.apply(on.PodObserved(pod), now=START)


def queue_of(ledger: Ledger, path: str) -> Queue:
    queue = ledger.view.tree.get(path)
    assert queue is not None, path
    return queue


def clean(ledger: Ledger, *, at: float = 0.0) -> list[str]:
    ledger.apply(on.TimePassed(), now=START + at)
    ledger.apply(on.CleanerDue(), now=START + at)
    return [queue.path for queue in ledger.view.tree]


@pytest.mark.rule("Q-3")
def test_a_reload_changes_the_number_of_applications_of_the_root() -> None:
    """YuniKorn applies it only at the creation. Paddock applies it at every reload."""
    root = make_queue("root", leaf=False)
    ledger = ledger_with(make_queue("root.a"), root=replace(root, max_applications=1))
    assert ledger.view.tree.root.max_applications == 1
    configure(ledger, make_queue("root.a"), root=replace(root, max_applications=7))
    assert ledger.view.tree.root.max_applications == 7


@pytest.mark.rule("Q-7")
def test_queues_in_which_nothing_is_pending_take_no_part() -> None:
    """Capacity goes to the only queue with asks, whatever other queues there are."""
    ledger = make_ledger(make_queue("root.idle"), make_queue("root.busy", max={"vcore": 1000}))
    for name in ("first", "next"):
        ledger.apply(on.PodObserved(make_pod(name, queue="root.busy", app=name)), now=START)
        filtered(ledger, f"uid-{name}", now=START)
    assert queue_of(ledger, "root.idle").pending.get("vcore") == 0
    ledger.apply(on.PodDeleted(make_pod("first").uid), now=START)
    assert woken(ledger, now=START) == ["uid-next"]


@pytest.mark.rule("Q-8")
def test_a_queue_drains_when_it_is_dropped_and_is_active_when_it_is_back() -> None:
    ledger = ledger_with(make_queue("root.a"))
    submit(ledger, "root.a", node="n1")
    states = []
    for queues in ((), (), (make_queue("root.a"),)):
        configure(ledger, *queues)
        states.append(queue_of(ledger, "root.a").draining)
    assert states == [True, True, False]


@pytest.mark.rule("Q-9")
def test_children_drain_with_their_parent_but_not_dynamic_ones() -> None:
    ledger = ledger_with(make_queue("root.p", leaf=False), make_queue("root.p.kept"))
    submit(ledger, "root.p.kept", node="n1")
    submit(ledger, "root.p.made", node="n1")
    configure(ledger)
    drains = {path: queue_of(ledger, path).draining for path in ("root.p", "root.p.kept", "root.p.made")}
    assert drains == {"root.p": True, "root.p.kept": True, "root.p.made": False}
    submit(ledger, "root.p.made", app="more")
    submit(ledger, "root.p.new", app="other")
    applications = {each.id: each.queue for each in ledger.view.applications()}
    assert (applications[AppId("more", "default")], applications[AppId("other", "default")]) == (
        "root.p.made",
        None,
    )


@pytest.mark.rule("Q-10")
def test_the_cleaner_takes_what_is_empty_and_no_managed_queue() -> None:
    ledger = ledger_with(make_queue("root.p", leaf=False), make_queue("root.p.idle"))
    submit(ledger, "root.p.deep.made", app="job")
    assert clean(ledger) == ["root", "root.p", "root.p.idle", "root.p.deep", "root.p.deep.made"]
    ledger.apply(on.PodDeleted(make_pod("pod-job").uid), now=START)
    assert len(clean(ledger, at=29)) == 5
    assert clean(ledger, at=30) == ["root", "root.p", "root.p.idle"]


@pytest.mark.rule("Q-11")
def test_a_document_takes_a_dynamic_queue_over() -> None:
    ledger = ledger_with()
    submit(ledger, "root.made", node="n1")
    assert queue_of(ledger, "root.made").dynamic
    configure(ledger, make_queue("root.made", max={"vcore": 500}))
    queue = queue_of(ledger, "root.made")
    assert (queue.dynamic, queue.max, queue.allocated.get("vcore")) == (False, Limit({"vcore": 500}), 1000)
    configure(ledger)
    assert queue.draining


# -- templates ---------------------------------------------------------------------------------------------


@pytest.mark.rule("TPL-1", "TPL-2")
def test_a_new_leaf_gets_everything_of_the_template() -> None:
    whole = TemplateSpec(Limit({"vcore": 20}), Resource({"vcore": 10}), 5, {"priority.offset": "3"})
    root = replace(make_queue("root", leaf=False), template=whole)
    ledger = ledger_with(make_queue("root.kept"), root=root)
    submit(ledger, "root.made")
    made, retained = queue_of(ledger, "root.made"), queue_of(ledger, "root.kept")
    assert (made.max, made.guaranteed, made.max_applications) == (whole.max, whole.guaranteed, 5)
    assert made.properties.priority_offset == 3
    assert (retained.max, retained.guaranteed, retained.max_applications) == (None, None, 0)


@pytest.mark.rule("TPL-3")
def test_the_nearest_template_above_counts_also_after_a_reload() -> None:
    """At a reload, YuniKorn forgets inherited values of a managed parent. Paddock does not."""
    root = replace(make_queue("root", leaf=False), template=template(20))
    own = replace(make_queue("root.own", leaf=False), template=template(21))
    plain = make_queue("root.plain", leaf=False)
    ledger = ledger_with(own, plain, root=root)
    configure(ledger, own, plain, root=root)
    for path in ("root.own.x", "root.plain.x", "root.new.deep.x"):
        submit(ledger, path)
    caps = [queue_of(ledger, path).max for path in ("root.own.x", "root.plain.x", "root.new.deep.x")]
    assert caps == [Limit({"vcore": 21}), Limit({"vcore": 20}), Limit({"vcore": 20})]


@pytest.mark.rule("TPL-4")
def test_a_changed_template_leaves_queues_that_are_there_as_they_are() -> None:
    root = make_queue("root", leaf=False)
    ledger = ledger_with(root=replace(root, template=template(20)))
    submit(ledger, "root.before")
    configure(ledger, root=replace(root, template=template(99)))
    submit(ledger, "root.after")
    caps = [queue_of(ledger, path).max for path in ("root.before", "root.after")]
    assert caps == [Limit({"vcore": 20}), Limit({"vcore": 99})]
