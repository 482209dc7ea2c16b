"""Paddock itself in the simulator: the server's engine, verbs and configuration in a played world.

`extender.app` connects these to sockets, watches and a wall clock. Here they are connected to the played API
server and the virtual clock. A restart is a new `Life`; the former one is never heard of again.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from typing import TypeVar

import msgspec

from core.decisions.preemption.judging import Breach
from core.decisions.preemption.planning import Outcome as Planned
from core.decisions.preemption.receipts import Plan
from core.errors import PaddockError
from core.ids import NodeName
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.effects import Effect, EndWait, PostEvent, ResolveGroups
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.workload.budget import BudgetFacts
from core.workload.pod import PodFacts
from extender.configuration.reload import LiveConfiguration, Source
from extender.configuration.sources import CONFIGS_NAME, ConfigMapData
from extender.engine.engine import CLEAN_EVERY, Engine
from extender.engine.outward import Outward, Witness
from extender.simulator.cluster.api_server import Refusal
from extender.simulator.cluster.clock import EPOCH, Kind, Timer
from extender.simulator.cluster.effector import act
from extender.simulator.cluster.played_objects import NodeChange, PodChange
from extender.simulator.cluster.world import ClusterChange, World
from extender.simulator.scenario.objects import Json
from extender.simulator.scheduler.extender_calls import CallFailed, bind_error
from extender.verbs.bind import BindOutcome, BindVerb, PostBinding
from extender.verbs.pure import PureVerbs
from extender.wire.calls.extender_v1 import BOUND, faulted
from extender.wire.translate import POD, pod_from

CONNECTION_LOST = "failed bind with extender: connection lost"
SOURCE = Source("ConfigMap", "default", CONFIGS_NAME, "config-map")

K = TypeVar("K")
F = TypeVar("F")


class Life:
    """Paddock from one start to its end. ``after_effect(name)`` is called after each effect."""

    def __init__(self, world: World, after_effect: Callable[[str], None]) -> None:
        self._world = world
        self._after_effect = after_effect
        #: A further witness, such as the demo's; None for none.
        self.witness: Witness | None = None
        self.ended, self.acts = False, True
        self.effects: deque[Effect] = deque()
        self._passes: deque[Callable[[], None]] = deque()
        self._calls: dict[asyncio.Task[bytes], Callable[[str], None]] = {}
        self._timer: Timer | None = None
        self._planned: int | None = None
        self._refused = ""
        self.outward = Outward(
            lambda: world.clock.seconds, self._later, self.perform, self, lambda: self.acts
        )
        self.engine = Engine(self.outward)
        self.configuration = LiveConfiguration(
            self.engine,
            # An empty document in a scenario means the built-in one.
            overrides={"builtin_default": True},
            on_refused=self._on_refused,
            on_applied=self._on_applied,
        )
        synced = asyncio.Event()
        synced.set()
        self.verbs = PureVerbs(self.engine)
        self.bind_verb = BindVerb(self.engine, self, synced=synced)

    @property
    def view(self) -> LedgerView:
        """The current view of the ledger."""
        return self.engine.view

    # -- start and end ---------------------------------------------------------------------------

    def start(self) -> None:
        """Read the configuration, then list everything, in the server's order. Raises `PaddockError`."""
        self.configure()
        if not self.configuration.reloads:
            raise PaddockError(f"Paddock does not start: {self._refused}")
        api, learn = self._world.api, self.engine.learn
        learn(on.ActionsRead(dict(self._world.closures), dict(self._world.endings), dict(self._world.moves)))
        self._list(on.NAMESPACES, api.namespaces.values())
        self._list(on.PRIORITY_CLASSES, list(api.priority_class_facts()))
        self._list(on.BUDGETS, self._world.budgets.written)
        self._list(on.DAEMON_SETS, self._world.daemon_sets)
        self._list(on.NODES, [node.facts for node in api.nodes.values()])
        learn(on.PodsListBegun())
        there = [pod for pod in api.live_pods() if not pod.terminal]
        for pod in there:
            learn(on.PodObserved(pod.facts))
        learn(on.PodsListed(frozenset(pod.uid for pod in there)))
        self._plan_cleaner()

    def _list(self, kind: on.ObjectKind[K, F], there: Collection[F]) -> None:
        """Report a whole list of one kind."""
        for facts in there:
            self.engine.learn(on.ObjectObserved(kind, facts))
        self.engine.learn(on.ObjectsListed(kind, frozenset(map(kind.key_of, there))))

    def end(self) -> None:
        """Forget everything. Callers that still wait see their connection break."""
        self.ended = True
        calls, self._calls = self._calls, {}
        for task, answered in calls.items():
            task.cancel()
            answered(CONNECTION_LOST)

    def hang_up(self) -> None:
        """Break the connections of all callers: waits end, and Bindings that were sent come about."""
        calls, self._calls = self._calls, {}
        for task in calls:
            task.cancel()
        self._world.loop.run_ready()

    def _plan_cleaner(self) -> None:
        self._world.clock.at(self._world.clock.now + int(CLEAN_EVERY * 1000), Kind.CLEANER, self._clean)

    def _clean(self) -> None:
        if not self.ended:
            self.engine.clean()
            self._plan_cleaner()

    # -- configuration ---------------------------------------------------------------------------

    def configure(self) -> None:
        """Offer the current ConfigMap as the configuration."""
        self._refused = ""
        self.configuration.offer_config_maps(None, ConfigMapData(dict(self._world.config_map)), SOURCE)

    def _on_refused(self, source: Source, message: str) -> None:
        self._refused = message
        self._world.onlooker.refused(message)
        if self.configuration.reloads:
            event = PostEvent(
                source.kind, source.namespace, source.name, source.uid, "ConfigurationRefused", message
            )
            self.effects.append(event)

    def _on_applied(self, source: Source, held: tuple[str, ...]) -> None:
        self.bind_verb.deadline = self.configuration.settings.bind_deadline

    # -- learning and doing ----------------------------------------------------------------------

    def deliver(self, change: ClusterChange) -> None:
        """Show a change as the watch does. A pod that has ended leaves the selection."""
        match change:
            case NodeChange(node, facts, deleted):
                name = NodeName(node.name)
                self.engine.learn(
                    on.ObjectDeleted(on.NODES, name) if deleted else on.ObjectObserved(on.NODES, facts)
                )
            case PodChange(pod, facts, _, deleted):
                ended = deleted or facts.terminal
                self.engine.learn(on.PodDeleted(pod.uid) if ended else on.PodObserved(facts))
            case on.ActionsRead():
                self.engine.learn(change)
            case BudgetFacts():
                self.engine.learn(on.ObjectObserved(on.BUDGETS, change))

    def perform(self, effect: Effect) -> None:
        """Ask for an effect, which `run_effects` carries out in the same instant."""
        self.effects.append(effect)

    def run_effects(self) -> bool:
        """Run planned cycles and then requested effects, in emission order. False if there was nothing."""
        if not (self.effects or self._passes):
            return False
        for _ in range(len(self._passes)):
            self._passes.popleft()()
        for _ in range(len(self.effects)):
            if self.ended:
                break
            effect = self.effects.popleft()
            if isinstance(effect, EndWait):
                self.bind_verb.waits.end(effect.uid, effect.why)
                continue
            world = self._world
            made = self.configuration.settings.placeholders
            act(effect, world.api, world.budgets, world.onlooker, self.engine.learn, placeholders=made)
            if not isinstance(effect, ResolveGroups):
                self._done(effect)
        return True

    def plan_time(self) -> None:
        """Set a timer for the next expiry in the ledger."""
        moment = self.view.next_due()
        due = None if moment is None else max(self._world.clock.now, round((moment - EPOCH) * 1000))
        if due == self._planned:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._planned = due
        self._timer = None if due is None else self._world.clock.at(due, Kind.LEDGER, self._pass_time)

    def _pass_time(self) -> None:
        self._planned = None
        if not self.ended:
            self.engine.pass_time()
            # A plan is made at the instant at which it is due (format, rules 2 and 7).
            self.engine.planner.finish()

    def _later(self, _: float, call: Callable[[], None]) -> None:
        """Run later at the same instant: cycles take no virtual time (format, rule 3)."""
        self._passes.append(call)

    def _done(self, effect: Effect) -> None:
        self._world.onlooker.acted(effect)
        self._after_effect(type(effect).__name__)

    def answer(self, verb: str, body: bytes) -> bytes:
        """Answer filter, prioritize or preempt. A fault becomes the answer of the HTTP server (design 10)."""
        verbs = self.verbs
        answers = {"filter": verbs.filter, "prioritize": verbs.prioritize, "preempt": verbs.preempt}
        try:
            return answers[verb](body)
        except PaddockError as error:
            if verb == "filter":
                return faulted(str(error))
            raise CallFailed(f"failed {verb} with extender: {error}") from error

    def bind(self, body: bytes, answered: Callable[[str], None]) -> None:
        """Begin a bind call; ``answered`` gets its error, or an empty text."""
        task = self._world.loop.create_task(self.bind_verb.bind(body))
        self._calls[task] = answered
        task.add_done_callback(self._call_ended)
        self._world.loop.run_ready()

    def _call_ended(self, task: asyncio.Task[bytes]) -> None:
        answered = self._calls.pop(task, None)
        if answered is None or task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, PaddockError):
            raise error
        answered(str(error) if error is not None else bind_error(task.result()))

    async def post(self, binding: PostBinding, *, within: float) -> BindOutcome:
        """Post a Binding. After its delay it comes about, whether or not a caller still waits."""
        if self.ended:
            return BindOutcome(False, message="Paddock has ended")
        arrived: asyncio.Future[BindOutcome] = asyncio.get_running_loop().create_future()
        delay = self._world.bind_delay
        if delay:
            clock = self._world.clock
            clock.at(clock.now + delay, Kind.API, lambda: self._arrive(binding, arrived))
        else:
            self._arrive(binding, arrived)
        if arrived.done():
            return arrived.result()
        try:
            return await asyncio.wait_for(asyncio.shield(arrived), within)
        except TimeoutError:
            return BindOutcome(False, certain=False, message="the API server did not answer in time")

    def _arrive(self, binding: PostBinding, arrived: "asyncio.Future[BindOutcome]") -> None:
        outcome = self._bound(binding)
        if not self.ended:
            self._after_effect(type(binding).__name__)
        if not self.ended and not arrived.done():
            arrived.set_result(outcome)

    def _bound(self, binding: PostBinding) -> BindOutcome:
        pod = self._world.api.pod_named(binding.namespace, binding.name)
        try:
            self._world.api.bind(pod, binding.uid, binding.node)
        except Refusal as refusal:
            bound = pod is not None and pod.uid == binding.uid and refusal.node == binding.node
            return BindOutcome(True) if bound else BindOutcome(False, message=str(refusal))
        return BindOutcome(True)

    async def read_pod(self, namespace: str, name: str, *, within: float) -> PodFacts | None:
        """Read a pod from the API, or None if there is none."""
        pod = self._world.api.pod_named(namespace, name)
        return pod.facts if pod is not None else None

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None:
        """Pass a verdict on to the observer, unless this life has ended."""
        if not self.ended:
            self._world.onlooker.decided(verb, record, verdict)
            if self.witness is not None:
                self.witness.decided(verb, record, verdict, now=now)

    def learned(self, event: on.Event, *, now: float) -> None:
        """Pass an event on to the witness. The reports read the changes of the API instead."""
        if self.witness is not None and not self.ended:
            self.witness.learned(event, now=now)

    def planned(self, outcome: Planned, *, pod: str, how: str, now: float) -> None:
        """Pass a plan on to the observer and to the recent plans, unless this life has ended."""
        if not self.ended:
            self._world.onlooker.planned(outcome, pod.removeprefix("default/"))
            if self.witness is not None:
                self.witness.planned(outcome, pod=pod, how=how, now=now)

    def breached(self, plan: Plan, breaches: tuple[Breach, ...], *, pod: str, now: float) -> None:
        """Stop the run, because a plan broke a law."""
        raise AssertionError(breaches)

    def drifted(self, drifts: list[Drift]) -> None:
        """Stop the run, because an audit found drift in the ledger."""
        if drifts:
            raise AssertionError(drifts)


