"""A ledger with one pod in every situation there is, and ways to make each counter of it wrong. No tests."""

from collections.abc import Callable

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.pods.record import NO_DAEMON_SET, Charge, Held
from core.ledger.state.admission import Seat, Turn, WaitingKey
from core.ledger.state.gangs import InLine, Place, Role
from core.ledger.state.preemption import Offer, Stage
from core.ledger.state.state import State
from core.ledger.state.timer_heap import set_timer
from core.ledger.state.timers import TimerKind
from core.ledger.state.usage import Episode
from core.ledger.touched import touch
from core.queues.spec import NodeSortSpec
from core.queues.users.limits import Claimant
from core.reasons import Code, Refusal, Said
from core.resource import Limit, Resource
from core.workload.application import Application
from core.workload.daemon_set import DaemonSetKey
from core.workload.gangs.progress import GangProgress
from core.workload.nodes.affinity import ANYWHERE, Constraints
from core.workload.nodes.free_capacity import LIGHT
from core.workload.nodes.node import NodeUse
from core.workload.nodes.ranking import NodeRanking
from core.workload.pending_index import PendingIndex
from core.workload.pod_group import Group, GroupKey
from core.workload.promises import Promises
from core.workload.states import AppState
from tests.builders import (
    AGENTS,
    OF_AGENTS,
    START,
    make_gang,
    make_ledger,
    make_pod,
    make_queue,
    marked,
    triggered,
)

ONE = Resource({"vcore": 1})
GHOSTS = GroupKey("g", "g")
GHOST = Claimant(AppId("ghost", "default"), "ghost", "", True)
COUNTERS = ("allocated", "reserved", "pending", "preempting", "triggered", "bypassed")
"""Of a queue."""


