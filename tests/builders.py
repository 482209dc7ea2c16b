"""Plain functions with defaults that make core values for tests."""

from collections.abc import Mapping
from dataclasses import replace

from core.decisions.admission import decide_admission
from core.decisions.binding import decide_binding
from core.decisions.decision import Admission, Admitted, Binding, BindNow, BindWaits, Refused
from core.ids import NO_NODE, AppId, NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.effects import CreatePlaceholder, Effect, WakePod
from core.ledger.ledger import Ledger
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec, QueueSpec
from core.queues.tree import QueueTree
from core.resource import Limit, Resource, Tally
from core.workload.daemon_set import Controller, DaemonSetFacts, DaemonSetKey
from core.workload.gangs.gang import Gang, Originator, TaskGroup
from core.workload.nodes.affinity import Requirement
from core.workload.nodes.node import NodeFacts
from core.workload.pod import PREEMPTED_FOR, RESERVED_NODE, TRIGGERED, NamespaceFacts, PodFacts

START = 1_000_000.0

A_PLAN = "a plan"


AGENTS = DaemonSetFacts(
    DaemonSetKey("default", "agents"), "uid-of-agents", (Requirement("app", "In", ("agents",)),)
)
"""A DaemonSet."""

OF_AGENTS: Mapping[str, object] = {
    "daemon_set": Controller("agents", "uid-of-agents"),
    "labels": {"app": "agents"},
}
"""Fields of a pod that `AGENTS` made; a ``required_node`` comes besides."""


def make_pod(
    name: str = "pod",
    *,
    cpu: int = 1000,
    memory: int = 0,
    queue: str = "root.a",
    app: str = "app-1",
    uid: str = "",
    scheduler_name: str = "yunikorn",
    node: str = "",
    version: int = 1,
    **facts: object,
) -> PodFacts:
    """A pod of one container. ``cpu`` in millicores."""
    size = Resource({"vcore": cpu, "memory": memory, "pods": 1} if memory else {"vcore": cpu, "pods": 1})
    values: dict[str, object] = {
        "uid": PodUid(uid or f"uid-{name}"),
        "namespace": "default",
        "name": name,
        "size": size,
        "version": version,
        "scheduler_name": scheduler_name,
        "node": NodeName(node) if node else NO_NODE,
        "app_id": app,
        "queue": queue,
        **facts,
    }
    return PodFacts(**values)  # type: ignore[arg-type]


def make_gang(members: int = 10, *, cpu: int = 1000, name: str = "g") -> Gang:
    """A gang of one task group. ``cpu``: of a member, in millicores."""
    group = TaskGroup(name, members, Resource({"pods": 1, "vcore": cpu}))
    return Gang((group,), group.size.times(members))


def make_placeholder(
    name: str = "tg-app-1-g-0",
    *,
    gang: Gang | None = None,
    app: str = "app-1",
    queue: str = "root.a",
    namespace: str = "default",
    **originator: object,
) -> CreatePlaceholder:
    """A slot in the first task group of a gang. ``originator``: its fields; its default name is ``first``."""
    found = gang or make_gang()
    owner = Originator(**{"uid": PodUid("uid-first"), "name": "first", **originator})  # type: ignore[arg-type]
    return CreatePlaceholder(AppId(app, "default"), namespace, name, queue, found.groups[0], found, owner)


def make_node(name: str = "n1", *, cpu: int = 100_000, memory: int = 2**40, pods: int = 1000) -> NodeFacts:
    return NodeFacts(NodeName(name), Resource({"vcore": cpu, "memory": memory, "pods": pods}))


def make_queue(
    path: str,
    *,
    leaf: bool = True,
    max: Mapping[str, int] | None = None,
    guaranteed: Mapping[str, int] | None = None,
) -> QueueSpec:
    parent, _, _ = path.rpartition(".")
    return QueueSpec(
        path=QueuePath(path),
        parent=QueuePath(parent) if parent else None,
        is_leaf=leaf,
        max=Limit(max) if max else None,
        guaranteed=Resource(guaranteed) if guaranteed else None,
        max_applications=0,
        properties={},
        submit_acl="*",
        admin_acl="",
    )


def make_partition(*queues: QueueSpec) -> PartitionSpec:
    """A root, and the queues given, parents first."""
    return PartitionSpec(name="default", queues=(make_queue("root", leaf=False), *queues))


def make_ledger(
    *queues: QueueSpec, nodes: int = 1, settings: LedgerSettings | None = None, listed: bool = True
) -> Ledger:
    """A synced ledger: nodes are listed, namespace ``default`` is known, and the document is applied.

    ``listed``: True if the empty list of pods has been read, too.
    """
    ledger = Ledger()
    ledger.apply(on.Configured(make_partition(*queues), settings or LedgerSettings()), now=START)
    for at in range(nodes):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(f"n{at + 1}")), now=START)
    ledger.apply(
        on.ObjectsListed(on.NODES, frozenset(NodeName(f"n{at + 1}") for at in range(nodes))), now=START
    )
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")), now=START)
    ledger.apply(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})), now=START)
    if listed:
        ledger.apply(on.PodsListed(frozenset()), now=START)
    woken(ledger, now=START)
    return ledger


