"""Laws of the ledger that hold for every history: the audit, one charge per pod, any order, quota, wake-ups.

A history is a list of plain steps, so that it can be played again. Two worlds: one in which anything may be
told in any order, and one that keeps what a real cluster promises (a pod keeps its size and gets a node only
through us), in which quota must hold exactly.
"""

from dataclasses import dataclass, field, replace
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.decisions.admission import decide_preemption, refusal_of
from core.decisions.decision import BindNow, Ignored
from core.decisions.explain import explain
from core.decisions.scoring import decide_scores
from core.ids import NO_NODE, NO_POD, AppId, NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect
from core.ledger.ledger import Ledger
from core.ledger.outcomes import CreationOutcome, EvictionOutcome
from core.ledger.settings import LedgerSettings
from core.queues.identity import Identity
from core.queues.spec import LimitSpec, NodeSortSpec, PartitionSpec
from core.queues.tree import over_max
from core.reasons import Code, Refusal, Said
from core.resource import Limit
from core.workload.budget import BudgetFacts
from core.workload.formation import names_of
from core.workload.gang import GroupSource, Misdefined, PodGroup
from core.workload.node import NodeFacts
from core.workload.node_ranking import score_of
from core.workload.pod import (
    GANG,
    OWN_GATE,
    PREEMPTED_FOR,
    REPLACES,
    RESERVED_NODE,
    TRIGGERED,
    NamespaceFacts,
    PodFacts,
    PriorityClassFacts,
)
from core.workload.pod_group import GroupKey, Terms
from tests.builders import (
    START,
    bind_called,
    drifts,
    filtered,
    make_gang,
    make_ledger,
    make_node,
    make_partition,
    make_pod,
    make_queue,
    woken,
)

Step = tuple[Any, ...]
History = list[Step]

QUICK = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

NODES = [NodeName(name) for name in ("n1", "n2")]
NAMESPACES = ("default", "late", "kube-system")
QUEUES = ("root.p.x", "root.p.y", "root.a", "")
SIZES = (500, 1000, 2500)
OURS, THEIRS = "yunikorn", "default-scheduler"
TEXTS = ("", "0/2 nodes are available: 2 Insufficient cpu.", "2 QuotaExceeded: root.p max vcore=3.")
USERS = ("alice", "bob")
POD_GROUPS = (
    *(None, None, PodGroup("g", 2), PodGroup("g", 3), PodGroup("h", 2), Misdefined("broken")),
    PodGroup("g", 0, GroupSource.PLUGIN),
    PodGroup("o", 0, GroupSource.PLUGIN),
    PodGroup("o", 0, GroupSource.NATIVE),
)
PODS = 6


def person(at: int) -> PodFacts:
    """One of a handful of pods: what never changes about it."""
    return make_pod(
        f"p{at}",
        queue=QUEUES[at % 4],
        app=f"app-{at % 4}",
        scheduler_name=OURS if at != 4 else THEIRS,
        namespace=NAMESPACES[0] if at < 4 else NAMESPACES[at % 2],
        priority=at % 2,
        cpu=SIZES[at % 3],
        identity=Identity(USERS[at % 2], ("team",) if at == 3 else ()),
    )


UIDS = [person(at).uid for at in range(PODS)]

P = make_queue("root.p", leaf=False, max={"vcore": 3000})
X = make_queue("root.p.x", max={"vcore": 2000})
Y = make_queue("root.p.y")
A = make_queue("root.a", max={"vcore": 2500})
DEFAULT = make_queue("root.default", max={"vcore": 1000})
LIMITS = (
    LimitSpec(("alice",), (), Limit({"vcore": 1500}), 1),
    LimitSpec(("*",), ("team", "*"), Limit({"vcore": 2500})),
)
FENCE, OFFSET = {"priority.policy": "fence", "priority.offset": "2"}, {"priority.offset": "-3"}
DOCUMENTS = (
    make_partition(
        replace(P, limits=LIMITS, properties=FENCE),
        replace(X, max_applications=1, properties=OFFSET),
        Y,
        A,
        DEFAULT,
    ),
    replace(make_partition(replace(P, limits=LIMITS[1:]), X, Y, A), resolver="os"),
    replace(make_partition(P, X, Y, A, DEFAULT), node_sort=NodeSortSpec("fair", {}, named=True)),
    replace(make_partition(P, X, Y, A), node_sort=NodeSortSpec("binpacking", {"vcore": 1.0}, named=True)),
    make_partition(P, Y),
    make_partition(replace(P, max=X.max), X, Y, A),
    make_partition(make_queue("root.p", leaf=False), X, Y, make_queue("root.a"), DEFAULT),
    make_partition(make_queue("root.a", leaf=False), make_queue("root.a.x"), make_queue("root.p")),
    make_partition(),
)

