"""A ledger with one pod in every situation there is, and ways to make each counter of it wrong. No tests."""

from collections.abc import Callable

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.pods.record import Charge, Held
from core.ledger.state import (
    Episode,
    InLine,
    Offer,
    Place,
    Role,
    Seat,
    Stage,
    State,
    Turn,
    WaitingKey,
)
from core.queues.spec import NodeSortSpec
from core.queues.users.limits import Claimant
from core.reasons import Code, Refusal, Said
from core.resource import Limit, Resource
from core.workload.application import Application
from core.workload.daemon_set import DaemonSetKey
from core.workload.gangs.progress import Formation
from core.workload.nodes.affinity import ANYWHERE, Constraints
from core.workload.nodes.node import NodeUse
from core.workload.nodes.ranking import NodeRanking
from core.workload.nodes.room import LIGHT
from core.workload.pending_index import Lineup
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
        queue = state.tree.get(name)
        assert queue is not None
        getattr(queue, held).add(ONE)

    return corrupt


def _applications_of_queue(state: State) -> None:
    queue = state.tree.get("root.a")
    assert queue is not None
    queue.applications.add(AppId("ghost", "default"))


def _root_max(state: State) -> None:
    state.tree.root.max = Limit({"vcore": 1})


def _stray_charge(state: State) -> None:
    state.charges[PodUid("ghost")] = Charge(Held.PENDING, QueuePath("root.a"), NodeName(""), ONE)


def _lost_charge(state: State) -> None:
    del state.charges[PodUid("uid-bound")]


def _lost_application(state: State) -> None:
    state.pods[PodUid("uid-bound")].application = None


def _lost_seat(state: State) -> None:
    state.waits_at.pop(PodUid("uid-waiting"))


def _application(state: State, name: str, *uids: str) -> None:
    state.applications[AppId(name, "default")] = Application(
        AppId(name, "default"), "", pods={PodUid(uid) for uid in uids}
    )


def _move(state: State, name: str) -> None:
    state.applications[AppId(name, "default")].queue = QueuePath("root.b")


def _await(state: State, namespace: str, uid: str) -> None:
    state.unclassified[namespace] = {PodUid(uid)}


def _lost_residents(state: State) -> None:
    queue = state.tree.get("root.a")
    assert queue is not None
    queue.applications.clear()


def _wrong_charge(state: State) -> None:
    uid = PodUid("uid-bound")
    state.charges[uid] = state.charges[uid]._replace(size=ONE)


def _wrong_seat(state: State) -> None:
    key, rank = state.waits_at[PodUid("uid-waiting")]
    state.waits_at[PodUid("uid-waiting")] = Seat(key, (99, *rank[1:]))


def _ghost_turn(state: State) -> Turn:
    seat = Seat(
        WaitingKey(QueuePath("root.a"), ONE, AppId("ghost", "default"), ANYWHERE),
        (0, 0.0, 0, PodUid("ghost")),
    )
    return Turn(seat, START, (state.tree.root,), GHOST, NodeName("n1"))


def _ghost_promise(state: State) -> None:
    state.promised.setdefault(QueuePath("root.a"), Promises()).add(AppId("ghost", "default"), 7, ONE)


def _wrong_verdict(state: State) -> None:
    heavy = Constraints(tuple((f"key-{at}", "value") for at in range(LIGHT + 1)))
    assert not state.node_room.admits(state.nodes[NodeName("n1")], heavy)
    state.node_room._judged[heavy][NodeName("n1")] = True


def _empty_group(state: State) -> None:
    state.waiting[QueuePath("root.b")] = Lineup()


def _stray_rank(state: State) -> None:
    lineup = next(iter(state.waiting.values()))
    lineup.add(AppId("app-1", "default"), (ONE, ANYWHERE), (0, 0.0, 0, PodUid("ghost")))


def _ranking(corrupt: Callable[[NodeRanking], object]) -> Callable[[State], object]:
    """Of nodes that somebody has asked about."""

    def corrupted(state: State) -> None:
        corrupt(state.node_room.ranked(state.node_sort, state.nodes))

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


def _formation(corrupt: Callable[[Formation], object]) -> Callable[[State], object]:
    def corrupted(state: State) -> None:
        formation = state.applications[AppId("gang", "default")].formation
        assert formation is not None
        corrupt(formation)

    return corrupted


