"""A world with contention, for the properties of turns, and a reference ordering beside it.

No tests live here.
"""

from dataclasses import replace

from hypothesis import HealthCheck, event, reject, settings
from hypothesis import strategies as st

from core.decisions.decision import Admitted, Refused
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec, PartitionSpec
from core.queues.users.identity import Identity
from core.reasons import Code
from core.resource import Limit, Resource
from core.workload.nodes.affinity import Constraints
from core.workload.nodes.node import NodeFacts
from tests.builders import (
    START,
    bind_called,
    filtered,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    record_of,
)
from tests.builders import make_queue as queue
from tests.properties.admission.reference_ordering import (
    Ambiguous,
    fits,
    let_in,
    node_for,
    ordered_asks,
    view_of,
)

QUICK = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

USERS = ("alice", "bob")
LEAVES = ("root.p.a", "root.p.b", "root.c")
ZONES = ("", "", "", "x", "y")


@st.composite
def documents(draw: st.DrawFn, policies: tuple[str, ...] = ("",), limited: bool = True) -> PartitionSpec:
    """``limited``: whether there are limits of users and of applications."""
    specs = []
    for path in ("root.p", *LEAVES):
        properties = {}
        for key, values in (
            ("priority.policy", ("default", "default", "fence")),
            ("priority.offset", ("0", "0", "1", "-2", "2147483647")),
            ("application.sort.priority", ("", "", "enabled", "disabled")),
            ("application.sort.policy", policies),
        ):
            value = draw(st.sampled_from(values))
            if value and not (path == "root.p" and key.endswith("sort.policy")):
                properties[key] = value
        specs.append(
            replace(
                queue(
                    path,
                    leaf=path != "root.p",
                    max=draw(caps),
                    guaranteed=draw(caps),
                ),
                properties=properties,
                limits=draw(limits) if limited else (),
                max_applications=draw(st.sampled_from((0, 0, 0, 1, 2))) if limited else 0,
            )
        )
    return make_partition(*specs)


caps = st.sampled_from((None, None, {"vcore": 2000}, {"vcore": 3000, "memory": 6}, {"vcore": 5000}))
limits = st.sampled_from(
    (
        (),
        (),
        (LimitSpec(("alice",), (), Limit({"vcore": 2000})),),
        (LimitSpec(("*",), (), Limit({"vcore": 3000}), 1), LimitSpec(("bob",), (), None, 2)),
    )
)


@st.composite
def clusters(draw: st.DrawFn) -> list[NodeFacts]:
    return [
        replace(make_node(f"n{at}", cpu=draw(st.integers(1, 4)) * 1000, memory=8), labels={"zone": zone})
        for at, zone in enumerate(draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=3)))
    ]


asks = st.tuples(
    st.just("ask"),
    st.sampled_from(LEAVES),
    st.sampled_from(USERS),
    st.integers(0, 1),
    st.sampled_from((500, 1000, 1000, 1000, 2000)),
    st.sampled_from((0, 0, 0, 0, 1, 3)),
    st.integers(-1, 5),
    st.integers(0, 2),
    st.sampled_from(ZONES),
)
which = st.integers(0, 9)
steps = st.one_of(
    asks,
    asks,
    asks,
    st.tuples(st.just("call"), which),
    st.tuples(st.just("call"), which),
    st.tuples(st.just("come"), which),
    st.tuples(st.just("come"), which),
    st.tuples(st.just("bind"), which),
    st.tuples(st.just("delete"), which),
    st.tuples(st.just("reload"), st.integers(0, 1)),
    st.tuples(st.just("wait"), st.sampled_from((0.5, 1.0, 2.0, 2.0, 31.0))),
)


