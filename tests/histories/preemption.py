"""Random histories of preemption: preempt calls, kube-scheduler and the ticker in any order (F-12, F-13).

``play(seed)`` plays one. The API server and kube-scheduler are simulated around the real engine. Offers are
accepted, accepted late, or ignored. Pods are created, end and are deleted, even asks with a plan. Effects are
late or fail, documents change, and Paddock restarts. Each plan is judged together with all other open plans.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from core.decisions.decision import Admitted, BindNow, Offered
from core.decisions.preemption.receipts import Kind, Plan
from core.ids import NO_NODE, NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import DeletePod, Effect, EvictPod, NominateNode, WakePod, WriteRecord
from core.ledger.ledger import Ledger
from core.ledger.outcomes import EvictionOutcome, RemovalPurpose
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from core.workload.nodes.node import NodeFacts
from core.workload.pod import PREEMPTED_FOR, RESERVED_NODE, TRIGGERED, NamespaceFacts
from extender.engine.engine import Engine
from extender.engine.outward import Outward
from tests.builders import START, drifts, make_partition
from tests.core.preemption_world import size_of
from tests.histories.preemption_laws import Pod, Scene, breaches, reclaim_breaches
from tests.histories.preemption_scene import LEAVES, Cluster

OFFERED_FOR = 5.0
STEPS = 45
MOST_PODS = 24


@dataclass
class Flight:
    """A plan that was offered to kube-scheduler, or that is carried out. ``taken``: no longer an offer."""

    ask: str
    node: str
    victims: tuple[str, ...]
    at: float
    taken: bool


class World(Cluster):
    """A cluster, and Paddock beside it."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed))
        self.seed = seed
        self.story: list[str] = []
        self.effects: list[Effect] = []
        self.calls: list[tuple[float, Callable[[], None]]] = []
        self.flights: dict[str, Flight] = {}
        self.going: dict[str, str] = {}
        self.ends: dict[str, float] = {}
        self.plans = self.taken = self.reclaims = 0
        self.engine = self._start()

    # -- Paddock ---------------------------------------------------------------------------------------------

    def _start(self) -> Engine:
        self.calls.clear()
        self.effects.clear()
        ledger = Ledger()
        self.engine = Engine(Outward(lambda: self.now, self._later, self._asked_for, self), ledger)
        self.ledger, learn = ledger, self.engine.learn
        learn(self._configured())
        for name, size in self.nodes.items():
            learn(on.ObjectObserved(on.NODES, NodeFacts(NodeName(name), size_of(size))))
        learn(on.ObjectsListed(on.NODES, frozenset(NodeName(name) for name in self.nodes)))
        learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
        learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
        for pod in list(self.pods.values()):
            learn(on.PodObserved(pod))
        learn(on.PodsListed(frozenset(pod.uid for pod in self.pods.values())))
        return self.engine

    def _configured(self) -> on.Configured:
        return on.Configured(replace(make_partition(*self.document), quota_preemption=True), LedgerSettings())

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append((self.now + seconds, call))

    def _asked_for(self, effect: Effect) -> None:
        """Assert the results of open plans, and that no pod is evicted for a deleted ask."""
        self.effects.append(effect)
        match effect:
            case WriteRecord(uid, _, _, entries):
                if (TRIGGERED, None) in entries and uid in self.flights and self.flights[uid].taken:
                    del self.flights[uid]
                if (PREEMPTED_FOR, None) in entries:
                    self.going.pop(uid, None)
            case EvictPod(uid, _, _, preemptor) | DeletePod(uid, _, _, preemptor):
                ask = self.pods.get(preemptor)
                if not preemptor.startswith("root") and (ask is None or ask.node or ask.deleting):
                    self.fail(f"{uid} is evicted for {preemptor}, which does not wait")
            case _:
                pass

    # The witness of the engine.

    def decided(self, verb: str, record: object, verdict: object, *, now: float) -> None: ...

    def learned(self, event: on.Event, *, now: float) -> None: ...

    def drifted(self, drifts: object) -> None: ...

    def breached(self, plan: Plan, breaches: object, *, pod: str, now: float) -> None:
        """A plan that breaks a law when it is due is dropped."""

    def planned(self, outcome: object, *, pod: str, how: str, now: float) -> None:
        """Note a plan. By the verb it is an offer, unless kube-scheduler can carry out only a part."""
        if not isinstance(outcome, Plan):
            return
        self.plans += 1
        victims = tuple(str(each.uid) for each in outcome.victims)
        self.say(f"plan by {how}: {outcome.uid or pod} on {outcome.node} for {', '.join(victims)}")
        if outcome.kind is Kind.QUOTA:
            self._reclaimed(pod, victims)
            return
        self.flights.pop(outcome.uid, None)
        wrong = self.scene(but=outcome.uid)
        named = [wrong.pods[each] for each in victims if each in wrong.pods]
        found = breaches(wrong, wrong.pods[outcome.uid], outcome.node, named)
        if found or len(named) < len(victims):
            self.fail("; ".join(found) or "a victim is gone")
        self.flights[outcome.uid] = Flight(outcome.uid, outcome.node, victims, self.now, how == "tick")
        if how == "tick":
            self.going.update(dict.fromkeys(victims, str(outcome.uid)))

    def _reclaimed(self, path: str, victims: tuple[str, ...]) -> None:
        """Check a quota reclaim: no pod that already leaves, and no queue below its guarantee."""
        found = reclaim_breaches(self.scene(but=""), path, victims)
        if found:
            self.fail("; ".join(found))
        self.going.update(dict.fromkeys(victims, path))
        self.reclaims += 1

    def scene(self, *, but: str) -> Scene:
        """Return the whole world, without the plan of one ask."""
        self._end_flights()
        pods = {
            name: Pod(
                name,
                pod.app_id,
                pod.queue,
                dict(pod.size.items()),
                str(pod.node),
                pod.priority,
                pod.allow_preemption == "false",
            )
            for name, pod in self.pods.items()
        }
        ended = {
            name for name, pod in self.pods.items() if pod.deleting and pod.disrupted
        } | self.going.keys()
        promised = self.flights.keys() | {
            name
            for name in self.pods
            if (record := self.ledger.view.pod(PodUid(name))) is not None and record.admission.reservation
        }
        for flight in self.flights.values():
            ended |= set(flight.victims) if not flight.taken else set()
        taken = frozenset(each.node for each in self.flights.values())
        queues: Mapping[str, QueueSpec] = {str(spec.path): spec for spec in self.document}
        others = frozenset(name for name in promised if name != but and not self.pods[name].node)
        return Scene(queues, self.nodes, pods, frozenset(ended), others, taken)

    def _end_flights(self) -> None:
        """End each offer after five seconds, and every plan with its ask."""
        for uid, flight in list(self.flights.items()):
            ask = self.pods.get(uid)
            late = not flight.taken and self.now >= flight.at + OFFERED_FOR
            if late or ask is None or ask.node or ask.deleting:
                del self.flights[uid]
        for name in [each for each in self.going if each not in self.pods]:
            del self.going[name]

    # -- the world goes on -----------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        self.story.append(f"{self.now - START:6.1f} {text}")

    def fail(self, text: str) -> None:
        story = "\n".join([*self.story, f"{self.now - START:6.1f} BREACH {text}"])
        raise AssertionError(f"seed {self.seed}: {text}\n{story}")

    def show(self, name: str, **changes: object) -> None:
        """The API server changes a pod, and the watch shows it at once."""
        pod = self.pods[name]
        self.pods[name] = replace(pod, version=pod.version + 1, **changes)  # type: ignore[arg-type]
        self.engine.learn(on.PodObserved(self.pods[name]))

    def ended(self, name: str) -> None:
        del self.pods[name]
        self.ends.pop(name, None)
        self.engine.learn(on.PodDeleted(PodUid(name)))

    def leave(self, name: str, **changes: object) -> None:
        """Delete a pod: at once, or when its grace is over."""
        if self.pods[name].grace and self.pods[name].node:
            self.show(name, deleting=True, **changes)
            self.ends[name] = self.now + self.pods[name].grace
        else:
            self.ended(name)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        for name in [each for each, at in self.ends.items() if at <= self.now]:
            self.ended(name)

    def asks(self) -> list[str]:
        return [name for name, pod in self.pods.items() if not (pod.node or pod.deleting)]

    def run(self, calls: int) -> None:
        """Let the loop run some of the due work."""
        for _ in range(calls):
            due = next((each for each in self.calls if each[0] <= self.now), None)
            if due is None:
                return
            self.calls.remove(due)
            due[1]()

    def act(self, count: int) -> None:
        """Perform some effects in their order. A few fail."""
        for _ in range(min(count, len(self.effects))):
            effect = self.effects.pop(0)
            reached = self.rng.random() < 0.95
            match effect:
                case WriteRecord(uid, _, _, entries):
                    self._write(uid, dict(entries), reached=reached)
                    done = reached and uid in self.pods
                    self.engine.learn(on.RecordWritten(uid, entries, done, effect.purpose))
                case EvictPod(uid, _, _, preemptor) | DeletePod(uid, _, _, preemptor):
                    self._evict(uid, preemptor, effect.purpose, reached=reached)
                case NominateNode(uid, _, _, node):
                    if reached and uid in self.pods and not self.pods[uid].node:
                        self.show(uid, nominated=node)
                    self.engine.learn(on.NodeNominated(uid, node, reached, effect.purpose))
                case WakePod(uid):
                    self.engine.learn(on.PodWoken(uid, reached))
                case _:
                    pass

    def _write(self, uid: str, entries: Mapping[str, str | None], *, reached: bool) -> None:
        if not reached or uid not in self.pods:
            return
        changes: dict[str, object] = {}
        if RESERVED_NODE in entries:
            changes["reserved_node"] = NodeName(entries[RESERVED_NODE] or "")
        if TRIGGERED in entries:
            changes["triggered"] = entries[TRIGGERED] or ""
        if PREEMPTED_FOR in entries:
            whose, _, why = (entries[PREEMPTED_FOR] or "").partition(" ")
            ask, _, plan = whose.partition("/")
            changes |= {"preempted_for": ask, "preempted_plan": plan, "preempted_why": why}
        self.show(uid, **changes)

    def _evict(self, uid: PodUid, preemptor: PodUid, purpose: RemovalPurpose, *, reached: bool) -> None:
        outcome = EvictionOutcome.DONE if reached else EvictionOutcome.FAILED
        if uid not in self.pods:
            outcome = EvictionOutcome.NOT_FOUND
        if outcome is EvictionOutcome.DONE and not self.pods[uid].deleting:
            self.say(f"{uid} is evicted for {preemptor}")
            self.leave(uid)
        self.engine.learn(on.PodEvicted(uid, outcome, purpose, preemptor))

    # -- steps -----------------------------------------------------------------------------------------------

    def tick(self) -> None:
        self.engine.pass_time()
        self.run(self.rng.randint(1, 12))

    def call(self) -> None:
        """Call preempt as kube-scheduler, which uses the answer now, soon, or never."""
        if not self.asks():
            return
        uid = self.rng.choice(self.asks())
        nodes = [NodeName(name) for name in self.nodes if self.rng.random() < 0.9]
        verdict = self.engine.preempt(PodUid(uid), nodes)
        if isinstance(verdict, Offered) and self.rng.random() < 0.3:
            self._take(self.flights[uid])

    def take(self) -> None:
        """Carry out an offer as kube-scheduler."""
        self._end_flights()
        open_ = [each for each in self.flights.values() if not each.taken]
        if open_:
            self._take(self.rng.choice(open_))

    def _take(self, flight: Flight) -> None:
        self.say(f"kube-scheduler carries out the plan for {flight.ask}")
        flight.taken, self.taken = True, self.taken + 1
        self.going.update(dict.fromkeys(flight.victims, flight.ask))
        self.show(flight.ask, nominated=NodeName(flight.node))
        for name in flight.victims:
            if name in self.pods and not self.pods[name].deleting:
                self.leave(name, disrupted=True)
            if self.rng.random() < 0.1:
                # kube-scheduler stops half way, and Paddock continues.
                return

    def place(self) -> None:
        """Play a cycle of kube-scheduler for one ask: filter, and bind where there is capacity."""
        if not self.asks():
            return
        name = self.rng.choice(self.asks())
        nodes = [NodeName(node) for node in self.nodes]
        verdict = self.engine.admit(PodUid(name), lambda: nodes)
        if not isinstance(verdict, Admitted):
            return
        fit = [node for node in nodes if node not in verdict.besides and self._has_capacity(node, name)]
        if not fit:
            self.show(name, unscheduled=f"no node {self.now}")
        elif isinstance(self.engine.bind(PodUid(name), self.rng.choice(fit[:1])), BindNow):
            self.say(f"{name} is bound to {fit[0]}")
            self.engine.learn(on.PodBound(PodUid(name), fit[0]))
            self.show(name, node=fit[0], nominated=NO_NODE)

    def _has_capacity(self, node: str, name: str) -> bool:
        free = dict(self.nodes[node])
        for pod in self.pods.values():
            if pod.node == node:
                free = {each: amount - pod.size.get(each) for each, amount in free.items()}
        return all(free.get(each, 0) >= amount for each, amount in self.pods[name].size.items())

    def submit(self) -> None:
        if len(self.pods) < MOST_PODS:
            path = self.rng.choice((*self.wants, *self.wants, *LEAVES))
            pod = self.add(path)
            self.say(f"{pod.name} comes, of {dict(pod.size.items())} in {path}, priority {pod.priority}")
            self.engine.learn(on.PodObserved(pod))

    def end(self) -> None:
        """End a running pod, or delete any pod. The end of an offer's victim commits the offer."""
        name = self.rng.choice(sorted(self.pods)) if self.pods else ""
        if not name or self.pods[name].deleting:
            return
        self.say(f"{name} is deleted")
        self._end_flights()
        for flight in self.flights.values():
            if name in flight.victims and not flight.taken:
                flight.taken = True
                self.going.update(dict.fromkeys(flight.victims, flight.ask))
        if self.pods[name].node and self.rng.random() < 0.5:
            self.ended(name)
        else:
            self.leave(name)

    def reload(self) -> None:
        self.document = self.rng.choice(self.documents)
        self.say(f"document {self.documents.index(self.document)}")
        self.engine.learn(self._configured())

    def restart(self) -> None:
        """Restart Paddock, which loses offers, and plans that are not written yet."""
        self.say("restart")
        self.flights = {
            uid: replace(each, node=str(self.pods[uid].reserved_node))
            for uid, each in self.flights.items()
            if each.taken and uid in self.pods and self.pods[uid].triggered
        }
        self.going = {name: pod.preempted_for for name, pod in self.pods.items() if pod.preempted_for}
        self._start()

    def step(self) -> None:
        steps = ("tick", "call", "take", "place", "submit", "end", "act", "reload", "restart")
        kind = self.rng.choices(steps, (12, 16, 5, 8, 5, 2.5, 12, 0.7, 0.4))[0]
        if kind == "act":
            self.act(self.rng.randint(1, 6))
        else:
            getattr(self, kind)()
        self.run(self.rng.randint(0, 3))
        self.pass_time(self.rng.choice((0.0, 0.0, 0.0, 0.1, 0.5, 1.0, 1.0, 3.0, 16.0)))


def play(seed: int) -> None:
    """Play one history. Raises AssertionError, with the seed and the history, for a breach."""
    played(seed)


def played(seed: int) -> World:
    world = World(seed)
    for _ in range(STEPS):
        world.step()
    found = drifts(world.ledger)
    if found:
        world.fail(f"the audit finds {found}")
    return world
