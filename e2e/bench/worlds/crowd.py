"""A full cluster in memory, and ten thousand asks that wait for capacity in it.

As on real clusters, every node has half a core left, which is too small for any ask. The root is therefore
never quite full, and a cycle has to check each application. An eighth of the queues are over their own max.
The asks of the others stand at Paddock's gate.
"""

import itertools
from collections import deque
from dataclasses import dataclass, replace

import yaml

from core.decisions.decision import Admitted
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec
from core.resource import Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import OWN_GATE, NamespaceFacts, PodFacts
from e2e.bench.worlds.rig import filter_body
from extender.engine.engine import Engine
from extender.queueconfig.load import load_document

NODES, ASKS = 500, 10_000
UNITS, TEAMS, LEAVES = 5, 10, 4
QUEUES = UNITS * TEAMS * LEAVES
APPS_IN_QUEUE = 5
CORES = 32
ON_NODE = (4_000,) * 7 + (1_000,) * 3 + (500,)
"""Millicores of the pods on a node, which leave half a core of it."""

POLICIES = ("fifo", "fair", "stateaware", "fifo")
SIZES = (1_000, 2_000, 4_000)
PRIORITIES = (0, 100, 1000)
CAPPED = (3, 0)
"""The leaves of that number, in every other team, hold more than their max."""

GIB = 2**30


def document() -> str:
    """Four levels, with guarantees, offsets, a fence, sort policies and a limit for every user."""
    units = [
        {
            "name": f"unit{unit}",
            "resources": {"guaranteed": {"vcore": str(1_000 + 200 * unit)}},
            "properties": {"priority.offset": str(10 * unit)},
            "limits": [{"limit": "everyone", "users": ["*"], "maxresources": {"vcore": "100000"}}],
            "queues": [_team(unit, team) for team in range(TEAMS)],
        }
        for unit in range(UNITS)
    ]
    root = {"name": "root", "submitacl": "*", "queues": units}
    return yaml.safe_dump({"partitions": [{"name": "default", "queues": [root]}]})


def _team(unit: int, team: int) -> dict[str, object]:
    fenced = {"priority.policy": "fence"} if team == 0 else {}
    return {
        "name": f"team{team}",
        "resources": {"guaranteed": {"vcore": str(50 + team)}, "max": {"vcore": "8000"}},
        "properties": fenced,
        "queues": [
            {
                "name": f"q{leaf}",
                "resources": {"max": {"vcore": "1" if (leaf, team % 2) == CAPPED else "4000"}},
                "properties": {"application.sort.policy": POLICIES[leaf]},
            }
            for leaf in range(LEAVES)
        ],
    }


def queue_path(at: int) -> str:
    at %= QUEUES
    return f"root.unit{at % UNITS}.team{at // UNITS % TEAMS}.q{at // UNITS // TEAMS}"


@dataclass
class Crowd:
    """The cluster as an engine has learned it.

    ``small``: running pods of one core, in the order in which they end, neighbours on different nodes.
    ``waiting``: the asks. ``capped``: queues over their max.
    """

    engine: Engine
    small: deque[PodFacts]
    waiting: dict[PodUid, PodFacts]
    partition: PartitionSpec
    capped: frozenset[str]
    _numbers: "itertools.count[int]"
    _versions: "itertools.count[int]"

    # -- what happens in it ----------------------------------------------------------------------------------

    def free_slot(self) -> None:
        """End the pod of one core that has run for longest."""
        self.engine.learn(on.PodDeleted(self.small.popleft().uid))

    def free_slots(self, count: int) -> None:
        for _ in range(count):
            self.free_slot()

    def empty(self) -> None:
        """End everything that runs."""
        for uid in [record.uid for record in self.engine.view.pods() if record.node]:
            self.engine.learn(on.PodDeleted(uid))

    def bind(self, uid: PodUid) -> None:
        """Let an ask with a turn pass filter and run where it was counted; another ask takes its place."""
        view = self.engine.view
        verdict = self.engine.admit(uid, lambda: [*view.nodes])
        record = view.pod(uid)
        if not isinstance(verdict, Admitted) or record is None:
            return
        node, version = record.admission.noted, next(self._versions)
        bound = replace(self.waiting.pop(uid), node=node, gates=(), version=version)
        if bound.size.get("vcore") == SIZES[0]:
            self.small.append(bound)
        self.engine.learn(on.PodObserved(bound))
        self.ask()

    def ask(self) -> PodFacts:
        """Add an ask, in the next queue."""
        at = next(self._numbers)
        queue = queue_path(at)
        facts = PodFacts(
            uid=PodUid(f"00000000-0000-4000-8000-{at:012d}"),
            namespace="default",
            name=f"ask-{at}",
            size=_size(SIZES[at // QUEUES % len(SIZES)]),
            version=next(self._versions),
            created=float(at),
            scheduler_name="yunikorn",
            priority=PRIORITIES[at // QUEUES % 7 % len(PRIORITIES)],
            app_id=f"{queue}-{at // QUEUES % APPS_IN_QUEUE}",
            queue=queue,
            gates=() if queue in self.capped else (OWN_GATE,),
        )
        self.waiting[facts.uid] = facts
        self.engine.learn(on.PodObserved(facts))
        return facts

    def reload(self) -> None:
        """Load the same document again."""
        self.engine.learn(on.Configured(self.partition, LedgerSettings()))

    def body_of(self, facts: PodFacts, first: int, count: int) -> bytes:
        """The body of a filter call for an ask, with a number of names from the ``first`` node on."""
        names = [_node(first + step) for step in range(count)]
        cpu = f"{facts.size.get('vcore')}m"
        return filter_body(facts.uid, facts.name, facts.queue, names, app=facts.app_id, cpu=cpu)


def crowd(engine: Engine) -> Crowd:
    """Let an engine learn of a cluster, of its running pods, and of ten thousand asks."""
    partition = load_document(document())
    capped = frozenset(path for path in map(queue_path, range(QUEUES)) if _is_capped(path))
    made = Crowd(engine, deque(), {}, partition, capped, itertools.count(), itertools.count(1))
    made.reload()
    engine.learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
    engine.learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
    names = [_node(at) for at in range(NODES)]
    for name in names:
        whole = Resource({"vcore": CORES * 1000, "memory": 256 * GIB, "pods": 110})
        engine.learn(on.ObjectObserved(on.NODES, NodeFacts(name, whole)))
    engine.learn(on.ObjectsListed(on.NODES, frozenset(names)))
    running = [_running(made, name, at, size) for at, size in enumerate(ON_NODE) for name in names]
    for _ in range(ASKS):
        made.ask()
    engine.learn(on.PodsListed(frozenset([*running, *made.waiting])))
    return made


def _running(made: Crowd, node: NodeName, at: int, size: int) -> PodUid:
    uid = PodUid(f"running-{node}-{at}")
    queue = queue_path(len(ON_NODE) * int(node[5:]) + at)
    facts = PodFacts(
        uid=uid,
        namespace="default",
        name=uid,
        size=_size(size),
        version=next(made._versions),
        scheduler_name="yunikorn",
        node=node,
        app_id=f"{queue}-running",
        queue=queue,
    )
    made.engine.learn(on.PodObserved(facts))
    if size == SIZES[0]:
        made.small.append(facts)
    return uid


def _is_capped(path: str) -> bool:
    return (int(path[-1]), int(path[-4]) % 2) == CAPPED


def _node(at: int) -> NodeName:
    return NodeName(f"node-{at % NODES:05d}")


def _size(millicores: int) -> Resource:
    return Resource({"vcore": millicores, "memory": millicores * GIB // 1000, "pods": 1})