def busy_ledger() -> Ledger:
    """One pod in every situation there is."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 9000}), make_queue("root.p", leaf=False))
    refusal = Refusal(Code.QUOTA_EXCEEDED, "root.a")
    for event in (
        on.PodObserved(make_pod("bound", node="n1")),
        on.PodObserved(make_pod("victim", node="n1")),
        on.PodObserved(make_pod("triggered")),
        on.PodObserved(make_pod("foreign", scheduler_name="x", app="", queue="", node="n1")),
        on.PodObserved(make_pod("reserved")),
        on.PodAdmitted(PodUid("uid-reserved"), 1),
        on.PodOffered(make_pod("provisional")),
        on.PodObserved(make_pod("waiting")),
        on.PodRefused(PodUid("uid-waiting"), refusal, Said("text", Code.QUOTA_EXCEEDED, 1)),
        on.PodObserved(make_pod("ungated", asks_filter=False)),
        on.PodObserved(make_pod("member", app="gang", gang=make_gang(3), task_group="g")),
        on.PodObserved(make_pod("tg-1", app="gang", placeholder=True, task_group="g", node="n2")),
        on.PodObserved(make_pod("tg-2", app="gang", placeholder=True, task_group="g")),
        on.DaemonSetObserved(AGENTS),
        on.PodObserved(make_pod("agent", app="agents", required_node=NodeName("n1"), **OF_AGENTS)),
        on.PodObserved(make_pod("early", scheduler_name="x", app="", queue="", namespace="unseen")),
    ):
        ledger.apply(event, now=START)
    marked(ledger, "uid-victim", "uid-waiting")
    triggered(ledger, "uid-triggered")
    return ledger


def _queue(name: str, held: str) -> Callable[[State], object]:
    def corrupt(state: State) -> None:
        queue = state.config.tree.get(name)
        assert queue is not None
        getattr(queue, held).add(ONE)

    return corrupt


def _applications_of_queue(state: State) -> None:
    queue = state.config.tree.get("root.a")
    assert queue is not None
    queue.applications.add(AppId("ghost", "default"))


def _root_max(state: State) -> None:
    state.config.tree.root.max = Limit({"vcore": 1})


def _stray_charge(state: State) -> None:
    state.usage.charges[PodUid("ghost")] = Charge(Held.PENDING, QueuePath("root.a"), NodeName(""), ONE)


def _lost_charge(state: State) -> None:
    del state.usage.charges[PodUid("uid-bound")]


def _lost_application(state: State) -> None:
    state.pods.records[PodUid("uid-bound")].membership.application = None


def _lost_seat(state: State) -> None:
    state.pending.waits_at.pop(PodUid("uid-waiting"))


def _application(state: State, name: str, *uids: str) -> None:
    state.applications.known[AppId(name, "default")] = Application(
        AppId(name, "default"), "", pods={PodUid(uid) for uid in uids}
    )


def _move(state: State, name: str) -> None:
    state.applications.known[AppId(name, "default")].queue = QueuePath("root.b")


def _await(state: State, namespace: str, uid: str) -> None:
    state.pods.unclassified[namespace] = {PodUid(uid)}


def _lost_residents(state: State) -> None:
    queue = state.config.tree.get("root.a")
    assert queue is not None
    queue.applications.clear()


def _wrong_charge(state: State) -> None:
    uid = PodUid("uid-bound")
    state.usage.charges[uid] = state.usage.charges[uid]._replace(size=ONE)


def _wrong_seat(state: State) -> None:
    key, rank = state.pending.waits_at[PodUid("uid-waiting")]
    state.pending.waits_at[PodUid("uid-waiting")] = Seat(key, (99, *rank[1:]))


def _ghost_turn(state: State) -> Turn:
    seat = Seat(
        WaitingKey(QueuePath("root.a"), ONE, AppId("ghost", "default"), ANYWHERE),
        (0, 0.0, 0, PodUid("ghost")),
    )
    return Turn(seat, START, (state.config.tree.root,), GHOST, NodeName("n1"))


def _ghost_promise(state: State) -> None:
    state.turns.promised.setdefault(QueuePath("root.a"), Promises()).add(AppId("ghost", "default"), 7, ONE)


def _wrong_verdict(state: State) -> None:
    heavy = Constraints(tuple((f"key-{at}", "value") for at in range(LIGHT + 1)))
    assert not state.usage.free_capacity.admits(state.cluster.nodes[NodeName("n1")], heavy)
    state.usage.free_capacity._judged[heavy][NodeName("n1")] = True


def _empty_group(state: State) -> None:
    state.pending.waiting[QueuePath("root.b")] = PendingIndex()


def _stray_rank(state: State) -> None:
    index = next(iter(state.pending.waiting.values()))
    index.add(AppId("app-1", "default"), (ONE, ANYWHERE), (0, 0.0, 0, PodUid("ghost")))


def _ranking(corrupt: Callable[[NodeRanking], object]) -> Callable[[State], object]:
    """Of nodes that somebody has asked about."""

    def corrupted(state: State) -> None:
        corrupt(state.usage.free_capacity.ranked(state.config.node_sort, state.cluster.nodes))

    return corrupted


RANKING: list[tuple[str, Callable[[NodeRanking], object]]] = [
    ("score of n1", lambda ranking: setattr(ranking, "sort", NodeSortSpec("binpacking"))),
    ("score of n1", lambda ranking: ranking._filed.update({NodeName("n1"): 7.0})),
    ("score of n1", lambda ranking: ranking._filed.clear()),
    ("score of n7", lambda ranking: ranking._refile(NodeName("n7"), 0.0)),
    ("score of n1", lambda ranking: ranking._scores.__setitem__(0, 7.0)),
    ("score of n1", lambda ranking: ranking._names.__setitem__(0, NodeName("n7"))),
    ("room: places of nobody", lambda ranking: ranking._names.append(NodeName("n7"))),
    ("room: places of nobody", lambda ranking: ranking._scores.append(7.0)),
    ("change of n7", lambda ranking: ranking.note_change(NodeName("n7"))),
]


def _ghost_place() -> Place:
    return Place(Role.WAITING, AppId("gang", "default"), "g", (0, 0.0, 0, PodUid("ghost")))


def _formation(corrupt: Callable[[GangProgress], object]) -> Callable[[State], object]:
    def corrupted(state: State) -> None:
        gang_progress = state.applications.known[AppId("gang", "default")].gang_progress
        assert gang_progress is not None
        corrupt(gang_progress)

    return corrupted


FORMATION: list[tuple[str, Callable[[GangProgress], object]]] = [
    ("pods that wait for the gang of default/gang", lambda gang_progress: gang_progress.waiting.clear()),
    ("group g of default/gang: pending", lambda gang_progress: gang_progress.groups["g"].pending.clear()),
    (
        "group g of default/gang: held",
        lambda gang_progress: gang_progress.groups["g"].held.add((0, 0.0, 0, PodUid("x"))),
    ),
    (
        "group g of default/gang: wanting",
        lambda gang_progress: gang_progress.groups["g"].wanting.add((0, 0.0, 0, PodUid("x"))),
    ),
]

CORRUPTIONS: list[tuple[str, str, Callable[[State], object]]] = [
    *[
        ("config.tree", f"{held} of {path}", _queue(path, held))
        for path in ("root", "root.p", "root.a")
        for held in COUNTERS
    ],
    ("config.tree", "applications of root.a", _lost_residents),
    ("usage.charges", "charge of uid-bound", _wrong_charge),
    ("pods.touched", "pods to settle", lambda state: touch(state, state.pods.records[PodUid("uid-bound")])),
    ("usage.uses", "pods on n7: any", lambda state: state.usage.uses.__setitem__(NodeName("n7"), NodeUse())),
    ("applications.known", "pods of default/ghost: any", lambda state: _application(state, "ghost")),
    (
        "applications.namesakes",
        "applications of id app-1",
        lambda state: state.applications.namesakes["app-1"].clear(),
    ),
    (
        "applications.namesakes",
        "applications of id nope",
        lambda state: state.applications.namesakes.update({"nope": set()}),
    ),
    (
        "applications.guests",
        "where pods of other/app-1 belong",
        lambda state: state.applications.guests.update({AppId("app-1", "other"): AppId("app-1", "default")}),
    ),
    (
        "applications.known",
        "pods of other namespaces in default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].guests.update(other=1),
    ),
    (
        "timers.due",
        "timer of default/app-1",
        lambda state: state.timers.due.update(
            {(TimerKind.APPLICATION_STATE, AppId("app-1", "default")): 0.0}
        ),
    ),
    (
        "config.tree",
        "completing in root.a",
        lambda state: state.config.tree.get("root.a").completing.add(AppId("app-1", "default")),  # type: ignore[union-attr]
    ),
    (
        "applications.unplaced",
        "applications without a queue: default/app-1",
        lambda state: state.applications.unplaced.add(AppId("app-1", "default")),
    ),
    ("applications.known", "charge of uid-bound", lambda state: _move(state, "app-1")),
    (
        "applications.known",
        "pods of default/other: uid-bound",
        lambda state: _application(state, "other", "uid-bound"),
    ),
    (
        "pods.unclassified",
        "unclassified index: uid-bound",
        lambda state: _await(state, "default", "uid-bound"),
    ),
    (
        "pods.unclassified",
        "unclassified index: uid-early",
        lambda state: _await(state, "default", "uid-early"),
    ),
    ("pending.waits_at", "waiting: uid-waiting", _wrong_seat),
    ("pending.waiting", "waiting in root.b: any", _empty_group),
    ("pending.waiting", "waiting: ghost", _stray_rank),
    (
        "pending.waiting",
        "waiting in root.a: sizes",
        lambda state: next(iter(state.pending.waiting.values())).sizes.update({ONE: 9}),
    ),
    ("config.tree", "applications of root.a", _applications_of_queue),
    ("config.tree", "asked of root.a", lambda state: state.config.tree.get("root.a").asked.update({7: 1})),  # type: ignore[union-attr]
    ("config.tree", "priority of root", lambda state: setattr(state.config.tree.root, "priority", 7)),
    ("config.tree", "shown to root", lambda state: state.config.tree.root.shown.update({7: 1})),
    ("config.tree", "priority of root", lambda state: setattr(state.config.tree.root, "raw_priority", 7)),
    (
        "turns.given",
        "given by turns",
        lambda state: state.turns.given.add((state.config.tree.root,), GHOST, ONE),
    ),
    ("turns.promised", "promised by turns", _ghost_promise),
    ("turns.of", "turn of ghost", lambda state: state.turns.of.update({PodUid("ghost"): _ghost_turn(state)})),
    ("turns.unwoken", "unwoken: uid-waiting", lambda state: state.turns.unwoken.add(PodUid("uid-waiting"))),
    ("unguarded.placing", "unguarded index of uid-ungated", lambda state: state.unguarded.placing.clear()),
    (
        "unguarded.unplaced",
        "unguarded index of uid-ungated",
        lambda state: state.unguarded.unplaced.update({PodUid("uid-ungated"): None}),
    ),
    (
        "unguarded.placing",
        "unguarded index of uid-bound",
        lambda state: state.unguarded.placing.update({PodUid("uid-bound"): START}),
    ),
    (
        "unguarded.bypasses",
        "unguarded index: ghost",
        lambda state: state.unguarded.bypasses.update({PodUid("ghost"): None}),
    ),
    (
        "turns.fresh",
        "fresh: ghost",
        lambda state: state.turns.fresh.update({PodUid("ghost"): _ghost_turn(state).seat}),
    ),
    ("config.tree", "fresh of root.a", lambda state: state.config.tree.get("root.a").fresh.add(ONE)),  # type: ignore[union-attr]
    (
        "applications.known",
        "asked by default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].asked.update({7: 1}),
    ),
    (
        "applications.known",
        "used by default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].used.add(ONE),
    ),
    ("config.tree", "running", lambda state: state.config.tree.root.running.clear()),
    (
        "usage.book",
        "usage of users and groups",
        lambda state: state.usage.book.add(GHOST, [QueuePath("root")], ONE),
    ),
    (
        "usage.book",
        "usage of users and groups",
        lambda state: state.usage.book.start(GHOST, [QueuePath("root")]),
    ),
    (
        "applications.known",
        "group of default/app-1",
        lambda state: setattr(state.applications.known[AppId("app-1", "default")], "group", "ghosts"),
    ),
    (
        "applications.known",
        "running",
        lambda state: state.applications.known[AppId("app-1", "default")].enter(AppState.ACCEPTED, now=START),
    ),
    ("config.tree", "max of root", _root_max),
    ("usage.charges", "charges: ghost", _stray_charge),
    ("usage.charges", "charge of uid-bound", _lost_charge),
    ("usage.uses", "allocated on n1", lambda state: state.usage.uses[NodeName("n1")].allocated.add(ONE)),
    ("usage.free_capacity", "room on n1", lambda state: state.usage.free_capacity.take(NodeName("n1"), ONE)),
    ("usage.free_capacity", "order of n1", lambda state: state.usage.free_capacity._order.clear()),
    (
        "usage.free_capacity",
        "room: places of nobody",
        lambda state: state.usage.free_capacity._order.append((99, NodeName("n7"))),
    ),
    *[("usage.free_capacity", named, _ranking(corrupt)) for named, corrupt in RANKING],
    ("usage.free_capacity", "left behind []", lambda state: state.usage.free_capacity.barred._left.clear()),
    (
        "usage.free_capacity",
        "nodes behind bars",
        lambda state: state.usage.free_capacity.barred._nodes.clear(),
    ),
    (
        "usage.free_capacity",
        "left behind",
        lambda state: state.usage.free_capacity.barred.change(NodeName("n1"), {}, ONE.items(), 1),
    ),
    (
        "usage.free_capacity",
        "nodes behind bars",
        lambda state: state.usage.free_capacity.barred._nodes.update({frozenset(): 7}),
    ),
    ("usage.free_capacity", "bars of n1", lambda state: state.usage.free_capacity.barred._bars.clear()),
    ("usage.free_capacity", "verdict on n1", _wrong_verdict),
    ("usage.afloat", "reserved on no node", lambda state: state.usage.afloat.add(ONE)),
    ("usage.tolerated", "tolerated", lambda state: state.usage.tolerated.clear()),
    ("usage.uses", "occupied on n1", lambda state: state.usage.uses[NodeName("n1")].occupied.add(ONE)),
    ("usage.uses", "pods on n1", lambda state: state.usage.uses[NodeName("n1")].pods.add(PodUid("ghost"))),
    ("usage.uses", "pods on n1", lambda state: state.usage.uses[NodeName("n1")].pods.clear()),
    (
        "usage.uses",
        "evictable on n1",
        lambda state: state.usage.uses[NodeName("n1")].evictable.groups.clear(),
    ),
    ("usage.capacity", "capacity", lambda state: state.usage.capacity.add(ONE)),
    (
        "applications.known",
        "pods of default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].pods.clear(),
    ),
    ("applications.known", "application of uid-bound", _lost_application),
    ("pods.by_name", "name index of uid-bound", lambda state: state.pods.by_name.pop(("default", "bound"))),
    (
        "pods.by_name",
        "name index",
        lambda state: state.pods.by_name.__setitem__(("default", "bound"), (PodUid("uid-waiting"),)),
    ),
    ("usage.reserved", "reserved index of uid-reserved", lambda state: state.usage.reserved.clear()),
    (
        "timers.due",
        "end of reservation of uid-reserved",
        lambda state: state.timers.due.pop((TimerKind.RESERVATION, PodUid("uid-reserved"))),
    ),
    (
        "timers.due",
        "timer of ghost",
        lambda state: state.timers.due.update({(TimerKind.RESERVATION, PodUid("ghost")): START}),
    ),
    ("usage.reserved", "reserved index: ghost", lambda state: state.usage.reserved.add(PodUid("ghost"))),
    (
        "pods.provisional",
        "provisional index of uid-provisional",
        lambda state: state.pods.provisional.clear(),
    ),
    (
        "pods.doubted",
        "doubted index of uid-waiting",
        lambda state: state.pods.doubted.add(PodUid("uid-waiting")),
    ),
    ("pods.doubted", "doubted index: ghost", lambda state: state.pods.doubted.add(PodUid("ghost"))),
    (
        "pods.provisional",
        "provisional index: ghost",
        lambda state: state.pods.provisional.add(PodUid("ghost")),
    ),
    ("pods.unclassified", "unclassified index of uid-early", lambda state: state.pods.unclassified.clear()),
    (
        "pods.unclassified",
        "unclassified index: ghost",
        lambda state: state.pods.unclassified["unseen"].add(PodUid("ghost")),
    ),
    (
        "reservations.of",
        "kept for uid-waiting",
        lambda state: setattr(
            state.pods.records[PodUid("uid-waiting")].node_reservation, "node", NodeName("n1")
        ),
    ),
    (
        "preemption.victims",
        "victims for ghost",
        lambda state: state.preemption.victims.update({PodUid("ghost"): {PodUid("uid-bound"): Stage.CHOSEN}}),
    ),
    ("preemption.victims", "victim: uid-victim", lambda state: state.preemption.victims.clear()),
    (
        "preemption.victims",
        "victims for uid-waiting: offered",
        lambda state: state.preemption.victims[PodUid("uid-waiting")].update(
            {PodUid("uid-victim"): Stage.OFFERED}
        ),
    ),
    (
        "preemption.offers",
        "offer for uid-waiting",
        lambda state: state.preemption.offers.update(
            {PodUid("uid-waiting"): Offer("1-a", NodeName("n1"), (), START)}
        ),
    ),
    (
        "preemption.attempts",
        "try of ghost",
        lambda state: state.preemption.attempts.update({PodUid("ghost"): START}),
    ),
    (
        "preemption.trying",
        "try of ghost",
        lambda state: state.preemption.trying.update({PodUid("ghost"): None}),
    ),
    (
        "reservations.young",
        "age of ghost",
        lambda state: state.reservations.young.update({PodUid("ghost"): START}),
    ),
    ("reservations.aged", "age of ghost", lambda state: state.reservations.aged.add(PodUid("ghost"))),
    (
        "reservations.of",
        "keeper of n1",
        lambda state: state.reservations.of.update({NodeName("n1"): PodUid("uid-waiting")}),
    ),
    ("gangs.places", "place of uid-member", lambda state: state.gangs.places.pop(PodUid("uid-member"))),
    (
        "gangs.places",
        "place of ghost",
        lambda state: state.gangs.places.update({PodUid("ghost"): _ghost_place()}),
    ),
    (
        "gangs.slots_at",
        "slot of ghost",
        lambda state: state.gangs.slots_at.update({PodUid("ghost"): NodeName("n1")}),
    ),
    ("gangs.opening", "link of ghost", lambda state: state.gangs.opening.update({PodUid("ghost"): START})),
    (
        "gangs.line",
        "gangs in line",
        lambda state: state.gangs.line.append(InLine(False, 0, START, AppId("ghost", "default"))),
    ),
    (
        "gangs.in_line",
        "gangs in line",
        lambda state: state.gangs.in_line.update(g=InLine(False, 0, START, AppId("g", "default"))),
    ),
    (
        "gangs.slots",
        "slots on n1",
        lambda state: state.gangs.slots.update({NodeName("n1"): {PodUid("ghost")}}),
    ),
    ("timers.due", "gang of default/gang is due", lambda state: state.timers.due.clear()),
    (
        "timers.due",
        "timer of stranger",
        lambda state: state.timers.due.update({(TimerKind.USER_GROUPS, "stranger"): START}),
    ),
    ("timers.due", "timers of offers", lambda state: set_timer(state, TimerKind.OFFER, "ghost", START)),
    (
        "timers.due",
        "timers of reserved nodes",
        lambda state: set_timer(state, TimerKind.NODE_RESERVATION, "ghost", START),
    ),
    ("timers.heaps", "timers outside the heap", lambda state: state.timers.heaps.clear()),
    (
        "timers.due",
        "gang of default/ghost is due",
        lambda state: state.timers.due.update({(TimerKind.GANG, AppId("ghost", "default")): START}),
    ),
    (
        "applications.known",
        "placeholders of default/gang",
        lambda state: state.applications.known[AppId("gang", "default")].holders.clear(),
    ),
    (
        "applications.known",
        "placeholders of default/gang with room",
        lambda state: setattr(state.applications.known[AppId("gang", "default")], "holding", 7),
    ),
    *[("applications.known", named, _formation(corrupt)) for named, corrupt in FORMATION],
    ("pending.waits_at", "waiting index of uid-waiting", _lost_seat),
    ("pending.waiting", "waiting: uid-waiting", lambda state: state.pending.waiting.clear()),
    ("podgroups.known", "pod group g", lambda state: state.podgroups.known.update({GHOSTS: Group(GHOSTS)})),
    (
        "cluster.daemon_pods",
        "required node of uid-agent",
        lambda state: setattr(state.pods.records[PodUid("uid-agent")], "daemon", NO_DAEMON_SET),
    ),
    ("cluster.daemon_pods", "DaemonSet index of uid-agent", lambda state: state.cluster.daemon_pods.clear()),
    (
        "cluster.daemon_pods",
        "pods of DaemonSet default/ghosts",
        lambda state: state.cluster.daemon_pods.update(
            {DaemonSetKey("default", "ghosts"): {PodUid("uid-agent")}}
        ),
    ),
    ("podgroups.watched", "watched: g", lambda state: state.podgroups.watched.update({GHOSTS: None})),
    (
        "usage.over_max",
        "above a max: root.a",
        lambda state: state.usage.over_max.update({QueuePath("root.a"): Episode(None)}),
    ),
]
"""The field of the state that is made wrong in a `busy_ledger`, what the audit says first of it, and how."""
