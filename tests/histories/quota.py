"""Random histories of the quota: writes of tenants, and events of schedulers, leaders and etcd.

``play(seed)`` plays one. Two Paddocks follow one simulated API server, and one leads. An observer counts
usage from the server's state itself. Rules:

- Paddock admits, wakes, ungates, binds or offers victims for no pod if that would exceed a max. The check
  uses everything that it has seen or done.
- Amounts that others force, resize or ungate count as soon as Paddock sees them, and block admission.
- An application is only in the queue that follows from its first pod's labels at creation, its owner and its
  access.
"""

import random
from collections.abc import Mapping
from dataclasses import replace

from core.ids import NO_NODE, PodUid
from core.ledger import events as on
from core.resource import Resource
from core.workload.pod import PodFacts
from tests.histories.quota_cluster import (
    DOCUMENTS,
    FILTER,
    Limits,
    document_of,
)
from tests.histories.quota_paddock import Paddock, Unbound
from tests.histories.quota_scheduler import Scheduler

STEPS = 70
LATE = 5.0
"""Seconds by which a watch may be behind. Paddock trusts its own writes for longer."""

FEATURES: Mapping[str, float] = {
    "create": 14,
    "schedule": 22,
    "bind": 14,
    "land": 14,
    "watch": 18,
    "effects": 14,
    "wait": 12,
    "end": 5,
    "away": 1.0,
    "force": 2.0,
    "relabel": 1.0,
    "ungate": 1.0,
    "resize": 1.5,
    "annotate": 1.0,
    "forge": 1.0,
    "list": 2.0,
    "page": 4.0,
    "restore": 0.4,
    "save": 0.6,
    "configure": 1.2,
    "lose": 0.8,
    "restart": 0.6,
    "freeze": 0.7,
    "resume": 1.0,
}
"""Features of a history, and how often they happen. A caller can switch some off."""


