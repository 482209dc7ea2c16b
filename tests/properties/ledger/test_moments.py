"""A large answer shows one moment, whatever happens while it is made (REST-45)."""

from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect
from core.ledger.ledger import Ledger
from extender.rest.facts import Facts
from extender.rest.members import encoded
from extender.rest.moment import people, trees, writing
from extender.rest.moment.moment import Moment, Taking
from extender.rest.moment.stored import StoredRows
from extender.rest.projection.applications import (
    active_applications,
    app_from,
    completed_applications,
    rejected_applications,
)
from extender.rest.projection.nodes import all_nodes, one_node, utilizations
from extender.rest.projection.partitions import partition_from
from extender.rest.projection.queues import one_queue, queue_tree
from extender.rest.projection.usage import all_groups, all_users, one_group, one_user
from tests.builders import START, bind_called, filtered, make_ledger, make_pod, make_queue
from tests.properties.ledger.history_world import QUICK, History, fresh
from tests.properties.ledger.test_ledger_histories import any_step, play


class Watched:
    """A ledger that reports its events to stored rows, as the engine does."""

    def __init__(self, ledger: Ledger, stored: StoredRows) -> None:
        self._ledger = ledger
        self._stored = stored
        self._from = self._now = START

    def play(self, history: History) -> None:
        """Continue from the end of the last history."""
        self._from = self._now
        play(self, history)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    def apply(self, event: on.Event, *, now: float) -> list[Effect]:
        self._now = self._from + now - START
        effects = self._ledger.apply(event, now=self._now)
        self._stored.learned(event)
        if self._ledger.settled:
            self._stored.settled(self._ledger.settled)
        return effects


def expected(facts: Facts) -> list[bytes]:
    """The answers that one call makes from the ledger."""
    nodes = all_nodes(facts)
    lists = (active_applications(facts), completed_applications(facts), rejected_applications(facts))
    apps = [tuple(app_from(facts, each) for each in one) for one in lists]
    partition, tree = (partition_from(facts),), queue_tree(facts)
    usages = (all_users(facts), all_groups(facts))
    whole = (nodes, *apps, (utilizations(facts, nodes),), partition, tree, *usages)
    singles = (
        *(one_queue(facts, queue) for queue in facts.view.tree),
        *(one_node(facts, node.node_id) for node in nodes),
        *(app_from(facts, each) for each in facts.view.applications()),
        *(one_user(facts, each.user_name) for each in usages[0]),
        *(one_group(facts, each.group_name) for each in usages[1]),
    )
    return [encoded(each) for each in (*whole, *singles)]


def written(moment: Moment, facts: Facts) -> list[Iterator[bytes]]:
    """Answers from a moment. ``facts``: of that moment, for the names of what there is."""
    users = [each.user_name for each in all_users(facts)]
    groups = [each.group_name for each in all_groups(facts)]
    return [
        *(
            writing.all_nodes(moment),
            writing.applications(moment),
            writing.ended_applications(moment, rejected=False),
            writing.ended_applications(moment, rejected=True),
            writing.node_utilizations(moment),
            writing.written_list([writing.partition(moment)]),
            trees.queue_tree(moment),
            people.everybody(moment, "user"),
            people.everybody(moment, "group"),
        ),
        *(trees.one_queue(moment, queue.path, subtree=False) for queue in facts.view.tree),
        *(writing.one_node(moment, name) for name in sorted({*moment.nodes, *moment.on_nodes})),
        *(writing.one_application(moment, moment.apps[each.id]) for each in facts.view.applications()),
        *(people.one(moment, "user", each) for each in users),
        *(people.one(moment, "group", each) for each in groups),
    ]


def texts(answers: list[Iterator[bytes]]) -> list[bytes]:
    return [b"".join(each) for each in answers]


@pytest.mark.rule("REST-41", "REST-45")
@settings(QUICK, max_examples=200, phases=[Phase.explicit, Phase.generate])
@given(
    rounds=st.lists(st.lists(any_step, min_size=1, max_size=15), min_size=2, max_size=5),
    apart=st.integers(0, 3),
)
def test_answers_are_of_one_moment(rounds: list[History], apart: int) -> None:
    """Rows are made during the history. The answer shows the moment at which they are taken."""
    ledger = fresh()
    facts = Facts(ledger.view)
    stored = StoredRows(lambda: Facts(ledger.view))
    watched = Watched(ledger, stored)
    for steps in rounds:
        watched.play(steps)
        taking = Taking(facts, stored)
        for at, _ in enumerate(taking):
            if at < apart:
                watched.play(steps[: at + 1])
        wanted, answers = expected(facts), written(taking.moment, facts)
        watched.play(steps)
        assert texts(answers) == wanted


def test_a_row_that_is_not_marked_is_found() -> None:
    """The comparison can fail, since rows without reports of events stay unchanged."""
    ledger = fresh()
    stored = StoredRows(lambda: Facts(ledger.view))
    taking = Taking(Facts(ledger.view), stored)
    list(taking)
    ledger.apply(on.PodObserved(make_pod("p", node="n1")), now=START)
    again = Taking(Facts(ledger.view), stored)
    list(again)
    assert texts([writing.all_nodes(again.moment)]) != expected(Facts(ledger.view))[:1]


@pytest.mark.rule("REST-8")
def test_a_node_that_is_held_for_a_pod_is_so_until_its_binding_is_on_its_way() -> None:
    ledger = make_ledger(make_queue("root.a"))
    facts = Facts(ledger.view)
    held = []
    ledger.apply(on.PodObserved(make_pod("p", nominated=NodeName("n1"))), now=START)
    for step in (filtered, bind_called):
        step(ledger, "uid-p", now=START)
        taking = Taking(facts, StoredRows(lambda: facts))
        list(taking)
        assert texts(written(taking.moment, facts)) == expected(facts)
        held.append([each.is_reserved for each in all_nodes(facts) if each.node_id == "n1"])
    assert held == [[True], [False]]


@pytest.mark.rule("REST-8")
def test_a_binding_that_must_wait_shows_no_node() -> None:
    """A bind call for a pod without quota, on an unknown node."""
    ledger = make_ledger(make_queue("root.a"))
    facts = Facts(ledger.view)
    ledger.apply(on.PodObserved(make_pod("p")), now=START)
    ledger.apply(on.BindCalled(PodUid("uid-p"), NodeName("n9")), now=START)
    taking = Taking(facts, StoredRows(lambda: facts))
    list(taking)
    assert texts(written(taking.moment, facts)) == expected(facts)
    assert one_node(facts, "n9") is None
