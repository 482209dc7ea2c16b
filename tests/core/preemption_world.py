"""A small cluster for tests of preemption: queues by path, running pods, waiting asks, in whole units."""

from collections.abc import Mapping
from dataclasses import replace

from core.decisions.preemption.planning import plan_preemption
from core.decisions.preemption.receipts import NoPlan, Plan
from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings, PreemptionSettings
from core.queues.spec import QueueSpec
from core.queues.tree import QueueTree
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts
from tests.builders import AGENTS, OF_AGENTS, START, make_partition

LATER = START + 1000.0
"""Time at which every ask is old enough to preempt."""

Amounts = Mapping[str, int]


def queue(
    path: str,
    *,
    guaranteed: Amounts | int | None = None,
    max: Amounts | int | None = None,
    leaf: bool = True,
    **properties: str,
) -> QueueSpec:
    """A number stands for ``vcore``. Properties with ``_`` for ``.``: ``preemption_policy="fence"``."""
    parent = path.rpartition(".")[0]
    cap, due = _amounts(max), _amounts(guaranteed)
    return QueueSpec(
        path=QueuePath(path),
        parent=QueuePath(parent) if parent else None,
        is_leaf=leaf,
        max=Limit(cap) if cap else None,
        guaranteed=Resource(due) if due else None,
        max_applications=0,
        properties={name.replace("_", "."): value for name, value in properties.items()},
        submit_acl="*",
        admin_acl="",
    )


def _amounts(given: Amounts | int | None) -> Amounts | None:
    return {"vcore": given} if isinstance(given, int) else given


def size_of(given: Amounts | int) -> Resource:
    return Resource(_amounts(given) or {})


class World:
    """World for tests of preemption. Names of pods are also their UIDs."""

    def __init__(self, *queues: QueueSpec, nodes: Mapping[str, Amounts | int], **settings: bool) -> None:
        self.ledger = Ledger()
        self.queues = queues
        self.settings = LedgerSettings(preemption=PreemptionSettings(**settings))
        self.configure(*queues)
        for name, size in nodes.items():
            self.node(name, size)
        self.tell(on.ObjectsListed(on.NODES, frozenset(NodeName(name) for name in nodes)))
        self.tell(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
        self.tell(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
        self.tell(on.PodsListed(frozenset()))

    def configure(self, *queues: QueueSpec, **switches: bool) -> None:
        partition = replace(make_partition(*queues), **switches)
        self.tell(on.Configured(partition, self.settings))

    def tell(self, event: on.Event, *, now: float = START) -> None:
        self.ledger.apply(event, now=now)

    def node(self, name: str, size: Amounts | int, **facts: object) -> None:
        self.tell(on.ObjectObserved(on.NODES, NodeFacts(NodeName(name), size_of(size), **facts)))  # type: ignore[arg-type]

    def runs(
        self, name: str, queue: str, size: Amounts | int = 1, node: str = "n1", **facts: object
    ) -> PodFacts:
        """A pod that is bound; ``created``: 0 unless said, higher is newer."""
        return self.pod(name, queue, size, node=NodeName(node), **facts)

    def asks(self, name: str, queue: str, size: Amounts | int = 1, **facts: object) -> PodFacts:
        return self.pod(name, queue, size, **{"created": START, **facts})

    def pod(self, name: str, queue: str, size: Amounts | int, **facts: object) -> PodFacts:
        values: dict[str, object] = {
            "app_id": f"app-of-{name}",
            "scheduler_name": "yunikorn",
            "version": 1,
            **facts,
        }
        if "required_node" in facts:
            # By default the pod belongs to an existing DaemonSet.
            values = {**OF_AGENTS, **values}
            self.tell(on.ObjectObserved(on.DAEMON_SETS, AGENTS))
        space = str(values.pop("namespace", "default"))
        pod = PodFacts(PodUid(name), space, name, size_of(size), queue=queue, **values)  # type: ignore[arg-type]
        self.tell(on.PodObserved(pod))
        return pod

    def first_pods(self, *apps: str, queue: str, node: str = "n1", size: Amounts | int = 0) -> None:
        """Originators of size zero, so that no other pod of their applications is an originator."""
        for app in apps:
            self.runs(f"first-of-{app}", queue, size, node, app_id=app, created=-1.0)

    @property
    def tree(self) -> QueueTree:
        return self.ledger.view.tree

    def plan(
        self, uid: str = "ask", *, now: float = LATER, candidates: list[str] | None = None
    ) -> Plan | NoPlan:
        named = None if candidates is None else [NodeName(each) for each in candidates]
        return plan_preemption(self.ledger.view, PodUid(uid), now=now, candidates=named)

    def victims(self, uid: str = "ask", **how: object) -> set[str]:
        plan = self.plan(uid, **how)  # type: ignore[arg-type]
        return {victim.name for victim in plan.victims} if isinstance(plan, Plan) else set()

    def commit(self, uid: str, *, recreate: bool = False) -> set[str]:
        """Carry out a plan: delete its victims and bind the ask. ``recreate``: create the victims again."""
        plan = self.plan(uid)
        if not isinstance(plan, Plan):
            return set()
        for victim in plan.victims:
            self._goes(victim.uid, recreate=recreate)
        ask = self.ledger.view.pod(plan.uid)
        assert ask is not None
        self.tell(on.PodObserved(replace(ask.facts, node=plan.node, version=ask.facts.version + 1)))
        return {victim.name for victim in plan.victims}

    def _goes(self, uid: PodUid, *, recreate: bool) -> None:
        record = self.ledger.view.pod(uid)
        assert record is not None
        self.tell(on.PodDeleted(uid))
        if recreate:
            again = PodUid(f"{uid}'")
            facts = replace(record.facts, uid=again, name=str(again), node=NodeName(""), created=START)
            self.tell(on.PodObserved(facts))

    def one_commit(self, *, recreate: bool) -> set[str]:
        """The first plan that any ask gets, carried out; empty when none gets one."""
        waiting = sorted(record.uid for record in self.ledger.view.pods() if record.is_ask)
        return next((found for uid in waiting if (found := self.commit(uid, recreate=recreate))), set())

    def until_quiet(self, *, most: int = 100) -> list[str]:
        """Names of evicted pods in order, while every victim is created again and every ask plans in turn."""
        lost: list[str] = []
        for _ in range(most):
            evicted = self.one_commit(recreate=True)
            if not evicted:
                return lost
            lost += sorted(evicted)
        raise AssertionError(f"not quiet after {most} plans: {lost}")

    def used(self, path: str, name: str = "vcore") -> int:
        found = self.tree.get(path)
        assert found is not None
        return found.allocated.get(name)

    def refused(self, uid: str = "ask", **how: object) -> NoPlan:
        plan = self.plan(uid, **how)  # type: ignore[arg-type]
        assert isinstance(plan, NoPlan), plan
        return plan


def world_of(*sizes: int, total: int | None = None, guaranteed: int = 5, **settings: bool) -> World:
    """An empty queue, and one with pods v0, v1 and so on, oldest first, on one node."""
    world = World(
        queue("root.a", guaranteed=guaranteed),
        queue("root.b"),
        nodes={"n1": sum(sizes) if total is None else total},
        **settings,
    )
    for number, size in enumerate(sizes):
        world.runs(f"v{number}", "root.b", size, created=float(number))
    return world
