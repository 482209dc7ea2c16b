"""A Paddock of the quota's histories: the real engine and configuration, and its knowledge."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from core.decisions.preemption.receipts import Plan
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import (
    DeletePod,
    Effect,
    EvictPod,
    MarkFailed,
    NominateNode,
    OpenGate,
    ResolveGroups,
    WakePod,
    WriteRecord,
)
from core.ledger.ledger import Ledger
from core.ledger.outcomes import EvictionOutcome
from core.resource import Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import OWN_GATE, NamespaceFacts, PodFacts
from extender.configuration.reload import LiveConfiguration, Source
from extender.configuration.sources import ConfigMapData
from extender.engine.engine import Engine
from extender.engine.outward import Outward
from tests.builders import drifts
from tests.histories.quota_cluster import ALL, CAPACITY, GATES, NODES, Api, Limits, excess

SOURCE = Source("ConfigMap", "default", "yunikorn-configs", "uid")
NAMESPACES = ("default", "other")


BELIEVED = 30.0
"""Seconds for which a filter body counts."""


class Unbound(AssertionError):
    """A breach by Paddock."""


class Paddock:
    """A Paddock. ``known``: pods by lists and watches, and by its own writes since.

    ``limits``: those of its last valid document; None before the first one.
    """

    def __init__(self, api: Api, clock: Callable[[], float]) -> None:
        self.api, self._clock = api, clock
        self.leads = self.frozen = False
        self.plans = 0
        self.start(None, None)

    # -- life -------------------------------------------------------------------------------------------

    def start(self, data: Mapping[str, str] | None, limits: Limits | None) -> None:
        """Read the configuration, then list everything."""
        self.calls: list[tuple[float, int, Callable[[], None]]] = []
        self.effects: list[Effect] = []
        self.known: dict[PodUid, PodFacts] = {}
        self.opened: set[PodUid] = set()
        self.posts: dict[PodUid, NodeName] = {}
        self.promised: dict[PodUid, float] = {}
        self.bodies: dict[PodUid, tuple[PodFacts, float]] = {}
        self.listing: list[PodFacts] | None = None
        self.limits: Limits | None = None
        self.position = self._order = 0
        self.ledger = Ledger()
        self.engine = Engine(Outward(self._clock, self._later, self._perform, self), self.ledger)
        self.configuration = LiveConfiguration(
            self.engine, overrides={}, on_refused=lambda *_: None, on_applied=lambda *_: None
        )
        for name in NAMESPACES:
            self.engine.learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts(name)))
        self.engine.learn(on.ObjectsListed(on.NAMESPACES, frozenset(NAMESPACES)))
        self.configure(data, limits)
        for node in NODES:
            size = Resource({"vcore": CAPACITY, "pods": 1000, "memory": 2**40})
            self.engine.learn(on.ObjectObserved(on.NODES, NodeFacts(node, size)))
        self.engine.learn(on.ObjectsListed(on.NODES, frozenset(NODES)))
        self.begin_list()
        self.end_list()

    def configure(self, data: Mapping[str, str] | None, limits: Limits | None) -> None:
        """Read a document.

        ``limits``: its limits, or None for a source without a valid one: then the last one counts.
        """
        self.configuration.offer_config_maps(
            None, ConfigMapData(dict(data)) if data is not None else None, SOURCE
        )
        if limits is not None:
            self.limits = limits

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self._order += 1
        self.calls.append((self._clock() + seconds, self._order, call))

    def run(self, most: int) -> None:
        """Let the loop run some of the due work."""
        for _ in range(most):
            due = min((each for each in self.calls if each[0] <= self._clock()), default=None)
            if due is None:
                return
            self.calls.remove(due)
            due[2]()

    # -- lists and watches ------------------------------------------------------------------------------

    def begin_list(self) -> None:
        self.engine.learn(on.PodsListBegun())
        self.listing = sorted(self.api.pods.values(), key=lambda pod: (pod.created, pod.uid))
        self._listed = {pod.uid: pod for pod in self.listing}
        self._earlier = set(self.bodies)
        self.position = len(self.api.log)

    def page(self, count: int) -> None:
        """Show some items of the present list."""
        for _ in range(min(count, len(self.listing or ()))):
            assert self.listing is not None
            pod = self.listing.pop(0)
            self.known[pod.uid] = self._with_own_deeds(pod)
            self.engine.learn(on.PodObserved(pod))

    def end_list(self) -> None:
        self.page(len(self.listing or ()))
        self.listing = None
        for uid in self._earlier - self._listed.keys():
            self.bodies.pop(uid, None)
        self.engine.learn(on.PodsListed(frozenset(self._listed)))
        bound = {uid: pod for uid, pod in self.known.items() if uid in self.posts}
        self.known = bound | {uid: self._with_own_deeds(pod) for uid, pod in self._listed.items()}

    def _with_own_deeds(self, pod: PodFacts) -> PodFacts:
        mine = self.known.get(pod.uid)
        return replace(pod, node=mine.node) if mine is not None and mine.node and not pod.node else pod

    def watch(self, count: int) -> None:
        """Show the next changes. During a list there is no watch."""
        if self.listing is not None:
            return
        for uid, pod in self.api.log[self.position : self.position + count]:
            self.position += 1
            if pod is None:
                self.known.pop(uid, None)
                self.bodies.pop(uid, None)
                self.opened.discard(uid)
                self.engine.learn(on.PodDeleted(uid))
            else:
                self.known[uid] = self._with_own_deeds(pod)
                self.engine.learn(on.PodObserved(pod))

    def caught_up(self) -> bool:
        """Show everything, if that is possible."""
        if self.frozen or self.listing is not None:
            return False
        self.watch(len(self.api.log))
        return True

    def offered(self, pod: PodFacts) -> None:
        """Show a pod by a filter body, perhaps before the watch. The body counts for a while."""
        self.bodies[pod.uid] = pod, self._clock() + BELIEVED
        self._earlier.discard(pod.uid)
        self.engine.learn(on.PodOffered(pod))

    def read(self, pod: PodFacts) -> None:
        """Note that the pod was read (F-18)."""
        self.offered(pod)
        self.engine.learn(on.PodRead(pod))

    def view(self) -> dict[PodUid, PodFacts]:
        """All pods, as this instance can know them now."""
        found = dict(self.known)
        for uid, (pod, until) in self.bodies.items():
            shown = found.get(uid)
            if until > self._clock() and (shown is None or (not shown.node and shown.version < pod.version)):
                found[uid] = pod
        return found

    # -- what it may do ---------------------------------------------------------------------------------

    def _holds(self, pod: PodFacts, *, past_gate: bool) -> bool:
        """True if a pod is on a node, about to be, or past its gate with no other guard (F-2).

        ``past_gate``: also count pods that passed the gate without admission and have no node yet (F-7).
        """
        if pod.node or pod.uid in self.posts:
            return True
        waits = pod.deleting or (OWN_GATE in pod.gates and pod.uid not in self.opened)
        home = self.api.homes.get(pod.uid)
        placed = home is not None and bool(home.queue)
        ours = pod.uid in self.opened or pod.gate_opened
        return placed and self.api.kinds[pod.uid] == GATES and not waits and (ours or past_gate)

    def judge(
        self,
        what: str,
        uid: PodUid,
        *,
        promises: bool = False,
        past_gate: bool = True,
        ended: Collection[PodUid] = (),
    ) -> None:
        """Raise `Unbound` if a queue would hold more than its max, by all that this instance can know.

        ``promises``: True to count its reservations for other pods, too. ``past_gate``: see `_holds`.
        ``ended``: pods that would be evicted first.
        """
        view = self.view()
        pod = view.get(uid) or self.api.pods.get(uid)
        queue = self.api.queue_of(uid) if uid in self.api.created else ""
        if pod is None or queue == ALL:
            return
        if self.limits is None:
            raise Unbound(f"{what} {uid} before there was a document")
        if not queue:
            raise Unbound(f"{what} {uid}, which is in no queue")
        promised = {each for each, until in self.promised.items() if promises and until > self._clock()}
        held = self.api.held(
            view.values(),
            lambda each: (
                each.uid not in ended and (self._holds(each, past_gate=past_gate) or each.uid in promised)
            ),
            but=uid,
        )
        over = excess(self.limits, held, queue, pod.size)
        if over:
            raise Unbound(f"{what} {uid}: {over}\n{self._report(promised)}")

    def _report(self, promised: set[PodUid]) -> str:
        """Pods that hold quota, as this instance has seen them."""
        return "\n".join(
            f"  {pod.uid} of {pod.size.get('vcore')} in {self.api.queue_of(pod.uid)} on {pod.node or 'none'}:"
            f"{' posted' * (pod.uid in self.posts)}{' opened' * (pod.uid in self.opened)}"
            f"{' promised' * (pod.uid in promised)}; charged {self.ledger.view.charge_of(pod.uid)}"
            for pod in self.view().values()
            if pod.uid in self.api.created and (self._holds(pod, past_gate=True) or pod.uid in promised)
        )

    def _perform(self, effect: Effect) -> None:
        match effect:
            case ResolveGroups(user):
                self.engine.learn(on.GroupsResolved(user, ()))
                return
            case OpenGate(uid) | WakePod(uid):
                if self.leads:
                    self.judge("opens" if isinstance(effect, OpenGate) else "wakes", uid)
                if isinstance(effect, OpenGate) and self.leads:
                    self.opened.add(uid)
            case _:
                pass
        self.effects.append(effect)

    # -- effects ----------------------------------------------------------------------------------------

    def act(self, count: int, *, reached: bool) -> None:
        """Perform some effects in their order, or let them fail."""
        for _ in range(min(count, len(self.effects))):
            self._carry_out(self.effects.pop(0), reached=reached and self.leads)

    def _carry_out(self, effect: Effect, *, reached: bool) -> None:
        api, learn = self.api, self.engine.learn
        match effect:
            case OpenGate(uid) | WakePod(uid):
                there = api.pods.get(uid)
                done = reached and there is not None
                if done and isinstance(effect, OpenGate):
                    gates = tuple(gate for gate in api.pods[uid].gates if gate != OWN_GATE)
                    api.change(uid, gates=gates, **GATE_OPENED)
                elif done:
                    api.change(uid)
                else:
                    self.opened.discard(uid)
                learn(on.PodWoken(uid, reached=done))
            case NominateNode(uid, _, _, node):
                done = reached and uid in api.pods and not api.pods[uid].node
                if done:
                    api.change(uid, nominated=node)
                learn(on.NodeNominated(uid, node, done, effect.purpose))
            case WriteRecord(uid, _, _, entries):
                learn(on.RecordWritten(uid, entries, reached and uid in api.pods, effect.purpose))
            case EvictPod(uid, _, _, preemptor) | DeletePod(uid, _, _, preemptor):
                done = reached and uid in api.pods
                if done:
                    api.delete(uid)
                outcome = EvictionOutcome.DONE if done else EvictionOutcome.FAILED
                learn(on.PodEvicted(uid, outcome, effect.purpose, preemptor))
            case MarkFailed(uid):
                if reached and uid in api.pods:
                    api.delete(uid)
            case _:
                pass

    # -- witness of the engine --------------------------------------------------------------------------

    def decided(self, verb: str, record: object, verdict: object, *, now: float) -> None: ...

    def learned(self, event: on.Event, *, now: float) -> None: ...

    def drifted(self, drifts: object) -> None: ...

    def breached(self, plan: object, breaches: object, *, pod: str, now: float) -> None: ...

    def planned(self, outcome: object, *, pod: str, how: str, now: float) -> None:
        """Pods must not be evicted for capacity that no pod may use."""
        if isinstance(outcome, Plan) and outcome.uid in self.api.created and self.leads:
            self.plans += 1
            self.judge("evicts for", outcome.uid, ended=[each.uid for each in outcome.victims])

    def audit(self) -> None:
        found = drifts(self.ledger)
        if found:
            raise Unbound(f"the audit finds {found}")


GATE_OPENED: dict[str, Any] = {"gate_opened": True}
"""The annotation that Paddock writes with a gate that it opens."""
