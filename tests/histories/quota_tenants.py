"""Steps of tenants in the quota's histories: pods with any label and node, and edits of their pods."""

from random import Random

from core.ids import NodeName
from core.resource import Resource
from core.workload.pod import OWN_GATE, PodFacts
from tests.builders import START
from tests.histories.quota_cluster import FILTER, GATES, LEAVES, NODES, NOWHERE, VERBS, Api
from tests.histories.quota_paddock import NAMESPACES, Paddock

MOST_PODS = 18
KINDS = (VERBS, VERBS, FILTER, GATES)
SIZES = (500, 1000, 1000, 2000)
BEGIN = START + 1000


class Tenants:
    """The API server, the Paddocks beside it, and steps of users who may write pods."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.now = rng, BEGIN
        self.story: list[str] = []
        self.api = Api()
        self.paddocks: list[Paddock] = []

    def say(self, text: str) -> None:
        self.story.append(f"{self.now - BEGIN:6.1f} {text}")

    def any_pod(self, *, bound: bool | None = None) -> PodFacts | None:
        found = [pod for pod in self.api.pods.values() if bound is None or bool(pod.node) == bound]
        return self.rng.choice(found) if found else None

    def _create(self) -> None:
        if len(self.api.pods) < MOST_PODS:
            self._make(node="")

    def _force(self) -> None:
        """A pod with its node in its spec; the queue that it names may not take it."""
        self._make(node=self.rng.choice((*NODES, NodeName("n9"))))

    def _make(self, *, node: str) -> None:
        rng = self.rng
        namespace, user = rng.choice(NAMESPACES), rng.choice(("alice", "bob"))
        app = rng.choice((*(app for _, app in self.api.apps), f"app-{self.api.made}", f"app-{self.api.made}"))
        if (namespace, app) in self.api.ended:
            app = f"app-{self.api.made}"
        known = self.api.apps.get((namespace, app))
        queue = known.queue if known and known.queue else rng.choice(LEAVES)
        # Every instance must read the first pod in the same way.
        plain = known is None or all(each.caught_up() for each in self.paddocks)
        if plain and rng.random() < 0.15:
            queue = rng.choice((*LEAVES, NOWHERE))
        if known is not None:
            user = self.api.created[
                min(known.pods, key=lambda uid: self.api.created[uid].created)
            ].identity.user
        pod = self.api.create(
            rng.choice(KINDS),
            user=user,
            node=node,
            namespace=namespace,
            app_id=app,
            queue=queue,
            size=Resource({"vcore": rng.choice(SIZES), "pods": 1}),
            priority=rng.choice((0, 0, 1)),
        )
        forced = f" forced to {node}" if node else ""
        self.say(
            f"{pod.uid} ({self.api.kinds[pod.uid]}) of {pod.size.get('vcore')} by {user} in "
            f"{namespace}/{app}, {queue}{forced}; counts in {self.api.queue_of(pod.uid) or 'no queue'}"
        )

    def _end(self) -> None:
        pod = self.any_pod()
        if pod is not None:
            self.say(f"{pod.uid} ends")
            self.api.delete(pod.uid)

    def _relabel(self) -> None:
        pod = self.any_pod()
        # Which labels an instance read first is unknown if it did not see these.
        if pod is not None and all(each.caught_up() for each in self.paddocks):
            queue, app = self.rng.choice(LEAVES), self.rng.choice((pod.app_id, "stolen"))
            self.say(f"{pod.uid} is relabelled to {queue} {app}")
            self.api.edited.add(pod.uid)
            self.api.change(pod.uid, queue=queue, app_id=app)

    def _ungate(self) -> None:
        gated = [pod for pod in self.api.pods.values() if OWN_GATE in pod.gates]
        if gated:
            pod = self.rng.choice(gated)
            self.say(f"{pod.uid} loses its gate by its owner")
            self.api.change(pod.uid, gates=())

    def _resize(self) -> None:
        pod = self.any_pod()
        if pod is not None:
            size = self.rng.choice((*SIZES, 4000))
            self.say(f"{pod.uid} is resized to {size}")
            self.api.change(pod.uid, size=Resource({"vcore": size, "pods": 1}))

    def _annotate(self) -> None:
        """Write Paddock's own annotations onto pods, as another user."""
        pod = self.any_pod()
        if pod is not None:
            other = self.rng.choice(list(self.api.pods))
            note: dict[str, object] = self.rng.choice(
                (
                    {"reserved_node": self.rng.choice(NODES)},
                    {"triggered": "plan-1"},
                    {"preempted_for": other, "preempted_plan": "plan-1"},
                    {"gate_opened": True},
                    {"nominated": self.rng.choice(NODES)},
                    {"allow_preemption": "true"},
                )
            )
            self.say(f"{pod.uid} is annotated: {note}")
            self.api.change(pod.uid, **note)