pods = st.integers(0, PODS - 1)
nodes = st.sampled_from(NODES)
uids = st.sampled_from(UIDS)


def configure(ledger: Ledger, document: PartitionSpec, now: float) -> tuple[Effect, ...]:
    """As a reload: a document in conflict with what runs is refused."""
    if ledger.snapshot.conflicts(document):
        return ()
    return ledger.apply(on.Configured(document, LedgerSettings()), now=now)


# -- the world in which anything may be told ------------------------------


@st.composite
def any_pod(draw: st.DrawFn) -> PodFacts:
    return replace(
        person(draw(pods)),
        version=draw(st.integers(0, 6)),
        size=make_pod(cpu=draw(st.sampled_from(SIZES))).size,
        node=draw(st.sampled_from([NO_NODE, NO_NODE, NO_NODE, *NODES])),
        terminal=draw(st.integers(0, 9)) == 0,
        deleting=draw(st.integers(0, 7)) == 0,
        gates=draw(st.sampled_from([(), (), (), (OWN_GATE,), ("example.com/wait",)])),
        nominated=draw(st.sampled_from([NO_NODE, NO_NODE, NODES[0]])),
        unscheduled=draw(st.sampled_from(TEXTS)),
        reserved_node=draw(st.sampled_from([NO_NODE, NO_NODE, *NODES])),
        asks_filter=draw(st.booleans()),
        gang=draw(st.sampled_from([None, None, make_gang(2), make_gang(2, cpu=1500), Misdefined("broken")])),
        placeholder=draw(st.integers(0, 5)) == 0,
        task_group=draw(st.sampled_from(["", "g", "g", "h"])),
        replaces=draw(st.sampled_from([NO_POD, NO_POD, NO_POD, *UIDS])),
        gang_noted=draw(st.sampled_from(["", "", "Started", "Ordinary", "Failing"])),
        owner=draw(st.sampled_from([NO_POD, *UIDS])),
        triggered=draw(st.sampled_from(["", "", "1-a"])),
        pod_group=draw(st.sampled_from(POD_GROUPS)),
        preempted_for=draw(st.sampled_from(["", "", "", *UIDS, "root.p"])),
        preempted_plan=draw(st.sampled_from(["", "1-a", "2-b"])),
        name=f"p{draw(pods)}" if draw(st.integers(0, 19)) == 0 else "",
    )


def named(pod: PodFacts) -> PodFacts:
    return pod if pod.name else replace(pod, name=pod.uid.removeprefix("uid-"))


def any_node() -> st.SearchStrategy[NodeFacts]:
    return st.builds(lambda name, cpu: make_node(name, cpu=cpu), nodes, st.sampled_from([0, 2000, 9000]))


REFUSAL = Refusal(Code.QUOTA_EXCEEDED, "root.p", "max vcore=3")
SAID = Said(REFUSAL.text, REFUSAL.code, 1)

some_pod = any_pod().map(named)
letters = st.sampled_from("ab")
plans = st.sampled_from(["1-a", "2-b"])
chosen = st.lists(st.builds(on.ChosenVictim, uids, st.just("why")), max_size=3).map(tuple)
records = st.sampled_from(
    [
        *(((RESERVED_NODE, node),) for node in (None, *NODES)),
        *(
            ((RESERVED_NODE, node), (TRIGGERED, plan))
            for node, plan in zip((None, *NODES), (None, "1-a", "2-b"), strict=True)
        ),
        *(((PREEMPTED_FOR, text),) for text in (None, "uid-p1 why")),
        *(((REPLACES, uid),) for uid in (None, *UIDS)),
        *(((GANG, phase),) for phase in (None, "Started", "Ordinary", "Failing")),
    ]
)
apps = st.sampled_from([AppId(f"app-{at}") for at in range(4)])
placeholders = st.sampled_from(
    [
        name
        for at in range(PODS)
        for name in names_of(AppId(f"app-{at % 4}"), UIDS[at], make_gang(2).groups[0])
    ]
)
namespaces = st.sampled_from(NAMESPACES)
sources = st.sampled_from([GroupSource.PLUGIN, GroupSource.NATIVE])
group_keys = st.builds(GroupKey, st.just("default"), st.sampled_from("gho"))
least = st.sampled_from([(), (("vcore", 3000),)])
terms = st.builds(Terms, st.integers(0, 3), least, st.sampled_from([None, 5.0]))
selectors = st.sampled_from([None, ()])

