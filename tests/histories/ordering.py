"""Histories of the order: a cycle in slices, with calls and events between them (CYC-4).

Rules for each history, whatever comes between two slices:

- A turn that a slice gives is the next one of the reference ordering, on the state as the slice begins. That
  holds as long as the cycle may begin its order anew (`OVER_AGAIN`).
- Without that no ask gets a turn before one of higher rank in its queue. Only asks count that fit, and have
  waited and fitted since the cycle began.
- A pod that filter admits without a turn takes nothing from a waiting ask that fits.
- No max of a queue, no limit and no node is ever exceeded.
- Once all is quiet, cycles end in what the reference ordering gives, and the next one gives nothing.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from unittest.mock import patch

from core.decisions.decision import Admitted
from core.ids import AppId, NodeName, PodUid
from core.ledger import events as on
from core.ledger.admission import cycle as cycle_module
from core.ledger.node_reservation import search as node_search
from core.queues.spec import LimitSpec, PartitionSpec
from core.resource import Limit
from core.workload.nodes.node import NodeFacts
from core.workload.states import AppState
from tests.builders import bind_called, drifts, filtered, make_node, make_partition, make_queue, record_of
from tests.properties.admission.reference_ordering import (
    Ambiguous,
    Pod,
    View,
    added,
    applications_in_order,
    asks_of,
    entry,
    fits,
    let_in,
    node_for,
    ordered_asks,
    running,
    view_of,
)
from tests.properties.admission.turn_world import LEAVES, USERS, ZONES, World, picked

CAPS = (None, None, {"vcore": 2000}, {"vcore": 3000, "memory": 6}, {"vcore": 5000})
LIMITS: tuple[tuple[LimitSpec, ...], ...] = (
    (),
    (),
    (LimitSpec(("alice",), (), Limit({"vcore": 2000})),),
    (LimitSpec(("*",), (), Limit({"vcore": 3000}), 1), LimitSpec(("bob",), (), None, 2)),
)
MOST_BETWEEN, MOST_SLICES = 20, 2000
BETWEEN = ("come", "come", "come", "bind", "bind", "call", "ask", "delete", "wait", "expire", "uncordon")
USED_ONLY = ("come", "come", "bind")
"""Histories in which all turns are used, as in F-11."""


@dataclass(frozen=True)
class Plan:
    """A history.

    ``between``: steps that may happen between two slices. ``again``: True if a cycle may restart its order.
    """

    between: tuple[str, ...]
    again: bool


class Slices(World):
    """A world whose cycles run in slices of a few units of work."""

    def __init__(self, chance: Random, plan: Plan) -> None:
        self.chance, self.plan = chance, plan
        policy = chance.choice(("", "", "fifo", "fair", "stateaware"))
        super().__init__([document(chance, policy) for _ in range(2)], nodes(chance))
        self.fitted: set[str] = set()

    # -- what happens ------------------------------

    def random_asks(self) -> None:
        """Random asks, some of them equal and of one application."""
        chance = self.chance
        cpu, memory = chance.choice((500, 1000, 1000, 1000, 2000)), chance.choice((0, 0, 0, 0, 1, 3))
        where = chance.choice(LEAVES), chance.choice(USERS), chance.randrange(2)
        how = chance.randint(-1, 5), chance.randint(0, 2), chance.choice(ZONES)
        count = chance.choice((1, 1, 2, 3, 4))
        self.note("asks", count, *where, cpu, memory, *how)
        for _ in range(count):
            self.ask(*where, cpu, memory, *how)

    def happen(self, what: str) -> None:
        match what:
            case "ask":
                self.random_asks()
            case "come":
                self.filter_one([uid for uid in self.pending if self.ledger.view.has_turn(uid)])
            case "call":
                self.filter_one([uid for uid in self.pending if not self.ledger.view.has_turn(uid)])
            case "wait":
                self.note("wait")
                self.now += self.chance.choice((0.5, 1.0, 2.0))
                self.ledger.apply(on.TimePassed(), now=self.now)
            case "expire":
                for uid in self.one(sorted(self.ledger.view.reserved)):
                    self.note("bind failed", uid)
                    self.fitted.discard(uid)
                    self.ledger.apply(on.BindFailed(uid, certain=True), now=self.now)
            case "bind":
                self.bind_one()
            case "uncordon":
                self.turn_node()
            case _:
                self.step((what, self.chance.randrange(10)))
        self.check_bounds()

    def bind_one(self) -> None:
        """Bind a pod where there is capacity, as kube-scheduler does."""
        for uid in self.one(sorted(self.ledger.view.reserved)):
            view = self.view()
            node = record_of(self.ledger, uid).admission.noted or node_for(
                view, replace(view.pods[uid], node="")
            )
            if node is not None:
                self.note("bind", uid, node)
                bind_called(self.ledger, uid, node, now=self.now)
                self.ledger.apply(on.PodBound(uid, NodeName(node)), now=self.now)

    def turn_node(self) -> None:
        name = self.chance.choice(sorted(self.ledger.view.nodes))
        node = self.ledger.view.nodes[name]
        self.note("cordon", name, not node.unschedulable)
        self.ledger.apply(
            on.ObjectObserved(on.NODES, replace(node, unschedulable=not node.unschedulable)), now=self.now
        )

    def filter_one(self, uids: list[PodUid]) -> None:
        for uid in self.one(uids):
            had_turn, before = self.ledger.view.has_turn(uid), self.view()
            answer = filtered(self.ledger, uid, now=self.now)
            self.note("filter", uid, had_turn, type(answer).__name__)
            if isinstance(answer, Admitted) and not had_turn:
                self.takes_nothing(before, uid)

    def one(self, uids: list[PodUid]) -> list[PodUid]:
        return picked(uids, self.chance.randrange(len(uids))) if uids else []

    def note(self, *what: object) -> None:
        self.history.append(what)

    def view(self) -> View:
        return view_of(self.ledger, self.document, now=self.now)

    # -- passes ------------------------------

    def run_passes(self) -> None:
        """Run cycles, with something in between, until none is wanted."""
        left = MOST_BETWEEN
        for _ in range(MOST_SLICES):
            if not self.ledger.view.cycle_wanted:
                return
            self.slice()
            for _ in range(min(left, self.chance.choice((0, 0, 1, 1, 2, 3)))):
                self.happen(self.chance.choice(self.plan.between))
                left -= 1
        self.fail("passes do not end")

    def slice(self) -> None:
        live, view = self.ledger.view, self.view()
        if not self.plan.again:
            self.note_fitting(view, begins=not live.cycle.running)
        before = set(live.turns)
        self.ledger.apply(on.CycleDue(), now=self.now)
        given = [(uid, turn.node) for uid, turn in live.turns.items() if uid not in before]
        over = not (live.all_wait or any(live.is_in_demand(uid) for uid in live.waiting))
        if given and not self.plan.again:
            self.overtakes_no_pod(view, [uid for uid, _ in given])
        elif given or over:
            expected = ordered_asks(view)
            if given != expected[: len(given)] or (over and given != expected):
                self.fail(f"the walk gives {expected}, the pass {given}")
        if not self.plan.again:
            self.note_fitting(self.view(), begins=False)
        if given:
            self.note("turns", given)
            self.check_bounds()
        self.given.update({uid: self.ledger.view.generation for uid, _ in given})

    def quiet(self) -> None:
        """Run cycles without other steps. They give the turns of the reference, and then none."""
        self.step(("reload", 0))
        while self.ledger.view.cycle_wanted:
            view, before = self.view(), set(self.ledger.view.turns)
            starts = not self.ledger.view.cycle.running
            self.ledger.apply(on.CycleDue(), now=self.now)
            while self.ledger.view.cycle.running:
                self.ledger.apply(on.CycleDue(), now=self.now)
            given = [(uid, turn.node) for uid, turn in self.ledger.view.turns.items() if uid not in before]
            self.note("quiet", given)
            if starts and given != (expected := ordered_asks(view)):
                self.fail(f"in quiet the walk gives {expected}, the pass {given}")
        if left := ordered_asks(self.view()):
            self.fail(f"nothing is wanted any more, and the walk gives {left}")
        self.check_bounds()
        if found := drifts(self.ledger):
            self.fail(str(found))

    # -- what must hold ------------------------------

    def note_fitting(self, view: View, *, begins: bool) -> None:
        """Note the pods that fit and may be admitted, and that did so since the cycle began."""
        pods = [pod for pod in view.pods.values() if begins or pod.uid in self.fitted]
        pods = [pod for pod in pods if pod.app in let_in(view, pod.leaf)]
        self.fitted = {pod.uid for pod in pods if not pod.held and could_go(view, pod)}

    def overtakes_no_pod(self, view: View, given: list[str]) -> None:
        """Assert that no better pod of the queue is overtaken (F-11).

        A better pod goes before, fits, and has fitted since the cycle began.
        """
        pods = dict(view.pods)
        for uid in given:
            pod, now = pods[uid], replace(view, pods=pods)
            for other in before_it(now, pod):
                if other.uid in self.fitted and could_go(now, other):
                    self.fail(f"{uid} is given a turn before {other.uid}, who fits")
            pods[uid] = replace(pod, held=True, node=self.ledger.view.turns[PodUid(uid)].node)

    def takes_nothing(self, before: View, uid: PodUid) -> None:
        """Assert that each pod that goes before it and fitted still does."""
        after = self.view()
        for other in before_it(before, before.pods[uid]):
            if could_go(before, other) and other.uid in after.pods and not could_go(after, other):
                self.fail(f"{uid} was let through without a turn, and took the room of {other.uid}")

    def check_bounds(self) -> None:
        """Assert that nothing held and no turn exceeds a max, a limit or a node."""
        view = self.view()
        for path, spec in view.queues.items():
            held = view.below(path, held=True)
            self.bound(path, view.cap(path), spec.max_applications, held, view)
            for user in USERS:
                limit = entry(spec, user)
                if limit is not None:
                    cap = dict(limit.max.items()) if limit.max else None
                    own = [pod for pod in held if pod.user == user]
                    self.bound(f"{user} in {path}", cap, limit.max_applications, own, view)
        for name, node in view.nodes.items():
            on_node = [pod for pod in view.pods.values() if pod.node == name]
            self.bound(f"node {name}", dict(node.allocatable.items()), 0, on_node, view)

    def bound(self, what: str, cap: Mapping[str, int] | None, most: int, held: list[Pod], view: View) -> None:
        total = added(pod.size for pod in held)
        over = [
            name for name, amount in total.items() if isinstance(cap, dict) and amount > cap.get(name, amount)
        ]
        if over:
            self.fail(f"{what} holds {total}, and may {cap}")
        # One that was Completing runs again with its next pod, whatever the number (APP-3).
        apps = {app for app in running(view, held) if not self.came_back(app)}
        if most and len(apps) > most:
            self.fail(f"{what} has applications {sorted(apps)}, and may have {most}")

    def came_back(self, app: AppId) -> bool:
        found = self.ledger.view.application(app)
        return found is not None and any(state is AppState.COMPLETING for _, state in found.states)

    def fail(self, what: str) -> None:
        raise AssertionError(f"{what}\n{self.trace()}")


def before_it(view: View, pod: Pod) -> list[Pod]:
    """Asks of the same queue that come before one: from earlier applications, and from its own."""
    found: list[Pod] = []
    waiting = {each.app for each in view.pods.values() if each.leaf == pod.leaf and not each.held}
    for app in applications_in_order(view, pod.leaf, waiting & let_in(view, pod.leaf)):
        for ask in asks_of(view, app):
            if ask.uid == pod.uid:
                return found
            found.append(ask)
    return found


def could_go(view: View, pod: Pod) -> bool:
    """True if an ask would get a turn if it were next."""
    return not (pod.late or pod.backs_off) and fits(view, pod) and node_for(view, pod) is not None


def document(chance: Random, policy: str) -> PartitionSpec:
    specs = []
    for path in ("root.p", *LEAVES):
        properties = {
            "priority.policy": chance.choice(("default", "default", "fence")),
            "priority.offset": chance.choice(("0", "0", "1", "-2", "2147483647")),
            "application.sort.priority": chance.choice(("", "", "enabled", "disabled")),
            "application.sort.policy": policy if path != "root.p" else "",
        }
        caps = [chance.choice(CAPS) for _ in range(2)]
        spec = make_queue(path, leaf=path != "root.p", max=caps[0], guaranteed=caps[1])
        specs.append(
            replace(
                spec,
                properties={key: value for key, value in properties.items() if value},
                limits=chance.choice(LIMITS),
                max_applications=chance.choice((0, 0, 0, 1, 2)),
            )
        )
    return make_partition(*specs)


def nodes(chance: Random) -> list[NodeFacts]:
    return [
        replace(
            make_node(f"n{at}", cpu=chance.randint(1, 6) * 1000, memory=8),
            labels={"zone": chance.choice("xyz")},
        )
        for at in range(chance.randint(1, 3))
    ]


@contextmanager
def sliced(units: int, *, again: bool) -> Iterator[None]:
    """Cycles of slices of a few units of work."""
    with (
        patch.object(cycle_module, "WORK_PER_SLICE", units),
        # Older commits, in which cycles never restarted their order, have no such bound.
        patch.object(cycle_module, "OVER_AGAIN", 10**6 if again else 0, create=True),
        # The reference ordering ignores reserved nodes.
        patch.object(node_search, "RESERVED_AFTER", 10**6),
    ):
        yield


def play(seed: int, between: tuple[str, ...] = ()) -> None:
    """Play one history. Raises AssertionError with the seed and all that happened."""
    chance = Random(seed)
    plan = Plan(between or chance.choice((USED_ONLY, BETWEEN, BETWEEN)), again=chance.random() < 0.6)
    with sliced(chance.choice((3, 8, 20, 40)), again=plan.again):
        world = Slices(chance, plan)
        try:
            for _ in range(chance.randint(1, 3)):
                for _ in range(chance.randint(1, 4)):
                    world.random_asks()
                world.run_passes()
            world.quiet()
        except Ambiguous:
            """Ambiguous states are left out."""
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
