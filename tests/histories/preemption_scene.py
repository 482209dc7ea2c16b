"""The cluster of the histories of preemption: full nodes, queues, and documents to choose from. No tests."""

import random

from core.ids import NodeName, PodUid
from core.queues.spec import QueueSpec
from core.workload.pod import PodFacts
from tests.builders import START
from tests.core.preemption_world import queue, size_of
from tests.histories.preemption_laws import TYPES

PARENTS = ("root.a", "root.ab")
LEAVES = ("root.x", "root.a.a", "root.a.ab", "root.ab.a", "root.ab.b")
DELAYS = {"preemption_delay": "1s", "quota_preemption_delay": "1s"}
POLICIES: tuple[dict[str, str], ...] = (
    *({},) * 10,
    {"preemption_policy": "fence"},
    {"preemption_policy": "disabled"},
    {"priority_policy": "fence"},
    {"priority_offset": "1"},
)


class Cluster:
    """The state of the API server. Pods' uids are their names."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now = START
        self.pods: dict[str, PodFacts] = {}
        self.count = 0
        self._make()
        self.documents = [self._document() for _ in range(2)]
        self.document = self.documents[0]

    def _make(self) -> None:
        rng = self.rng
        names = [f"n{number}" for number in range(rng.randint(1, 3))]
        for _ in range(rng.randint(4, 9)):
            self.add(rng.choice(LEAVES[1:]), node=rng.choice(names))
        self.nodes = {name: dict.fromkeys(TYPES, rng.choice((0, 0, 0, 0, 1))) for name in names}
        for pod in self.pods.values():
            for name, amount in pod.size.items():
                self.nodes[pod.node][name] += amount
        self.wants = rng.sample(LEAVES, 2)
        for _ in range(rng.randint(2, 4)):
            self.add(rng.choice(self.wants))

    def add(self, path: str, *, node: str = "", most: int = 2) -> PodFacts:
        rng, self.count = self.rng, self.count + 1
        name = f"p{self.count:02}"
        size = {"vcore": rng.randint(1, most), "memory": rng.choice((0, 0, 1, 1, 2))}
        self.pods[name] = PodFacts(
            PodUid(name),
            "default",
            name,
            size_of({each: amount for each, amount in size.items() if amount}),
            queue=path,
            version=1,
            created=float(int(self.now)) - (rng.randint(5, 50) if node else rng.randint(0, 1)),
            scheduler_name="yunikorn",
            app_id=f"app-of-{rng.choice(('1', '2', name))}-in-{path}",
            node=NodeName(node),
            priority=rng.choice((0, 0, 0, 1)),
            allow_preemption="false" if rng.random() < 0.15 else "",
            grace=rng.choice((0, 0, 2)),
        )
        return self.pods[name]

    def _document(self) -> tuple[QueueSpec, ...]:
        """Guarantees often equal the usage and one or two asks. Some maxes are nearly used up."""
        rng, found = self.rng, []
        for path in (*PARENTS, *LEAVES):
            used = {name: self._used(path, name) for name in TYPES}
            due: dict[str, int] = {}
            cap: dict[str, int] = {}
            if path in self.wants:
                due = {name: used[name] + rng.randint(1, 5) for name in TYPES}
            elif rng.random() < 0.25:
                due = {name: used[name] - rng.randint(-1, 3) for name in TYPES}
            if rng.random() < 0.1:
                cap = {name: max(1, used[name] + rng.randint(0, 4)) for name in TYPES}
            due = {
                name: due[name] for name in due if due[name] > 0 and (name == "vcore" or rng.random() < 0.5)
            }
            if path in LEAVES and rng.random() < 0.1:
                # Perhaps less than the present usage, which leads to quota reclaim.
                cap = {"vcore": max(1, used["vcore"] - 1)}
            more = {**DELAYS, **rng.choice(POLICIES)}
            found.append(queue(path, leaf=path in LEAVES, guaranteed=due, max=cap, **more))
        return tuple(found)

    def _used(self, path: str, name: str) -> int:
        inside = [pod for pod in self.pods.values() if f"{pod.queue}.".startswith(f"{path}.")]
        return sum(pod.size.get(name) for pod in inside if pod.node)