class World(Scheduler):
    """Simulated cluster. ``features``: see `FEATURES`."""

    def __init__(self, seed: int, features: Mapping[str, float]) -> None:
        super().__init__(random.Random(seed))
        self.features = features
        self.limits: Limits = self.rng.choice(DOCUMENTS)
        self.data: Mapping[str, str] | None = {"queues.yaml": document_of(self.limits)}
        for _ in range(2):
            paddock = Paddock(self.api, lambda: self.now)
            paddock.start(self.data, self.limits)
            self.paddocks.append(paddock)
        self.paddocks[0].leads = True
        self.saved: tuple[dict[PodUid, PodFacts], int] | None = None

    @property
    def standby(self) -> Paddock:
        return next(each for each in self.paddocks if not each.leads)

    def step(self) -> None:
        kinds = list(self.features)
        kind = self.rng.choices(kinds, [self.features[each] for each in kinds])[0]
        getattr(self, f"_{kind}")()
        for each in self.paddocks:
            if not each.frozen:
                each.run(self.rng.randint(0, 4))

    def _forge(self) -> None:
        """Send a filter body about a running pod, of a version far ahead, as any process could."""
        pod = self.any_pod(bound=True)
        if pod is not None and not self.leader.frozen and self.leader.engine.view.synced:
            self.say(f"a filter body says that {pod.uid} is small and waits")
            lie = replace(pod, node=NO_NODE, version=10**12, size=Resource({"vcore": 1, "pods": 1}))
            self.leader.engine.learn(on.PodOffered(lie))

    # -- Paddock and its sources ------------------------------------------------------------------------

    def _running(self) -> Paddock | None:
        found = [each for each in self.paddocks if not each.frozen]
        return self.rng.choice(found) if found else None

    def _watch(self) -> None:
        if paddock := self._running():
            paddock.watch(self.rng.choice((1, 2, 5, 100)))

    def _effects(self) -> None:
        for each in self.paddocks:
            if not each.frozen:
                each.act(self.rng.randint(1, 4), reached=self.rng.random() < 0.95)

    def _wait(self) -> None:
        seconds = self.rng.choice((0.05, 0.3, 1.0, 1.0, 2.5, 6.0, 31.0))
        if seconds > LATE:
            self._catch_up()
        self.now += seconds
        for each in self.paddocks:
            if not each.frozen:
                each.run(20)
                each.engine.pass_time()

    def _catch_up(self) -> None:
        """Let a watch catch up. No list takes longer, and no watch is later."""
        for each in self.paddocks:
            if not each.frozen:
                if each.listing is not None:
                    each.end_list()
                each.caught_up()

    def _list(self) -> None:
        paddock = self._running()
        if paddock is not None and paddock.listing is None:
            self.say(f"{self._name(paddock)} begins a list")
            paddock.begin_list()

    def _page(self) -> None:
        for each in self.paddocks:
            if each.frozen or each.listing is None:
                continue
            if self.rng.random() < 0.5:
                each.page(2)
            else:
                self.say(f"{self._name(each)} ends its list")
                each.end_list()

    def _name(self, paddock: Paddock) -> str:
        return f"paddock {self.paddocks.index(paddock) + 1}"

    def _save(self) -> None:
        self.saved = dict(self.api.pods), self.api.version

    def _restore(self) -> None:
        """Restore etcd from a backup. Pods and versions go back, and all clients list again."""
        if self.saved is None or any(each.frozen for each in self.paddocks):
            return
        self.say("etcd is restored")
        pods, self.api.version = self.saved
        known = {uid: pod for uid, pod in pods.items() if self._still_filed(uid)}
        self.api.pods, self.saved = known, None
        for app in self.api.apps.values():
            app.pods &= known.keys()
        # Paddock may know the lost pods for a while, so their ids are not used again.
        self.api.ended |= {key for key, app in self.api.apps.items() if not app.pods}
        self.api.apps = {key: app for key, app in self.api.apps.items() if app.pods}
        self._forget_assumed()
        self.posts.clear()
        for each in self.paddocks:
            for uid in list(each.posts):
                each.engine.learn(on.BindFailed(uid, certain=True))
            each.posts.clear()
            each.known.clear()
            each.bodies.clear()
            each.opened.clear()
            each.begin_list()
            each.end_list()

    def _still_filed(self, uid: PodUid) -> bool:
        """True if the pod's application has not ended meanwhile. Otherwise the pod is not restored."""
        pod = self.api.created[uid]
        app = self.api.apps.get((pod.namespace, pod.app_id))
        return app is not None and uid in app.pods

    def _configure(self) -> None:
        self.limits = self.rng.choice(DOCUMENTS)
        self._offer({"queues.yaml": document_of(self.limits)}, self.limits)

    def _lose(self) -> None:
        """Delete or empty the ConfigMap, or replace its contents."""
        data = self.rng.choice(
            (None, {}, {"queues.yaml": ""}, {"other": "x"}, {"queues.yaml": "partitions: ["})
        )
        self._offer(data, None)

    def _offer(self, data: Mapping[str, str] | None, limits: Limits | None) -> None:
        self.say(f"the ConfigMap says {limits or data}")
        self.data = data
        for each in self.paddocks:
            each.configure(data, limits)

    def _restart(self) -> None:
        paddock = self._running()
        if paddock is None or (self.data or {}).get("queues.yaml") == "partitions: [":
            return
        self.say(f"{self._name(paddock)} restarts")
        if paddock.leads:
            self._settle_unguarded()
        self.posts = [post for post in self.posts if post.paddock is not paddock]
        self.api.blur()
        right = self.limits if self.data and self.data.get("queues.yaml") else None
        paddock.start(self.data, right)

    def _settle_unguarded(self) -> None:
        """Place admitted pods that need no bind call, since only the ending instance knows them."""
        self.assumed = {uid: each for uid, each in self.assumed.items() if self.api.kinds[uid] != FILTER}
        for post in [each for each in self.posts if each.paddock is None]:
            self.posts.remove(post)
            pod = self.api.pods.get(post.uid)
            if pod is not None and not pod.node:
                self.api.change(post.uid, node=post.node)

    def _freeze(self) -> None:
        """Stop the leader's host. The other instance takes over once its watch is up to date."""
        old, new = self.leader, self.standby
        if new.frozen:
            return
        self.say(f"{self._name(old)} freezes, {self._name(new)} leads")
        self._settle_unguarded()
        for post in [each for each in self.posts if each.paddock is old]:
            self.posts.remove(post)
            pod = self.api.pods.get(post.uid)
            if pod is not None and not pod.node and self.rng.random() < 0.7:
                self.api.change(post.uid, node=post.node)
        old.frozen, old.leads = True, False
        self.now += 15.0
        self._forget_assumed()
        if new.listing is not None:
            new.end_list()
        new.watch(1000)
        new.leads = True
        new.effects.clear()
        new.engine.learn(on.ActingBegan())

    def _resume(self) -> None:
        """Let the frozen instance continue. Its Lease is over, so its calls are refused (F-3)."""
        for each in self.paddocks:
            if each.frozen:
                self.say(f"{self._name(each)} goes on")
                each.frozen = False
                for uid in list(each.posts):
                    each.engine.learn(on.BindFailed(uid, certain=False))
                each.posts.clear()
                each.engine.learn(on.ActingEnded())
                each.watch(1000)

    # -- the end ----------------------------------------------------------------------------------------

    def inspect(self) -> None:
        """Assert that the counts of every Paddock are right."""
        for each in self.paddocks:
            each.audit()


def play(seed: int) -> None:
    """Play one history. Raises AssertionError, with the seed and the history, for a breach."""
    played(seed)


def played(seed: int, features: Mapping[str, float] = FEATURES) -> World:
    world = World(seed, features)
    try:
        for _ in range(STEPS):
            world.step()
        world.inspect()
    except Unbound as error:
        story = "\n".join(world.story)
        raise AssertionError(f"seed {seed}: Paddock {error}\n{story}") from None
    return world
