"""The sums of the REST interface hold after any history (REST-41)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import ROOT, NodeName
from core.ledger import events as on
from core.ledger.effects import Effect
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.workload.pod import NamespaceFacts
from core.workload.states import AppState
from extender.rest.facts import Facts
from extender.rest.members import encoded
from extender.rest.model.applications import App
from extender.rest.model.queues import Queue
from extender.rest.projection.applications import (
    active_applications,
    app_from,
    completed_applications,
    rejected_applications,
)
from extender.rest.projection.counting import Counted, afloat_of, counted_as
from extender.rest.projection.nodes import all_nodes
from extender.rest.projection.partitions import partition_from
from extender.rest.projection.queues import queue_tree
from extender.rest.projection.usage import all_users
from tests.builders import START, make_node, make_partition, make_pod
from tests.properties.ledger.history_world import DEFAULT, QUICK, A, History, P, X, Y, fresh
from tests.properties.ledger.test_ledger_histories import any_step, play


def added(*parts: Mapping[str, int]) -> Mapping[str, int]:
    """Without zeros, which mean the same as nothing in amounts (REST-24)."""
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part)
    return {name: amount for name, amount in counts.items() if amount}


def sizes(pods: Iterable[object]) -> Mapping[str, int]:
    return added(*(each.resource for each in pods))  # type: ignore[attr-defined]


def check_sums(ledger: Ledger) -> None:
    """Everything that REST-41 lists."""
    facts = Facts(ledger.view)
    root, partition, nodes = queue_tree(facts), partition_from(facts), all_nodes(facts)
    live = [app_from(facts, each) for each in active_applications(facts)]
    for node in nodes:
        assert added(node.capacity) == added(node.allocated, node.occupied, node.available)
        assert added(node.allocated) == sizes(node.allocations)
        assert added(node.occupied) == sizes(node.foreign_allocations)
    assert added(partition.capacity.capacity) == added(*(each.capacity for each in nodes))
    assert added(partition.capacity.capacity) == added(root.max_resource)
    used = added(*(each.allocated for each in nodes))
    assert added(partition.capacity.used_capacity) == used == added(root.allocated_resource)
    listed = [each.allocation_key for node in nodes for each in node.allocations]
    # Pods of a failed gang count until they are gone. No list has their application meanwhile.
    failed = [each for each in facts.view.applications() if each.state is AppState.FAILED and each.pods]
    counted = [*live, *(app_from(facts, each) for each in failed)]
    assert sorted(listed) == sorted(each.allocation_key for app in counted for each in app.allocations)
    assert (partition.total_nodes, partition.total_containers) == (len(nodes), len(listed))
    check_queue(root, counted)
    for app in live:
        check_application(app)
    ended = len(completed_applications(facts)) + len(rejected_applications(facts))
    assert partition.applications["total"] == len(counted) + ended
    check_users(facts, counted)


def check_queue(queue: Queue, live: list[App]) -> None:
    """An inner queue is the sum of its children, a leaf that of its applications."""
    for child in queue.children:
        check_queue(child, live)
    parts: list[tuple[Mapping[str, int], Mapping[str, int]]] = [
        (each.allocated_resource, each.pending_resource) for each in queue.children
    ]
    parts += [
        (sizes(app.allocations), app.pending_resource) for app in live if app.queue_name == queue.queuename
    ]
    assert added(queue.allocated_resource) == added(*(allocated for allocated, _ in parts)), queue.queuename
    assert added(queue.pending_resource) == added(*(pending for _, pending in parts)), queue.queuename


def check_application(app: App) -> None:
    assert added(app.used_resource) == sizes(each for each in app.allocations if not each.placeholder)
    assert added(app.pending_resource) == sizes(app.requests)
    keys = [each.allocation_key for each in (*app.requests, *app.allocations)]
    assert len(keys) == len(set(keys))
    if app.state_log:
        assert app.state_log[-1].application_state == app.application_state


def check_users(facts: Facts, live: list[App]) -> None:
    by_user: dict[str, list[object]] = {}
    for app in live:
        by_user.setdefault(app.user, []).extend(app.allocations)
    shown = {each.user_name: each.queues.resource_usage for each in all_users(facts) if each.queues}
    for user in {*by_user, *shown}:
        assert added(shown.get(user, {})) == sizes(by_user.get(user, ())), user


def check_afloat(ledger: Ledger) -> None:
    """Quota without a node is found without reading every pod."""
    found = afloat_of(ledger.view).queues
    every = [ledger.view.charge_of(record.uid) for record in ledger.view.pods()]
    floating = [each for each in every if each and each.held == "reserved" and each.queue and not each.node]
    counted = dict(found[ROOT].items()) if ROOT in found else {}
    assert added(counted) == added(*(dict(each.size.items()) for each in floating))


@pytest.mark.rule("REST-41")
@settings(QUICK, max_examples=600)
@given(steps=st.lists(any_step, min_size=1, max_size=50), listed=st.booleans())
def test_sums_hold_after_any_history(steps: History, listed: bool) -> None:
    ledger = fresh(listed=listed)
    play(ledger, steps)
    check_sums(ledger)
    check_afloat(ledger)


class Restarting:
    """A ledger, and what a new process would read of the API server."""

    def __init__(self) -> None:
        self.ledger = fresh()
        self._document = on.Configured(make_partition(P, X, Y, A, DEFAULT), LedgerSettings())
        self._objects: dict[on.ObjectKind[Any, Any], dict[Any, Any]] = {
            on.NODES: {NodeName("n1"): make_node("n1")},
            on.NAMESPACES: {"default": NamespaceFacts("default")},
        }
        self._from = self.now = START

    def __getattr__(self, name: str) -> object:
        return getattr(self.ledger, name)

    def play(self, history: History) -> None:
        """Continue from the end of the last history."""
        self._from = self.now
        play(self, history)  # type: ignore[arg-type]

    def apply(self, event: on.Event, *, now: float) -> tuple[Effect, ...]:
        self.now = self._from + now - START
        match event:
            case on.Configured():
                self._document = event
            case on.ObjectObserved(kind, facts):
                self._objects.setdefault(kind, {})[kind.key_of(facts)] = facts
            case on.ObjectDeleted(kind, key):
                self._objects.setdefault(kind, {}).pop(key, None)
            case on.ObjectsListed(kind, keys):
                known = self._objects.setdefault(kind, {})
                self._objects[kind] = {key: known[key] for key in known if key in keys}
        return self.ledger.apply(event, now=self.now)

    def restart(self) -> None:
        """Read everything anew: first the document and other objects, then the pods."""
        old, self.ledger = self.ledger, Ledger()
        events: list[on.Event] = [self._document]
        for kind, known in self._objects.items():
            events += [on.ObjectObserved(kind, facts) for facts in known.values()]
            events.append(on.ObjectsListed(kind, frozenset(known)))
        pods = [record.facts for record in old.view.pods()]
        events += [on.PodObserved(each) for each in pods]
        events.append(on.PodsListed(frozenset(each.uid for each in pods)))
        for event in events:
            self.ledger.apply(event, now=self.now)


@pytest.mark.rule("REST-41")
@settings(QUICK, max_examples=200)
@given(rounds=st.lists(st.lists(any_step, min_size=1, max_size=25), min_size=2, max_size=4))
def test_sums_hold_after_any_history_with_restarts(rounds: list[History]) -> None:
    world = Restarting()
    for steps in rounds:
        world.play(steps)
        world.restart()
        check_sums(world.ledger)
        check_afloat(world.ledger)


@pytest.mark.rule("REST-25", "REST-45")
@settings(QUICK, max_examples=40)
@given(steps=st.lists(any_step, min_size=20, max_size=40))
def test_answers_are_the_same_bytes_for_the_same_history(steps: History) -> None:
    first, second = fresh(), fresh()
    play(first, steps)
    play(second, steps)
    assert everything(first) == everything(second)


def everything(ledger: Ledger) -> list[bytes]:
    facts = Facts(ledger.view)
    apps = tuple(app_from(facts, each) for each in active_applications(facts))
    answers = (queue_tree(facts), partition_from(facts), all_nodes(facts), apps, all_users(facts))
    return [encoded(each) for each in answers]


@pytest.mark.corrupts_ledger
def test_a_pod_that_a_node_lacks_is_found() -> None:
    """The check can fail: a pod taken off a node behind the ledger's back."""
    ledger = fresh()
    ledger.apply(on.PodObserved(make_pod("p", node="n1")), now=START)
    check_sums(ledger)
    use = ledger.view.use_of(NodeName("n1"))
    assert use is not None
    assert counted_as(ledger.view.charge_of(make_pod("p").uid)) is Counted.ALLOCATION
    use.pods.clear()
    with pytest.raises(AssertionError):
        check_sums(ledger)
