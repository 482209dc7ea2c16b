"""Simulated kube-scheduler of the quota's histories: its cycles, its Bindings, and its absence."""

import random
from dataclasses import dataclass, replace

from core.decisions.decision import Admitted, BindNow, BoundAlready, Offered
from core.ids import NO_NODE, NodeName, PodUid
from core.ledger import events as on
from core.workload.pod import PodFacts
from tests.histories.quota_cluster import (
    FILTER,
    GATES,
    NODES,
    VERBS,
)
from tests.histories.quota_paddock import Paddock
from tests.histories.quota_tenants import Tenants

PROMISED = 25.0
"""Seconds within which kube-scheduler binds what filter admitted."""


@dataclass
class Post:
    """A Binding on its way to the API server. ``paddock``: its sender, None for kube-scheduler itself."""

    paddock: Paddock | None
    uid: PodUid
    node: NodeName


class Scheduler(Tenants):
    """kube-scheduler beside the tenants. It calls the leading Paddock."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.assumed: dict[PodUid, tuple[NodeName, float]] = {}
        self.posts: list[Post] = []
        self.away_until = 0.0
        self.judged = 0

    @property
    def leader(self) -> Paddock:
        return next(each for each in self.paddocks if each.leads)

    def _schedule(self) -> None:
        """Play a cycle for one pod: filter if its markers ask for that, and a node."""
        paddock = self.leader
        if self.now < self.away_until or paddock.frozen:
            return
        found = [
            pod
            for pod in self.api.pods.values()
            if not (pod.node or pod.gates or pod.deleting or pod.uid in self.assumed)
        ]
        if not found:
            return
        pod = self.rng.choice(found)
        if self.api.kinds[pod.uid] == GATES:
            self._assume(pod)
            return
        if not paddock.engine.view.synced:
            return
        record = paddock.engine.view.pod(pod.uid)
        if record is None or record.facts.version < pod.version:
            paddock.offered(pod)
        paddock.promised.pop(pod.uid, None)
        verdict = paddock.engine.admit(pod.uid, lambda: list(NODES))
        self.say(f"filter {pod.uid}: {type(verdict).__name__}")
        if isinstance(verdict, Admitted):
            self.judged += 1
            if pod.uid not in paddock.posts:
                # Otherwise its Binding may succeed, whatever the answer now.
                paddock.judge("admits", pod.uid, promises=True)
            if self._assume(pod):
                paddock.promised[pod.uid] = self.now + PROMISED
                return
            self.api.change(pod.uid, unscheduled=f"no node at {self.now}")
        self._preempt(paddock, pod)

    def _preempt(self, paddock: Paddock, pod: PodFacts) -> None:
        """Call preempt as kube-scheduler, and evict the victims."""
        verdict = paddock.engine.preempt(pod.uid, list(NODES))
        if not isinstance(verdict, Offered):
            return
        victims = [each.uid for each in verdict.plan.victims]
        self.say(f"{pod.uid} is offered {', '.join(victims)}")
        for uid in victims:
            if uid in self.api.pods:
                self.api.delete(uid)

    def _assume(self, pod: PodFacts) -> bool:
        fit = [node for node in NODES if self.api.has_capacity(node, pod.size)]
        if fit:
            self.assumed[pod.uid] = self.rng.choice(fit), self.now
        return bool(fit)

    def _bind(self) -> None:
        if not self.assumed or self.now < self.away_until or self.leader.frozen:
            return
        uid = self.rng.choice(list(self.assumed))
        node, since = self.assumed.pop(uid)
        pod, kind = self.api.pods.get(uid), self.api.kinds[uid]
        late = self.now >= since + PROMISED
        if pod is None or pod.node or pod.gates or (kind == FILTER and late):
            return
        if kind == VERBS:
            self._bind_through(self.leader, pod, node)
        else:
            self.say(f"kube-scheduler binds {uid}")
            self.posts.append(Post(None, uid, node))

    def _bind_through(self, paddock: Paddock, pod: PodFacts, node: NodeName) -> None:
        if not paddock.engine.view.synced or pod.uid in paddock.posts:
            return
        record = paddock.engine.view.pod(pod.uid)
        if record is None or not record.is_confirmed or record.facts.gates:
            paddock.read(pod)
        record = paddock.engine.view.pod(pod.uid)
        reserved = record is not None and record.admission.reservation is not None
        verdict = paddock.engine.bind(pod.uid, node)
        self.say(f"bind {pod.uid}: {type(verdict).__name__}")
        paddock.promised.pop(pod.uid, None)
        if isinstance(verdict, BindNow):
            self.judged += 1
            # Admitted pods come before pods that bypassed the gate and have no node yet.
            paddock.judge("binds", pod.uid, past_gate=not reserved)
            paddock.posts[pod.uid] = node
            self.posts.append(Post(paddock, pod.uid, node))
        elif isinstance(verdict, BoundAlready):
            return

    def _land(self) -> None:
        """Let a Binding reach the API server, or lose it, or lose its answer."""
        if not self.posts:
            return
        post = self.posts.pop(self.rng.randrange(len(self.posts)))
        pod, how = self.api.pods.get(post.uid), self.rng.random()
        done = how < 0.95 and pod is not None and not pod.node and not pod.gates
        if done:
            self.api.change(post.uid, node=post.node, nominated=NO_NODE)
            self.say(f"{post.uid} is bound to {post.node}")
        paddock = post.paddock
        if paddock is None or post.uid not in paddock.posts:
            return
        del paddock.posts[post.uid]
        known = paddock.view().get(post.uid)
        if done and known is not None:
            paddock.known[post.uid] = replace(known, node=post.node)
        if paddock.frozen:
            return
        if done and how < 0.9:
            paddock.engine.learn(on.PodBound(post.uid, post.node))
        else:
            paddock.engine.learn(on.BindFailed(post.uid, certain=not done))

    def _away(self) -> None:
        """Stop kube-scheduler for a while. It starts again without any memory."""
        self.say("kube-scheduler is away")
        self.away_until = self.now + self.rng.choice((1.0, 4.0, 12.0, 40.0))
        self._forget_assumed()

    def _forget_assumed(self) -> None:
        self.assumed.clear()
        for each in self.paddocks:
            each.promised.clear()
