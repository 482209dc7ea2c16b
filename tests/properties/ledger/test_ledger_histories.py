"""Laws of the ledger for any events in any order: the audit, one charge per pod, determinism.

A history is a list of plain steps, so that it can be played again.
"""

from dataclasses import replace
from typing import Any, get_args, get_origin

from hypothesis import given, settings
from hypothesis import strategies as st

from core.decisions.scoring import decide_scores
from core.ids import NO_NODE, NO_POD, AppId, NodeName
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.outcomes import (
    CreationOutcome,
    EvictionOutcome,
    NominationPurpose,
    RecordPurpose,
    RemovalPurpose,
)
from core.queues.queue import Closure
from core.reasons import Code, Refusal, SentRefusal
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import Controller, DaemonSetFacts, DaemonSetKey
from core.workload.ending import Ending
from core.workload.gangs.gang import GroupSource, Misdefined, PodGroup
from core.workload.gangs.progress import names_of
from core.workload.moving import MoveOrder
from core.workload.nodes.node import NodeFacts
from core.workload.nodes.ranking import score_of
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
from core.workload.pod_group import GroupKey, PodGroupFacts, Terms
from tests.builders import AGENTS, START, bind_called, filtered, make_gang, make_node, make_pod
from tests.properties.ledger.history_world import (
    DOCUMENTS,
    NAMESPACES,
    NODES,
    PODS,
    QUICK,
    SIZES,
    UIDS,
    USERS,
    History,
    Step,
    check,
    configure,
    fresh,
    nodes,
    person,
    pods,
    state_of,
    uids,
)

TEXTS = ("", "0/2 nodes are available: 2 Insufficient cpu.", "2 QuotaExceeded: root.p max vcore=3.")
POD_GROUPS = (
    *(None, None, PodGroup("g", 2), PodGroup("g", 3), PodGroup("h", 2), Misdefined("broken")),
    PodGroup("g", 0, GroupSource.PLUGIN),
    PodGroup("o", 0, GroupSource.PLUGIN),
    PodGroup("o", 0, GroupSource.NATIVE),
)


letters = st.sampled_from("ab")


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
        attempt_broke_off=draw(st.booleans()),
        reserved_node=draw(st.sampled_from([NO_NODE, NO_NODE, *NODES])),
        asks_filter=draw(st.booleans()),
        gate_opened=draw(st.booleans()),
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
        controller=draw(st.sampled_from(["", "", "Job.batch/j", "ReplicaSet.apps/r"])),
        required_node=draw(st.sampled_from([NO_NODE, NO_NODE, NO_NODE, *NODES])),
        daemon_set=draw(st.none() | st.builds(Controller, letters, letters)),
        labels=draw(st.sampled_from([{}, {"app": "agents"}])),
        name=f"p{draw(pods)}" if draw(st.integers(0, 19)) == 0 else "",
    )


def named(pod: PodFacts) -> PodFacts:
    return pod if pod.name else replace(pod, name=pod.uid.removeprefix("uid-"))


def any_node() -> st.SearchStrategy[NodeFacts]:
    return st.builds(lambda name, cpu: make_node(name, cpu=cpu), nodes, st.sampled_from([0, 2000, 9000]))


REFUSAL = Refusal(Code.QUOTA_EXCEEDED, "root.p", "max vcore=3")
SAID = SentRefusal(REFUSAL.text, REFUSAL.code, 1)

some_pod = any_pod().map(named)
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
apps = st.sampled_from([AppId(f"app-{at}", "default") for at in range(4)])
placeholders = st.sampled_from(
    [
        name
        for at in range(PODS)
        for name in names_of(AppId(f"app-{at % 4}", "default"), UIDS[at], make_gang(2).groups[0])
    ]
)
namespaces = st.sampled_from(NAMESPACES)
group_keys = st.builds(GroupKey, st.just("default"), st.sampled_from("gho"))
least = st.sampled_from([(), (("vcore", 3000),)])
terms = st.builds(Terms, st.integers(0, 3), least, st.sampled_from([None, 5.0]))
selectors = st.sampled_from([None, ()])
closures = st.builds(
    Closure, st.just("ann"), st.just(START), st.just(""), st.sampled_from([None, START + 30])
)
endings = st.builds(
    Ending,
    st.just("ann"),
    st.sampled_from([START, START + 1]),
    st.sampled_from([START, START + 30, START + 900]),
    st.sampled_from([0.0, START - 1, START + 600]),
    st.just("root"),
    st.just(""),
    st.booleans(),
)
moves = st.builds(
    MoveOrder,
    st.just("ann"),
    st.sampled_from([START, START + 1]),
    st.sampled_from(["root.p.x", "root.p.y", "root.a", "root.gone"]),
    st.just("root.a"),
    st.sampled_from(USERS),
)
daemon_sets = st.builds(DaemonSetKey, st.just("default"), letters)

