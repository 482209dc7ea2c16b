"""ACT-30 to ACT-34: any interleaving of moves, ends, closed queues, documents, pods and restarts.

The sums equal the audit after each step. A moved application is where the order says, also after a restart.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import RECOVERY_QUEUE, AppId, NodeName, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.queue import Closure
from core.queues.spec import LimitSpec
from core.resource import Limit
from core.workload.ending import Ending
from core.workload.moving import MoveOrder
from core.workload.pod import NamespaceFacts, PodFacts
from core.workload.states import AppState
from tests.builders import (
    START,
    bind_called,
    drifts,
    filtered,
    make_node,
    make_partition,
    make_pod,
    make_queue,
)
from tests.properties.ledger.history_world import QUICK

QUEUES = ("root.a", "root.p.x", "root.p.y")
GROUPS = LimitSpec((), ("team", "*"), Limit({"vcore": 4000}))
USERS = LimitSpec(("*",), (), Limit({"vcore": 3000}), 2)
A = make_queue("root.a", max={"vcore": 3000})
P = make_queue("root.p", leaf=False, max={"vcore": 4000})
X = make_queue("root.p.x", max={"vcore": 2000})
Y = replace(make_queue("root.p.y"), max_applications=1)
DOCUMENTS = (
    make_partition(A, P, X, Y),
    make_partition(replace(A, limits=(USERS, GROUPS)), replace(P, limits=(USERS,)), X, Y),
    make_partition(A, P, Y),
    make_partition(A),
)
NODE = NodeName("n1")
APPS = [AppId(f"app-{at}", "default") for at in range(3)]


def pod(at: int) -> PodFacts:
    return make_pod(f"p{at}", queue=QUEUES[at % 3], app=f"app-{at % 3}", cpu=1000)


pods, apps = st.integers(0, 8), st.sampled_from(APPS)
steps = st.one_of(
    st.tuples(st.just("submit"), pods),
    st.tuples(st.just("run"), pods),
    st.tuples(st.just("run"), pods),
    st.tuples(st.just("bind"), pods),
    st.tuples(st.just("filter"), pods),
    st.tuples(st.just("delete"), pods),
    st.tuples(st.just("move"), apps, st.sampled_from(QUEUES)),
    st.tuples(st.just("move"), apps, st.sampled_from(QUEUES)),
    st.tuples(st.just("end"), apps),
    st.tuples(st.just("close"), st.sampled_from(QUEUES)),
    st.tuples(st.just("open"), st.sampled_from(QUEUES)),
    st.tuples(st.just("configure"), st.sampled_from(DOCUMENTS)),
    st.tuples(st.just("wait"), st.sampled_from([1.0, 31.0])),
    st.tuples(st.just("restart")),
    st.tuples(st.just("fail over")),
)


class World:
    """Cluster, store and ledger of one history."""

    def __init__(self) -> None:
        self.now = START
        self.pods: dict[int, PodFacts] = {}
        self.document = DOCUMENTS[0]
        self.closed: dict[QueuePath, Closure] = {}
        self.ended: dict[AppId, Ending] = {}
        self.moved: dict[AppId, MoveOrder] = {}
        self.restart()

    def restart(self) -> None:
        """Begin with a new ledger, in the order in which the server reads."""
        self.ledger = Ledger()
        self.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=20_000)))
        self.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
        self.apply(on.Configured(self.document, LedgerSettings()))
        self.act()
        self.apply(on.PodsListBegun())
        for at in sorted(self.pods):
            self.apply(on.PodObserved(self.pods[at]))
        self.apply(on.PodsListed(frozenset(each.uid for each in self.pods.values())))

    def apply(self, event: on.Event) -> None:
        self.ledger.apply(event, now=self.now)

    def act(self) -> None:
        self.apply(on.ActionsRead(dict(self.closed), dict(self.ended), dict(self.moved)))

    def play(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("submit", at):
                self.show(at, replace(pod(at), created=self.now) if at not in self.pods else self.pods[at])
            case ("run", at) if at in self.pods and not self.pods[at].node:
                self.show(at, replace(self.pods[at], node=NODE))
            case ("filter", at) if at in self.pods:
                filtered(self.ledger, self.pods[at].uid, now=self.now)
            case ("bind", at) if at in self.pods and not self.pods[at].node:
                bind_called(self.ledger, self.pods[at].uid, now=self.now)
            case ("delete", at) if at in self.pods:
                self.apply(on.PodDeleted(self.pods.pop(at).uid))
            case ("move", app_id, path):
                self.move(app_id, QueuePath(path))
            case ("end", app_id):
                self.ended[app_id] = Ending("ann", self.now, self.now + 5, self.now, "root")
                self.act()
            case ("close", path):
                self.closed[QueuePath(path)] = Closure("ann", self.now)
                self.act()
            case ("open", path):
                self.closed.pop(QueuePath(path), None)
                self.act()
            case ("configure", document) if not self.ledger.view.conflicts(document):
                self.document = document
                self.apply(on.Configured(document, LedgerSettings()))
            case ("wait", seconds):
                self.now += seconds
                self.apply(on.TimePassed())
                self.tidy()
            case ("restart",):
                self.tidy()
                self.restart()
            case ("fail over",):
                self.apply(on.ActingEnded())
                self.apply(on.ActingBegan())

    def tidy(self) -> None:
        """Remove the orders that are over, as the server does."""
        view = self.ledger.view
        self.moved = {each: order for each, order in self.moved.items() if not view.moves.is_over(each)}
        self.ended = {
            each: order for each, order in self.ended.items() if view.is_ended(each) or order.until > self.now
        }

    def move(self, app_id: AppId, path: QueuePath) -> None:
        """Give an order if it is not refused. The ledger carries it out at once then."""
        view = self.ledger.view
        application, refusal = view.application(app_id), view.moves.refusal(app_id, path)
        if application is None or application.queue is None or refusal is not None:
            return
        over = over_max(self.ledger)
        held = sum(queue.allocated.get("vcore") for queue in view.tree if queue.is_leaf)
        pods = {uid: (record.node, record.facts) for uid in application.pods if (record := view.pod(uid))}
        user = application.identity.user
        self.moved[app_id] = MoveOrder("ann", self.now, path, application.queue, user)
        self.act()
        assert application.queue == path
        assert over_max(self.ledger) <= over
        assert held == sum(queue.allocated.get("vcore") for queue in view.tree if queue.is_leaf)
        assert pods == {uid: (view.pod(uid).node, view.pod(uid).facts) for uid in pods}  # type: ignore[union-attr]

    def show(self, at: int, facts: PodFacts) -> None:
        self.pods[at] = replace(facts, version=facts.version + 1)
        self.apply(on.PodObserved(self.pods[at]))

    def check(self) -> None:
        assert drifts(self.ledger) == []
        view = self.ledger.view
        for app_id, order in self.moved.items():
            application, target = view.application(app_id), view.tree.get(order.queue)
            if application is None or view.moves.is_over(app_id) or application.ends:
                continue
            usable = target is not None and target.is_leaf and not target.draining
            if usable and application.state is not AppState.REJECTED and application.queue is not None:
                assert application.queue == order.queue or view.moves.is_due(app_id)
            assert application.queue in (order.queue, None, RECOVERY_QUEUE) or view.moves.is_due(app_id)


def over_max(ledger: Ledger) -> set[Any]:
    """Queues, users and groups above a max."""
    return set(ledger.view.over_max)


@pytest.mark.rule("ACT-30", "ACT-31", "ACT-33")
@settings(QUICK, max_examples=100)
@given(history=st.lists(steps, min_size=10, max_size=40))
def test_a_moved_application_is_where_its_order_says(history: list[tuple[Any, ...]]) -> None:
    world = World()
    for step in (*(("submit", at) for at in range(6)), *(("run", at) for at in range(4)), *history):
        world.play(step)
        world.check()
    world.tidy()
    world.restart()
    world.check()