FORMATION: list[tuple[str, Callable[[Formation], object]]] = [
    ("pods that wait for the gang of default/gang", lambda formation: formation.waiting.clear()),
    ("group g of default/gang: pending", lambda formation: formation.groups["g"].pending.clear()),
    (
        "group g of default/gang: held",
        lambda formation: formation.groups["g"].held.add((0, 0.0, 0, PodUid("x"))),
    ),
    (
        "group g of default/gang: wanting",
        lambda formation: formation.groups["g"].wanting.add((0, 0.0, 0, PodUid("x"))),
    ),
]

CORRUPTIONS: list[tuple[str, str, Callable[[State], object]]] = [
    *[
        ("tree", f"{held} of {path}", _queue(path, held))
        for path in ("root", "root.p", "root.a")
        for held in COUNTERS
    ],
    ("tree", "applications of root.a", _lost_residents),
    ("charges", "charge of uid-bound", _wrong_charge),
    ("uses", "pods on n7: any", lambda state: state.uses.__setitem__(NodeName("n7"), NodeUse())),
    ("applications", "pods of default/ghost: any", lambda state: _application(state, "ghost")),
    ("namesakes", "applications of id app-1", lambda state: state.namesakes["app-1"].clear()),
    ("namesakes", "applications of id nope", lambda state: state.namesakes.update({"nope": set()})),
    (
        "guests",
        "where pods of other/app-1 belong",
        lambda state: state.guests.update({AppId("app-1", "other"): AppId("app-1", "default")}),
    ),
    (
        "applications",
        "pods of other namespaces in default/app-1",
        lambda state: state.applications[AppId("app-1", "default")].guests.update(other=1),
    ),
    ("timers", "timer of default/app-1", lambda state: state.timers.update({AppId("app-1", "default"): 0.0})),
    (
        "tree",
        "completing in root.a",
        lambda state: state.tree.get("root.a").completing.add(AppId("app-1", "default")),  # type: ignore[union-attr]
    ),
    (
        "unplaced",
        "applications without a queue: default/app-1",
        lambda state: state.unplaced.add(AppId("app-1", "default")),
    ),
    ("applications", "charge of uid-bound", lambda state: _move(state, "app-1")),
    (
        "applications",
        "pods of default/other: uid-bound",
        lambda state: _application(state, "other", "uid-bound"),
    ),
    ("unclassified", "unclassified index: uid-bound", lambda state: _await(state, "default", "uid-bound")),
    ("unclassified", "unclassified index: uid-early", lambda state: _await(state, "default", "uid-early")),
    ("waits_at", "waiting: uid-waiting", _wrong_seat),
    ("waiting", "waiting in root.b: any", _empty_group),
    ("waiting", "waiting: ghost", _stray_rank),
    (
        "waiting",
        "waiting in root.a: sizes",
        lambda state: next(iter(state.waiting.values())).sizes.update({ONE: 9}),
    ),
    ("tree", "applications of root.a", _applications_of_queue),
    ("tree", "asked of root.a", lambda state: state.tree.get("root.a").asked.update({7: 1})),  # type: ignore[union-attr]
    ("tree", "priority of root", lambda state: setattr(state.tree.root, "priority", 7)),
    ("tree", "shown to root", lambda state: state.tree.root.shown.update({7: 1})),
    ("tree", "priority of root", lambda state: setattr(state.tree.root, "raw_priority", 7)),
    ("given", "given by turns", lambda state: state.given.add((state.tree.root,), GHOST, ONE)),
    ("promised", "promised by turns", _ghost_promise),
    ("turns", "turn of ghost", lambda state: state.turns.update({PodUid("ghost"): _ghost_turn(state)})),
    ("unwoken", "unwoken: uid-waiting", lambda state: state.unwoken.add(PodUid("uid-waiting"))),
    ("unguarded", "unguarded index of uid-ungated", lambda state: state.unguarded.placing.clear()),
    (
        "unguarded",
        "unguarded index of uid-ungated",
        lambda state: state.unguarded.unplaced.update({PodUid("uid-ungated"): None}),
    ),
    (
        "unguarded",
        "unguarded index of uid-bound",
        lambda state: state.unguarded.placing.update({PodUid("uid-bound"): START}),
    ),
    (
        "unguarded",
        "unguarded index: ghost",
        lambda state: state.unguarded.bypasses.update({PodUid("ghost"): None}),
    ),
    ("fresh", "fresh: ghost", lambda state: state.fresh.update({PodUid("ghost"): _ghost_turn(state).seat})),
    ("tree", "fresh of root.a", lambda state: state.tree.get("root.a").fresh.add(ONE)),  # type: ignore[union-attr]
    (
        "applications",
        "asked by default/app-1",
        lambda state: state.applications[AppId("app-1", "default")].asked.update({7: 1}),
    ),
    (
        "applications",
        "used by default/app-1",
        lambda state: state.applications[AppId("app-1", "default")].used.add(ONE),
    ),
    ("tree", "running", lambda state: state.tree.root.running.clear()),
    ("book", "usage of users and groups", lambda state: state.book.add(GHOST, [QueuePath("root")], ONE)),
    ("book", "usage of users and groups", lambda state: state.book.start(GHOST, [QueuePath("root")])),
    (
        "applications",
        "group of default/app-1",
        lambda state: setattr(state.applications[AppId("app-1", "default")], "group", "ghosts"),
    ),
    (
        "applications",
        "running",
        lambda state: state.applications[AppId("app-1", "default")].enter(AppState.ACCEPTED, now=START),
    ),
    ("tree", "max of root", _root_max),
    ("charges", "charges: ghost", _stray_charge),
    ("charges", "charge of uid-bound", _lost_charge),
    ("uses", "allocated on n1", lambda state: state.uses[NodeName("n1")].allocated.add(ONE)),
    ("node_room", "room on n1", lambda state: state.node_room.take(NodeName("n1"), ONE)),
    ("node_room", "order of n1", lambda state: state.node_room._order.clear()),
    (
        "node_room",
        "room: places of nobody",
        lambda state: state.node_room._order.append((99, NodeName("n7"))),
    ),
    *[("node_room", named, _ranking(corrupt)) for named, corrupt in RANKING],
    ("node_room", "left behind []", lambda state: state.node_room.barred._left.clear()),
    ("node_room", "nodes behind bars", lambda state: state.node_room.barred._nodes.clear()),
    (
        "node_room",
        "left behind",
        lambda state: state.node_room.barred.change(NodeName("n1"), {}, ONE.items(), 1),
    ),
    ("node_room", "nodes behind bars", lambda state: state.node_room.barred._nodes.update({frozenset(): 7})),
    ("node_room", "bars of n1", lambda state: state.node_room.barred._bars.clear()),
    ("node_room", "verdict on n1", _wrong_verdict),
    ("afloat", "reserved on no node", lambda state: state.afloat.add(ONE)),
    ("tolerated", "tolerated", lambda state: state.tolerated.clear()),
    ("uses", "occupied on n1", lambda state: state.uses[NodeName("n1")].occupied.add(ONE)),
    ("uses", "pods on n1", lambda state: state.uses[NodeName("n1")].pods.add(PodUid("ghost"))),
    ("uses", "pods on n1", lambda state: state.uses[NodeName("n1")].pods.clear()),
    ("uses", "evictable on n1", lambda state: state.uses[NodeName("n1")].evictable.groups.clear()),
    ("capacity", "capacity", lambda state: state.capacity.add(ONE)),
    (
        "applications",
        "pods of default/app-1",
        lambda state: state.applications[AppId("app-1", "default")].pods.clear(),
    ),
    ("applications", "application of uid-bound", _lost_application),
    ("by_name", "name index of uid-bound", lambda state: state.by_name.pop(("default", "bound"))),
    (
        "by_name",
        "name index",
        lambda state: state.by_name.__setitem__(("default", "bound"), (PodUid("uid-waiting"),)),
    ),
    ("reserved", "reserved index of uid-reserved", lambda state: state.reserved.clear()),
    ("reserved", "reserved index: ghost", lambda state: state.reserved.add(PodUid("ghost"))),
    ("provisional", "provisional index of uid-provisional", lambda state: state.provisional.clear()),
    ("doubted", "doubted index of uid-waiting", lambda state: state.doubted.add(PodUid("uid-waiting"))),
    ("doubted", "doubted index: ghost", lambda state: state.doubted.add(PodUid("ghost"))),
    ("provisional", "provisional index: ghost", lambda state: state.provisional.add(PodUid("ghost"))),
    ("unclassified", "unclassified index of uid-early", lambda state: state.unclassified.clear()),
    (
        "unclassified",
        "unclassified index: ghost",
        lambda state: state.unclassified["unseen"].add(PodUid("ghost")),
    ),
    (
        "kept",
        "kept for uid-waiting",
        lambda state: setattr(state.pods[PodUid("uid-waiting")], "keeps", NodeName("n1")),
    ),
    (
        "victims",
        "victims for ghost",
        lambda state: state.victims.update({PodUid("ghost"): {PodUid("uid-bound"): Stage.CHOSEN}}),
    ),
    ("victims", "victim: uid-victim", lambda state: state.victims.clear()),
    (
        "victims",
        "victims for uid-waiting: offered",
        lambda state: state.victims[PodUid("uid-waiting")].update({PodUid("uid-victim"): Stage.OFFERED}),
    ),
    (
        "offers",
        "offer for uid-waiting",
        lambda state: state.offers.update({PodUid("uid-waiting"): Offer("1-a", NodeName("n1"), (), START)}),
    ),
    ("tries", "try of ghost", lambda state: state.tries.update({PodUid("ghost"): START})),
    ("trying", "try of ghost", lambda state: state.trying.update({PodUid("ghost"): None})),
    ("young", "age of ghost", lambda state: state.young.update({PodUid("ghost"): START})),
    ("aged", "age of ghost", lambda state: state.aged.add(PodUid("ghost"))),
    ("kept", "keeper of n1", lambda state: state.kept.update({NodeName("n1"): PodUid("uid-waiting")})),
    ("places", "place of uid-member", lambda state: state.places.pop(PodUid("uid-member"))),
    ("places", "place of ghost", lambda state: state.places.update({PodUid("ghost"): _ghost_place()})),
    ("slots_at", "slot of ghost", lambda state: state.slots_at.update({PodUid("ghost"): NodeName("n1")})),
    ("opening", "link of ghost", lambda state: state.opening.update({PodUid("ghost"): START})),
    (
        "line",
        "gangs in line",
        lambda state: state.line.append(InLine(False, 0, START, AppId("ghost", "default"))),
    ),
    (
        "in_line",
        "gangs in line",
        lambda state: state.in_line.update(g=InLine(False, 0, START, AppId("g", "default"))),
    ),
    ("slots", "slots on n1", lambda state: state.slots.update({NodeName("n1"): {PodUid("ghost")}})),
    ("forming", "gang of default/gang is due", lambda state: state.forming.clear()),
    (
        "forming",
        "gang of default/ghost is due",
        lambda state: state.forming.update({AppId("ghost", "default"): START}),
    ),
    (
        "applications",
        "placeholders of default/gang",
        lambda state: state.applications[AppId("gang", "default")].holders.clear(),
    ),
    (
        "applications",
        "placeholders of default/gang with room",
        lambda state: setattr(state.applications[AppId("gang", "default")], "holding", 7),
    ),
    *[("applications", named, _formation(corrupt)) for named, corrupt in FORMATION],
    ("waits_at", "waiting index of uid-waiting", _lost_seat),
    ("waiting", "waiting: uid-waiting", lambda state: state.waiting.clear()),
    ("pod_groups", "pod group g", lambda state: state.pod_groups.update({GHOSTS: Group(GHOSTS)})),
    (
        "daemon_pods",
        "required node of uid-agent",
        lambda state: setattr(state.pods[PodUid("uid-agent")], "required_node", NodeName("")),
    ),
    ("daemon_pods", "DaemonSet index of uid-agent", lambda state: state.daemon_pods.clear()),
    (
        "daemon_pods",
        "pods of DaemonSet default/ghosts",
        lambda state: state.daemon_pods.update({DaemonSetKey("default", "ghosts"): {PodUid("uid-agent")}}),
    ),
    ("watched", "watched: g", lambda state: state.watched.update({GHOSTS: None})),
    (
        "over_max",
        "above a max: root.a",
        lambda state: state.over_max.update({QueuePath("root.a"): Episode(None)}),
    ),
]
"""The field of the state that is made wrong in a `busy_ledger`, what the audit says first of it, and how."""