class Paddock:
    """The extender as kube-scheduler sees it, across restarts."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kill: tuple[str, int] | None = None
        self._changes: deque[tuple[int, ClusterChange]] = deque()
        self.life = self._born()

    def _born(self) -> Life:
        life = Life(self._world, self._count_effect)
        life.start()
        return life

    def restart(self) -> None:
        """Restart with an empty memory, and begin with a list. Raises `PaddockError`."""
        former = self.life
        self._changes.clear()
        self.life = self._born()
        former.end()

    def kill_after(self, name: str, nth: int) -> None:
        """Restart after the ``nth`` effect of that name from now on."""
        self._kill = name, nth

    def _count_effect(self, name: str) -> None:
        if self._kill is None or self._kill[0] != name:
            return
        left = self._kill[1] - 1
        self._kill = (name, left) if left else None
        if not left:
            self.restart()

    def manages(self, body: Json) -> bool:
        """True if Paddock would manage a pod that is about to be created."""
        return bool(self.life.engine.is_managed(pod_from(POD.decode(msgspec.json.encode(body)))))

    def hear(self, change: ClusterChange, *, due: int) -> None:
        """Take in a change that the watch will show at ``due``."""
        self._changes.append((due, change))

    def read_changes(self) -> bool:
        """Deliver the changes that the watch shows by now. False if there were none."""
        heard = False
        while self._changes and self._changes[0][0] <= self._world.clock.now:
            self.life.deliver(self._changes.popleft()[1])
            heard = True
        return heard

    def run_effects(self) -> bool:
        """Carry requested effects out. False if there were none."""
        return self.life.run_effects()

    def plan_time(self) -> None:
        """Set a timer for the next expiry in the ledger."""
        self.life.plan_time()

    def configure(self) -> None:
        """Take in an edit of the ConfigMap."""
        self.life.configure()

    def filter(self, body: bytes) -> bytes:
        """Answer filter."""
        return self.life.answer("filter", body)

    def prioritize(self, body: bytes) -> bytes:
        """Answer prioritize."""
        return self.life.answer("prioritize", body)

    def preempt(self, body: bytes) -> bytes:
        """Answer preempt."""
        return self.life.answer("preempt", body)

    def bind(self, body: bytes, answered: Callable[[str], None]) -> None:
        """Begin a bind call; ``answered`` gets its error, or an empty text."""
        self.life.bind(body, answered)

    def bind_at_once(self, body: bytes) -> bytes:
        """Bind without waiting, and return the answer."""
        answers: list[str] = []
        self.life.bind(body, answers.append)
        error = answers[0] if answers else "this Binding takes its time"
        return faulted(error) if error else BOUND