EVENTS: dict[type, tuple[st.SearchStrategy[Any], ...]] = {
    on.PodObserved: (some_pod,),
    on.PodOffered: (some_pod,),
    on.PodDeleted: (uids,),
    on.PodsListed: (st.frozensets(uids), st.integers(0, 6)),
    on.NodeObserved: (any_node(),),
    on.NodeDeleted: (nodes,),
    on.NodesListed: (st.frozensets(nodes),),
    on.NamespaceObserved: (st.builds(NamespaceFacts, namespaces, st.sampled_from(["", "true"])),),
    on.NamespaceDeleted: (namespaces,),
    on.NamespacesListed: (st.frozensets(namespaces),),
    on.PriorityClassObserved: (st.builds(PriorityClassFacts, letters),),
    on.PriorityClassDeleted: (letters,),
    on.PriorityClassesListed: (st.frozensets(letters),),
    on.BudgetObserved: (st.builds(BudgetFacts, namespaces, letters, selectors, st.integers(0, 2)),),
    on.BudgetDeleted: (namespaces, letters),
    on.BudgetsListed: (st.frozensets(st.tuples(namespaces, letters)),),
    on.PodGroupObserved: (sources, group_keys, terms),
    on.PodGroupDeleted: (sources, group_keys),
    on.PodGroupsListed: (sources, st.frozensets(group_keys)),
    on.PodGroupsUnserved: (sources,),
    on.FilterCalled: (uids,),
    on.PodAdmitted: (uids, st.integers(0, 6)),
    on.PodRefused: (uids, st.just(REFUSAL), st.just(SAID)),
    on.BindCalled: (uids, nodes, st.booleans()),
    on.PodBound: (uids, nodes),
    on.BindFailed: (uids, st.booleans()),
    on.PodWoken: (uids, st.booleans()),
    on.NodeNominated: (uids, nodes, st.booleans()),
    on.RecordWritten: (uids, records, st.booleans()),
    on.PodEvicted: (uids, st.sampled_from(EvictionOutcome), st.just(NO_POD) | uids),
    on.PlaceholderCreated: (apps, placeholders, st.sampled_from(CreationOutcome)),
    on.GateHeld: (uids, st.just(SAID)),
    on.GateToldNot: (uids,),
    on.PlanOffered: (uids, plans, nodes, chosen),
    on.PlanCommitted: (uids, plans, nodes, chosen),
    on.QuotaReclaimed: (uids, st.sampled_from(["root.p", "root.a"]), chosen),
    on.PreemptionTried: (uids,),
    on.GroupsResolved: (st.sampled_from(USERS), st.none() | st.just(("team",))),
    on.PassDue: (),
    on.TimePassed: (),
    on.CleanerDue: (),
    on.ActingBegan: (),
    on.ActingEnded: (),
}
"""Every event but `Configured`, which has a step of its own; and what each is made of."""

observed = st.builds(on.PodObserved, some_pod)
any_event = st.one_of(observed, observed, *(st.builds(event, *of) for event, of in EVENTS.items()))

any_step: st.SearchStrategy[Step] = st.one_of(
    any_event.map(lambda event: ("event", event)),
    any_event.map(lambda event: ("event", event)),
    st.tuples(st.just("configure"), st.sampled_from(DOCUMENTS)),
    st.tuples(st.just("filter"), uids),
    st.tuples(st.just("filter"), uids),
    st.tuples(st.just("bind"), uids, nodes),
    st.tuples(st.just("score"), uids),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 1.0, 2.0, 31.0, 601.0])),
)


def play(ledger: Ledger, history: History) -> list[object]:
    """Every answer and effect of a history, with the audit after each step."""
    now, answers = START, []
    for step in history:
        match step:
            case ("event", event):
                answers.append(ledger.apply(event, now=now))
            case ("configure", document):
                answers.append(configure(ledger, document, now))
            case ("filter", uid):
                answers.append(filtered(ledger, uid, now=now))
            case ("bind", uid, node):
                answers.append(bind_called(ledger, uid, node, now=now))
            case ("score", uid):
                answers.append(decide_scores(ledger.snapshot, uid, [*NODES, NodeName("unheard-of")]))
                check_ranking(ledger)
            case ("wait", seconds):
                now += seconds
                answers.append(ledger.apply(on.TimePassed(), now=now))
        look(ledger, step)
    return answers