class World:
    """A ledger beside the reference ordering, which predicts each cycle.

    ``gates``: those that every pod has.
    """

    def __init__(
        self, documents: list[PartitionSpec], nodes: list[NodeFacts], *, gates: tuple[str, ...] = ()
    ) -> None:
        self.gates = gates
        self.documents, self.document = documents, documents[0]
        self.ledger = make_ledger(*self.document.queues[1:], nodes=0)
        self.now, self.made = START, 0
        self.history: list[tuple[object, ...]] = []
        self.given: dict[PodUid, int] = {}
        """Store the generation of an ask's turn, since a later document may remove the capacity."""
        for node in nodes:
            self.ledger.apply(on.ObjectObserved(on.NODES, node), now=START)

    @property
    def pending(self) -> list[PodUid]:
        return sorted(self.ledger.view.waiting, key=lambda uid: record_of(self.ledger, uid).seq)

    def step(self, step: tuple[object, ...]) -> None:
        self.history.append(step)
        match step:
            case ("ask", *facts):
                self.ask(*facts)  # type: ignore[arg-type]
            case ("call", int(at)):
                self.call([uid for uid in self.pending if not self.ledger.view.has_turn(uid)], at)
            case ("come", int(at)):
                self.call([uid for uid in self.pending if self.ledger.view.has_turn(uid)], at)
            case ("bind", int(at)):
                for uid in picked(sorted(self.ledger.view.reserved), at):
                    node = record_of(self.ledger, uid).admission.noted or "n0"
                    bind_called(self.ledger, uid, node, now=self.now)
                    self.ledger.apply(on.PodBound(uid, NodeName(node)), now=self.now)
            case ("delete", int(at)):
                for uid in picked([record.uid for record in self.ledger.view.pods()], at):
                    self.ledger.apply(on.PodDeleted(uid), now=self.now)
            case ("reload", int(at)):
                self.document = self.documents[at]
                self.ledger.apply(on.Configured(self.document, LedgerSettings()), now=self.now)
            case ("wait", float(seconds)):
                self.now += seconds
                self.ledger.apply(on.TimePassed(), now=self.now)

    def ask(
        self, leaf: str, user: str, app: int, cpu: int, memory: int, priority: int, age: int, zone: str
    ) -> PodUid:
        self.made += 1
        size = {"vcore": cpu, "memory": memory} if memory else {"vcore": cpu}
        pod = make_pod(
            f"p{self.made:02}",
            size=Resource(size),
            queue=leaf,
            app=f"{leaf[-1]}-{user}-{app}",
            identity=Identity(user),
            priority=priority,
            created=self.now - age,
            constraints=Constraints((("zone", zone),) if zone else ()),
            gates=self.gates,
        )
        self.ledger.apply(on.PodObserved(pod), now=self.now)
        return pod.uid

    def call(self, uids: list[PodUid], at: int) -> None:
        for uid in picked(uids, at):
            turn = self.ledger.view.has_turn(uid)
            answer = filtered(self.ledger, uid, now=self.now)
            event(f"filter: {turn} {answer.refusal.code if isinstance(answer, Refused) else 'admitted'}")
            if turn and self.given[uid] == self.ledger.view.generation:
                assert isinstance(answer, Admitted), (uid, answer, self.trace())
            if isinstance(answer, Refused) and answer.refusal.code is Code.WAITING_FOR_TURN:
                self.run_passes()
                assert self.ledger.view.has_turn(uid) or self.lacks_capacity(uid), (uid, self.trace())

    def run_passes(self) -> None:
        while self.ledger.view.cycle_wanted:
            view = view_of(self.ledger, self.document, now=self.now)
            expected, before = ordered_asks(view), set(self.ledger.view.turns)
            reserved = set(self.ledger.view.reserved_nodes)
            self.ledger.apply(on.CycleDue(), now=self.now)
            while self.ledger.view.cycle.running:
                self.ledger.apply(on.CycleDue(), now=self.now)
            if set(self.ledger.view.reserved_nodes) - reserved:
                # From then on the node is closed to all others (CYC-6), which the reference ignores.
                raise Ambiguous
            given = [(uid, turn.node) for uid, turn in self.ledger.view.turns.items() if uid not in before]
            assert given == expected, self.trace()
            self.given.update({uid: self.ledger.view.generation for uid, _ in given})

    def lacks_capacity(self, uid: PodUid) -> bool:
        """True if the turns of others leave an ask no capacity, or it is not admitted (SORT-8)."""
        view = view_of(self.ledger, self.document, now=self.now)
        pod = view.pods[uid]
        return pod.app not in let_in(view, pod.leaf) or not fits(view, pod) or node_for(view, pod) is None

    def trace(self) -> str:
        """The world and its history, for the reader of a failure."""
        view = self.ledger.view
        queues = [
            f"{spec.path} {spec.max} {spec.guaranteed} {spec.properties}" for spec in self.document.queues
        ]
        pods = [
            f"{record.facts} turn={view.has_turn(record.uid)} {record.admission.reservation}"
            for record in view.pods()
        ]
        return "\n".join([*queues, *map(str, view.nodes.values()), *pods, *map(str, self.history)])


def picked(uids: list[PodUid], at: int) -> list[PodUid]:
    return [uids[at % len(uids)]] if uids else []


def play(world: World, history: list[tuple[object, ...]]) -> None:
    """Run cycles after each step. States that are ambiguous for the reference are left out."""
    try:
        for step in history:
            world.step(step)
            world.run_passes()
    except Ambiguous:
        reject()


def pair(*policies: str) -> st.SearchStrategy[list[PartitionSpec]]:
    return st.lists(documents(policies), min_size=2, max_size=2)


ORDERED = ("", "fifo")
"""Policies that need nothing from a cycle."""

arrivals = st.lists(asks, min_size=2, max_size=10)