OBJECTS: dict[on.ObjectKind[Any, Any], tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    on.NODES: (nodes, any_node()),
    on.NAMESPACES: (namespaces, st.builds(NamespaceFacts, namespaces, st.sampled_from(["", "true"]))),
    on.PRIORITY_CLASSES: (letters, st.builds(PriorityClassFacts, letters)),
    on.BUDGETS: (
        st.tuples(namespaces, letters),
        st.builds(BudgetFacts, namespaces, letters, selectors, st.integers(0, 2)),
    ),
    on.DAEMON_SETS: (daemon_sets, st.builds(DaemonSetFacts, daemon_sets, letters, st.just(AGENTS.selector))),
    **dict.fromkeys(on.POD_GROUPS.values(), (group_keys, st.builds(PodGroupFacts, group_keys, terms))),
}
"""Kinds of objects: keys, and the facts of one."""

EVENTS: dict[type, tuple[st.SearchStrategy[Any], ...]] = {
    on.PodObserved: (some_pod,),
    on.PodOffered: (some_pod,),
    on.PodRead: (some_pod, st.booleans()),
    on.PodDeleted: (uids,),
    on.PodsListBegun: (),
    on.PodsCaughtUp: (),
    on.PodsListed: (st.frozensets(uids),),
    on.FilterCalled: (uids,),
    on.PodAdmitted: (uids, st.integers(0, 6)),
    on.PodRefused: (uids, st.just(REFUSAL), st.just(SAID)),
    on.BindCalled: (uids, nodes, st.booleans()),
    on.PodBound: (uids, nodes),
    on.BindFailed: (uids, st.booleans()),
    on.PodWoken: (uids, st.booleans(), st.booleans()),
    on.NodeNominated: (uids, nodes, st.booleans(), st.sampled_from(get_args(NominationPurpose))),
    on.RecordWritten: (uids, records, st.booleans(), st.sampled_from(get_args(RecordPurpose))),
    on.PodEvicted: (
        uids,
        st.sampled_from(EvictionOutcome),
        st.sampled_from(get_args(RemovalPurpose)),
        st.just(NO_POD) | uids,
    ),
    on.PlaceholderCreated: (apps, placeholders, st.sampled_from(CreationOutcome)),
    on.GateHeld: (uids, st.just(SAID), st.sampled_from(Code), st.just(SAID.text)),
    on.GateReportFailed: (uids,),
    on.PlanOffered: (uids, plans, nodes, chosen),
    on.PlanCommitted: (uids, plans, nodes, chosen),
    on.QuotaReclaimed: (uids, st.sampled_from(["root.p", "root.a"]), chosen),
    on.PreemptionTried: (uids,),
    on.GroupsResolved: (st.sampled_from(USERS), st.none() | st.just(("team",))),
    on.CycleDue: (),
    on.TimePassed: (),
    on.OffersDue: (),
    on.CleanerDue: (),
    on.ActingBegan: (),
    on.ActingEnded: (),
    on.ClockCompared: (st.sampled_from([-60.0, -4.0, 0.0, 4.0, 6.0, 60.0]),),
    on.ActionsRead: (
        st.dictionaries(st.sampled_from(["root", "root.p", "root.a", "root.gone"]), closures),
        st.dictionaries(apps, endings, max_size=2),
        st.dictionaries(apps, moves, max_size=4),
    ),
}
"""All other events and their parts, except `Configured`, which has its own step."""

observed = st.builds(on.PodObserved, some_pod)
object_events = [
    event
    for kind, (keys, facts) in OBJECTS.items()
    for event in (
        st.builds(on.ObjectObserved, st.just(kind), facts),
        st.builds(on.ObjectDeleted, st.just(kind), keys),
        st.builds(on.ObjectsListed, st.just(kind), st.frozensets(keys)),
    )
]
unserved = st.builds(on.KindUnserved, st.sampled_from(list(on.POD_GROUPS.values())))
any_event = st.one_of(
    *(observed, observed, *object_events, unserved),
    *(st.builds(event, *of) for event, of in EVENTS.items()),
)

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
                answers.append(decide_scores(ledger.view, uid, lambda: {*NODES, NodeName("unheard-of")}))
                check_ranking(ledger)
            case ("wait", seconds):
                now += seconds
                answers.append(ledger.apply(on.TimePassed(), now=now))
        check(ledger, step)
    return answers


def check_ranking(ledger: Ledger) -> None:
    """The stored order of nodes equals a new sort (NODE-1, NODE-3)."""
    view, sort = ledger.view, ledger.view.node_sort
    expected = sorted(
        (score_of(sort, node.allocatable, view.free_on(name)), name) for name, node in view.nodes.items()
    )
    assert list(view.node_ranking().among(set(view.nodes))) == [name for _, name in expected]


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
    of_objects = {on.ObjectObserved, on.ObjectDeleted, on.ObjectsListed, on.KindUnserved}
    events = {get_origin(each) or each for each in get_args(on.Event)}
    assert {*EVENTS, *of_objects, on.Configured, on.SettingsRead} == events


def test_every_kind_of_object_takes_part() -> None:
    named = {each for each in vars(on).values() if isinstance(each, on.ObjectKind)}
    assert {*named, *on.POD_GROUPS.values()} == set(OBJECTS)