def look(ledger: Ledger, step: Step) -> None:
    """The laws that hold after every step."""
    assert drifts(ledger) == [], step
    for queue in ledger.snapshot.tree:
        for counter in (queue.allocated, queue.reserved, queue.pending, queue.preempting, queue.triggered):
            assert all(amount > 0 for _, amount in counter.items()), step
    # pods counts every pod once: were one in two counters, the sum would be larger than the number of pods.
    root = ledger.snapshot.tree.root
    counted = sum(counter.get("pods") for counter in (root.allocated, root.reserved, root.pending))
    queued = [record for record in ledger.snapshot.pods() if ledger.snapshot.queue_of(record)]
    assert counted <= len(queued), step
    for record in ledger.snapshot.pods():
        explain(ledger.snapshot, record)
        decide_preemption(ledger.snapshot, record.uid, lambda: None)


def check_ranking(ledger: Ledger) -> None:
    """The nodes stand as if they had all been sorted now (NODE-1, NODE-3)."""
    snapshot, sort = ledger.snapshot, ledger.snapshot.node_sort
    expected = sorted(
        (score_of(sort, node.allocatable, snapshot.free_on(name)), name)
        for name, node in snapshot.nodes.items()
    )
    assert snapshot.node_ranking().among(set(snapshot.nodes)) == [name for _, name in expected]


def state_of(ledger: Ledger) -> list[str]:
    """All counters, and who is charged what."""
    numbers = [
        f"{queue!r} {queue.allocated!r} {queue.reserved!r} {queue.pending!r} {sorted(queue.applications)}"
        for queue in ledger.snapshot.tree
    ]
    return numbers + [f"{uid} {charge}" for uid, charge in sorted(ledger._state.charges.items())]


def fresh(*, listed: bool = True) -> Ledger:
    return make_ledger(P, X, Y, A, DEFAULT) if listed else Ledger()


@settings(QUICK, max_examples=500)
@given(history=st.lists(any_step, min_size=30, max_size=60), listed=st.booleans())
def test_any_history_passes_the_audit_after_every_step(history: History, listed: bool) -> None:
    play(fresh(listed=listed), history)


@settings(QUICK, max_examples=60)
@given(history=st.lists(any_step, min_size=30, max_size=60))
def test_the_same_history_gives_the_same_answers_and_counters(history: History) -> None:
    first, second = fresh(), fresh()
    assert play(first, history) == play(second, history)
    assert state_of(first) == state_of(second)


def test_every_event_there_is_takes_part() -> None:
    assert {*EVENTS, on.Configured} == set(get_args(on.Event))


# -- one pod in any order ------------------------------

CALLS = ("offer", "observe", "filter", "bind", "bound", "observe bound")


@st.composite
def shuffled_calls(draw: st.DrawFn) -> list[tuple[str, int]]:
    """Everything that happens to two pods on their way to a node, in any order and with repeats."""
    once = [(call, at) for call in CALLS for at in (0, 1)]
    repeats = draw(st.lists(st.sampled_from(once), max_size=12))
    return draw(st.permutations([*once, *repeats]))


def tell(ledger: Ledger, call: str, at: int) -> None:
    pod = replace(person(at), version=1)
    bound = replace(pod, version=2, node=NODES[0])
    match call:
        case "offer":
            ledger.apply(on.PodOffered(pod), now=START)
        case "observe":
            ledger.apply(on.PodObserved(pod), now=START)
        case "filter":
            filtered(ledger, pod.uid, now=START)
        case "bind":
            bind_called(ledger, pod.uid, NODES[0], now=START)
        case "bound":
            ledger.apply(on.PodBound(pod.uid, NODES[0]), now=START)
        case "observe bound":
            ledger.apply(on.PodObserved(bound), now=START)


@settings(QUICK, max_examples=250)
@given(calls=shuffled_calls())
def test_any_order_with_repeats_ends_in_the_same_charges(calls: list[tuple[str, int]]) -> None:
    shuffled, straight = fresh(), fresh()
    for call, at in calls:
        tell(shuffled, call, at)
        assert drifts(shuffled) == []
    for call in CALLS:
        for at in (0, 1):
            tell(straight, call, at)
    assert state_of(shuffled) == state_of(straight)
    assert shuffled.snapshot.tree.root.allocated.get("pods") == 2
    assert shuffled.snapshot.reserved() == 0


# -- the world that keeps a cluster's promises ------------------------------


