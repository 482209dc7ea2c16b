"""States in which a pod waits, one for each refusal code. No tests live here."""

from collections.abc import Callable
from dataclasses import replace

from core.decisions.explanation.values import Barrier
from core.ids import AppId, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.properties import SORT_POLICY
from core.queues.queue import Closure
from core.queues.spec import LimitSpec, QueueSpec
from core.queues.users.identity import Identity
from core.reasons import Code
from core.resource import Limit
from core.workload.ending import Ending
from core.workload.gangs.gang import GangStyle, PodGroup
from core.workload.pod import OWN_GATE
from tests.builders import START, make_gang, make_ledger, make_node, make_partition, make_pod, make_queue
from tests.core.ledger.gangs.play import hold_back, started, waiting_gang

ASK = PodUid("uid-ask")
LIMITED = Identity("alice", ("dev",))


def cycled(ledger: Ledger, *, now: float = START) -> Ledger:
    """Run cycles until none is wanted."""
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=now)
    return ledger


def observed(ledger: Ledger, name: str, *, now: float = START, **facts: object) -> None:
    ledger.apply(on.PodObserved(make_pod(name, **facts)), now=now)  # type: ignore[arg-type]


def asking(*queues: QueueSpec, **facts: object) -> Ledger:
    """A ledger in which one pod asks."""
    ledger = make_ledger(*queues or (make_queue("root.a"),))
    observed(ledger, "ask", **facts)
    return cycled(ledger)


def _beside(spec: QueueSpec, **facts: object) -> Ledger:
    """A pod asks beside one of another application that runs."""
    ledger = make_ledger(spec)
    observed(ledger, "runs", node="n1", app="first", identity=LIMITED)
    observed(ledger, "ask", app="second", identity=LIMITED, **facts)
    return cycled(ledger)


def limited(kind: str, *, max: int = 0, applications: int = 0) -> QueueSpec:
    """A queue with a limit of the user or the group."""
    users, groups = (("alice",), ()) if kind == "user" else ((), ("dev",))
    cap = Limit({"vcore": max}) if max else None
    return replace(make_queue("root.a"), limits=(LimitSpec(users, groups, cap, applications),))


def _not_ready() -> Ledger:
    ledger = Ledger()
    observed(ledger, "ask")
    return ledger


def _denied() -> Ledger:
    ledger = make_ledger(make_queue("root.a"))
    root, leaf = make_partition(make_queue("root.a")).queues
    closed = replace(make_partition(), queues=(replace(root, submit_acl=""), replace(leaf, submit_acl="bob")))
    ledger.apply(on.Configured(closed, LedgerSettings()), now=START)
    observed(ledger, "ask")
    return cycled(ledger)


def _draining() -> Ledger:
    ledger = make_ledger(make_queue("root.a"))
    observed(ledger, "runs", node="n1", app="first")
    ledger.apply(on.Configured(make_partition(), LedgerSettings()), now=START)
    observed(ledger, "ask", app="second")
    return cycled(ledger)


def _closed() -> Ledger:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.ActionsRead({QueuePath("root.a"): Closure("ann", START)}), now=START)
    observed(ledger, "ask")
    return cycled(ledger)


def _ended() -> Ledger:
    ledger = make_ledger(make_queue("root.a"))
    app_id, ending = AppId("app-1", "default"), Ending("ann", START, START + 600, START - 60, "root.a")
    ledger.apply(on.ActionsRead({}, {app_id: ending}), now=START)
    observed(ledger, "ask")
    return cycled(ledger)


def _timed_out() -> Ledger:
    world = waiting_gang(2, style=GangStyle.HARD, timeout=5)
    world.bind_placeholders(most=1)
    world.failing.add("WriteRecord")
    world.wait(6)
    return world.ledger


def _starting() -> Ledger:
    spec = replace(make_queue("root.a"), properties={SORT_POLICY: "stateaware"})
    ledger = make_ledger(spec)
    observed(ledger, "runs", app="first", node="n1")
    observed(ledger, "ask", app="second")
    return cycled(ledger)


def _in_turn() -> Ledger:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    observed(ledger, "first", created=1.0, gates=(OWN_GATE,))
    observed(ledger, "ask", created=2.0, gates=(OWN_GATE,))
    return cycled(ledger)


def _reserved() -> Ledger:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)), now=START)
    observed(ledger, "owner", cpu=2000, app="owner", reserved_node="n1")
    observed(ledger, "ask", app="second", cpu=500, created=START)
    observed(ledger, "runs", cpu=1000, app="third", node="n1")
    ledger.apply(on.ActingBegan(), now=START)
    return cycled(ledger)


def _full() -> Ledger:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for at in range(2):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(f"n{at}", cpu=1000)), now=START)
    observed(ledger, "ask", cpu=1500)
    return cycled(ledger)