def make_tree(*queues: QueueSpec, capacity: Mapping[str, int] | None = None) -> QueueTree:
    """A tree without pods. ``capacity``: of its nodes, None for no node."""
    tree = QueueTree()
    tree.apply(make_partition(*queues))
    tree.set_capacity(Tally(capacity or {}))
    return tree


def filtered(ledger: Ledger, uid: str, *, now: float, effects: list[Effect] | None = None) -> Admission:
    """A filter call as in the engine: the question, then the events of the answer.

    ``effects`` is extended by what the events have as effects, which nobody carries out without it.
    """
    record = ledger.view.pod(PodUid(uid))
    if record is not None and record.placement.waits_bind:
        _apply(ledger, on.FilterCalled(PodUid(uid)), now, effects)
    verdict = decide_admission(ledger.view, PodUid(uid), now=now)
    if not isinstance(verdict, Admitted | Refused):
        _apply(ledger, on.FilterCalled(PodUid(uid)), now, effects)
    _keep(ledger, verdict, now, effects)
    return verdict


def bind_called(
    ledger: Ledger, uid: str, node: str = "n1", *, now: float, effects: list[Effect] | None = None
) -> Binding:
    """A bind call as in the engine, up to the POST. ``effects`` as of `filtered`."""
    verdict = decide_binding(ledger.view, PodUid(uid), NodeName(node), now=now)
    _keep(ledger, verdict, now, effects)
    return verdict


def _keep(ledger: Ledger, verdict: Admission | Binding, now: float, effects: list[Effect] | None) -> None:
    if isinstance(verdict, Admitted | Refused | BindNow | BindWaits):
        for event in verdict.events:
            _apply(ledger, event, now, effects)


def _apply(ledger: Ledger, event: on.Event, now: float, effects: list[Effect] | None) -> None:
    found = ledger.apply(event, now=now)
    if effects is not None:
        effects += found


def woken(ledger: Ledger, *, now: float, slices: int = 50) -> list[str]:
    """UIDs that are woken by the requested cycles at ``now``, in order."""
    uids: list[str] = []
    for _ in range(slices):
        if not ledger.view.cycle_wanted:
            return uids
        effects = ledger.apply(on.CycleDue(), now=now)
        uids += [effect.uid for effect in effects if isinstance(effect, WakePod)]
    raise AssertionError(f"a pass is still wanted after {slices} slices")


def usage(ledger: Ledger, path: str, name: str = "vcore") -> tuple[int, int, int]:
    """Usage of one resource in a queue: allocated, reserved, pending."""
    queue = ledger.view.tree.get(path)
    assert queue is not None, f"no queue {path}"
    return queue.allocated.get(name), queue.reserved.get(name), queue.pending.get(name)


def charges(ledger: Ledger) -> dict[PodUid, Charge]:
    """Charges of all pods that have one."""
    found = {record.uid: ledger.view.charge_of(record.uid) for record in ledger.view.pods()}
    return {uid: charge for uid, charge in found.items() if charge is not None}


def record_of(ledger: Ledger, uid: str) -> PodRecord:
    """The record of a pod that the ledger knows."""
    record = ledger.view.pod(PodUid(uid))
    assert record is not None, f"no pod {uid}"
    return record


def drifts(ledger: Ledger) -> list[Drift]:
    """Findings of a ledger's audit."""
    return [drift for step in ledger.audit_steps() for drift in step]


def triggered(ledger: Ledger, ask: str, *victims: str) -> None:
    """Carry out a plan for an ask, on a node without another plan. ``pods``: its victims."""
    chosen = tuple(on.ChosenVictim(PodUid(each), "") for each in victims)
    ledger.apply(on.PlanCommitted(PodUid(ask), A_PLAN, _node_for(ask), chosen), now=START)


def untriggered(ledger: Ledger, ask: str) -> None:
    """Fail to write that plan on the ask, so that it is not carried out."""
    entries = ((RESERVED_NODE, str(_node_for(ask))), (TRIGGERED, A_PLAN))
    ledger.apply(on.RecordWritten(PodUid(ask), entries, False, Purpose.PLAN), now=START)


def _node_for(ask: str) -> NodeName:
    return NodeName(f"node-for-{ask}")


def marked(ledger: Ledger, victim: str, queue: str) -> None:
    """Mark a pod as a victim, because the quota of a queue shrank."""
    chosen = (on.ChosenVictim(PodUid(victim), ""),)
    ledger.apply(on.QuotaReclaimed(PodUid(""), QueuePath(queue), chosen), now=START)


def unmarked(ledger: Ledger, victim: str) -> None:
    """Fail to write the record on the pod, so that the pod is not evicted."""
    ledger.apply(on.RecordWritten(PodUid(victim), ((PREEMPTED_FOR, ""),), False, Purpose.VICTIM), now=START)


def reserved_on(ledger: Ledger, ask: str, node: str) -> None:
    """Reserve a node for an ask, by the record of the former acting instance; "" ends it."""
    facts = record_of(ledger, ask).facts
    shown = replace(facts, reserved_node=NodeName(node), version=facts.version + 1)
    ledger.apply(on.PodObserved(shown), now=START)
    ledger.apply(on.ActingBegan(), now=START)