@dataclass
class Cluster:
    """What is true of the pods, while the ledger learns of it late, twice or not at all."""

    ledger: Ledger
    now: float = START
    version: int = 1
    open: dict[PodUid, NodeName] = field(default_factory=dict)
    bound: dict[PodUid, NodeName] = field(default_factory=dict)

    def step(self, step: Step) -> None:
        match step:
            case ("observe", at, late):
                self._observe(person(at), late)
            case ("offer", at):
                self.ledger.apply(on.PodOffered(self._now(person(at))), now=self.now)
            case ("delete", at):
                self._delete(UIDS[at])
            case ("filter", at):
                filtered(self.ledger, UIDS[at], now=self.now)
            case ("bind", at, node):
                self._bind(UIDS[at], node)
            case ("answer", at, outcome):
                self._answer(UIDS[at], outcome)
            case ("pass",):
                self.ledger.apply(on.PassDue(), now=self.now)
            case ("configure", document):
                configure(self.ledger, document, self.now)
            case ("wait", seconds):
                self.now += seconds
                self.ledger.apply(on.TimePassed(), now=self.now)

    def _now(self, pod: PodFacts) -> PodFacts:
        self.version += 1
        return replace(pod, version=self.version, node=self.bound.get(pod.uid, NO_NODE))

    def _observe(self, pod: PodFacts, late: bool) -> None:
        facts = replace(pod, version=1) if late and self.ledger.snapshot.pod(pod.uid) else self._now(pod)
        self.ledger.apply(on.PodObserved(facts), now=self.now)

    def _delete(self, uid: PodUid) -> None:
        self.open.pop(uid, None)
        self.bound.pop(uid, None)
        self.ledger.apply(on.PodDeleted(uid), now=self.now)

    def _bind(self, uid: PodUid, node: NodeName) -> None:
        if uid in self.open or self.ledger.snapshot.pod(uid) is None:
            return
        if isinstance(bind_called(self.ledger, uid, node, now=self.now), BindNow | Ignored):
            self.open[uid] = node

    def _answer(self, uid: PodUid, outcome: str) -> None:
        """The end of an open bind call. ``unheard``: it is bound, and only the watch says so."""
        node = self.open.pop(uid, None)
        if node is None:
            return
        if outcome in ("bound", "unheard"):
            self.bound[uid] = node
        if outcome == "unheard":
            self.ledger.apply(on.PodObserved(self._now(person(UIDS.index(uid)))), now=self.now)
        event = {
            "bound": on.PodBound(uid, node),
            "unheard": on.BindFailed(uid, certain=False),
            "failed": on.BindFailed(uid, certain=True),
            "unknown": on.BindFailed(uid, certain=False),
        }[outcome]
        self.ledger.apply(event, now=self.now)


honest_step: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("observe"), pods, st.booleans()),
    st.tuples(st.just("offer"), pods),
    st.tuples(st.just("delete"), pods),
    st.tuples(st.just("filter"), pods),
    st.tuples(st.just("filter"), pods),
    st.tuples(st.just("filter"), pods),
    st.tuples(st.just("bind"), pods, nodes),
    st.tuples(st.just("answer"), pods, st.sampled_from(["bound", "unheard", "failed", "unknown"])),
    st.tuples(st.just("pass")),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 1.0, 2.0, 31.0])),
)


@settings(QUICK, max_examples=400)
@given(history=st.lists(honest_step, min_size=30, max_size=60))
def test_no_queue_ever_holds_more_than_its_max(history: History) -> None:
    cluster = Cluster(fresh())
    for step in history:
        cluster.step(step)
        over = {queue.path: over_max(queue) for queue in cluster.ledger.snapshot.tree}
        assert not any(over.values()), (step, over)
        look(cluster.ledger, step)


reload = st.tuples(st.just("configure"), st.sampled_from(DOCUMENTS))


@settings(QUICK, max_examples=300)
@given(history=st.lists(st.one_of(honest_step, honest_step, honest_step, reload), min_size=30, max_size=60))
def test_no_ask_that_fits_is_left_asleep(history: History) -> None:
    cluster = Cluster(fresh())
    for step in history:
        cluster.step(step)
    ledger = cluster.ledger
    for seconds in (61.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0):
        cluster.step(("wait", seconds))
        for uid in woken(ledger, now=cluster.now):
            filtered(ledger, uid, now=cluster.now)
    asleep = [
        uid
        for uid in ledger._state.waits_at
        if (record := ledger.snapshot.pod(uid))
        and (record.refused or OWN_GATE in record.facts.gates)
        and not ledger.snapshot.has_turn(uid)
        and refusal_of(ledger.snapshot, record) is None
    ]
    assert not asleep