SCENES: dict[Code, Callable[[], tuple[Ledger, str]]] = {
    Code.NOT_READY: lambda: (_not_ready(), ASK),
    Code.ACCESS_DENIED: lambda: (_denied(), ASK),
    Code.PLACEMENT_FAILED: lambda: (asking(queue="root.nope"), ASK),
    Code.QUEUE_NOT_LEAF: lambda: (
        asking(make_queue("root.a", leaf=False), make_queue("root.a.b"), queue="root.a"),
        ASK,
    ),
    Code.QUEUE_DRAINING: lambda: (_draining(), ASK),
    Code.GANG_TOO_LARGE: lambda: (
        asking(make_queue("root.a", max={"vcore": 1000}), gang=make_gang(2), task_group="g"),
        ASK,
    ),
    Code.GANG_NOT_FIFO: lambda: (
        asking(
            replace(make_queue("root.a"), properties={SORT_POLICY: "fair"}),
            gang=make_gang(2),
            task_group="g",
        ),
        ASK,
    ),
    Code.RESERVATION_TIMEOUT: lambda: (_timed_out(), "uid-m1"),
    Code.APPLICATION_ENDED: lambda: (_ended(), ASK),
    Code.QUEUE_CLOSED: lambda: (_closed(), ASK),
    Code.MAX_APPLICATIONS_REACHED: lambda: (_beside(replace(make_queue("root.a"), max_applications=1)), ASK),
    Code.USER_MAX_APPLICATIONS_REACHED: lambda: (_beside(limited("user", applications=1)), ASK),
    Code.GROUP_MAX_APPLICATIONS_REACHED: lambda: (_beside(limited("group", applications=1)), ASK),
    Code.STATE_AWARE_HOLD: lambda: (_starting(), ASK),
    Code.GANG_INCOMPLETE: lambda: (asking(pod_group=PodGroup("g", 3)), ASK),
    Code.WAITING_FOR_PLACEHOLDER: lambda: (_waits_for_placeholder(), "uid-m1"),
    Code.USER_QUOTA_EXCEEDED: lambda: (_beside(limited("user", max=1000)), ASK),
    Code.GROUP_QUOTA_EXCEEDED: lambda: (_beside(limited("group", max=1000)), ASK),
    Code.QUOTA_EXCEEDED: lambda: (_beside(make_queue("root.a", max={"vcore": 1500})), ASK),
    Code.WAITING_FOR_TURN: lambda: (_in_turn(), ASK),
    Code.NODE_RESERVED: lambda: (_reserved(), ASK),
    Code.UNSCHEDULABLE: lambda: (_full(), ASK),
}
"""A ledger for each code, and the uid of the pod that waits for that reason."""


def _waits_for_placeholder() -> Ledger:
    world = started(2)
    hold_back(world, "DeletePod")
    world.bind_placeholders()
    return world.ledger


# -- obstacles without a refusal code ------------------------------------------------------------------------

UNFIT = "0/1 nodes are available: 1 node(s) had volume node affinity conflict."


def _without_place(**facts: object) -> Ledger:
    """A pod, or a pod group with this pod only, whose turn was not used."""
    ledger = make_ledger(make_queue("root.a"))
    observed(ledger, "ask", gates=(OWN_GATE,), **facts)
    cycled(ledger)
    ledger.apply(on.PodWoken(ASK, reached=True), now=START)
    observed(ledger, "ask", version=2, unscheduled=UNFIT, **facts)
    return ledger


def _passed_over() -> Ledger:
    """A pod that did not come for its turn, while another one waits."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}))
    for name in ("ask", "other"):
        observed(ledger, name, created=START, gates=(OWN_GATE,), app=name)
    cycled(ledger)
    ledger.apply(on.PodWoken(ASK, reached=True), now=START)
    observed(ledger, "ask", version=2, created=START, app="ask")
    ledger.apply(on.TimePassed(), now=START + 3)
    return ledger


def _application_backs_off() -> Ledger:
    properties = {"application.unschedasks.backoff": "1"}
    ledger = make_ledger(replace(make_queue("root.a"), properties=properties), nodes=0)
    for at in range(2):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(f"n{at}", cpu=4000)), now=START)
    for name in ("ask", "other"):
        observed(ledger, name, cpu=5000)
    return cycled(ledger)


BARRIERS: dict[Barrier, Callable[[], tuple[Ledger, str]]] = {
    Barrier.LEAVING: lambda: (asking(deleting=True), ASK),
    Barrier.FOREIGN_GATE: lambda: (asking(gates=("example.com/wait",)), ASK),
    Barrier.BACK_OFF: lambda: (_without_place(), ASK),
    Barrier.PASSED_OVER: lambda: (_passed_over(), ASK),
    Barrier.APPLICATION_BACK_OFF: lambda: (_application_backs_off(), ASK),
    Barrier.POD_GROUP_BACK_OFF: lambda: (_without_place(pod_group=PodGroup("g", 1)), ASK),
    Barrier.OWN_NODE: lambda: (_reserved(), "uid-owner"),
    Barrier.NODES_NOT_JUDGED: lambda: (asking(complex=True), ASK),
    Barrier.KUBE_SCHEDULER: lambda: (asking(unscheduled=UNFIT), ASK),
}
"""A ledger for each obstacle without a refusal code, and the uid of the pod."""
