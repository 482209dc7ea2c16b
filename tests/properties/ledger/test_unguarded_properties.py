"""Gates as the only guard, in any history: none opens above a max, and none stays closed (F-2, F-7).

The truth is recorded here: gates that are open, or that may be open because no failure was reported. Ledgers
start and end. kube-scheduler places ungated pods at any time, and tenants remove gates.
"""

from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, OpenGate
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from core.workload.nodes.affinity import Constraints
from core.workload.pod import OWN_GATE, PodFacts
from tests.builders import START, drifts, make_ledger, make_partition, make_pod, make_queue

QUICK = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
LEAVES = ("root.p.a", "root.p.b")
PARENT, LEAF = 4000, 3000


@dataclass
class Truth:
    """True state of a pod. ``asked``: its gate's opening was requested and did not surely fail."""

    facts: PodFacts
    asked: bool = False
    in_flight: bool = False

    @property
    def takes(self) -> int:
        """Quota that the pod holds, or may hold in a moment."""
        facts = self.facts
        free = facts.node or (not facts.deleting and (self.asked or not facts.gates))
        return facts.size.get("vcore") if free else 0


@dataclass
class World:
    ledger: Ledger = field(default_factory=lambda: World.begun())
    pods: dict[PodUid, Truth] = field(default_factory=dict)
    now: float = START
    made: int = 0
    version: int = 1

    @staticmethod
    def queues() -> tuple[QueueSpec, ...]:
        parent = make_queue("root.p", leaf=False, max={"vcore": PARENT})
        return parent, *(make_queue(leaf, max={"vcore": LEAF}) for leaf in LEAVES)

    @staticmethod
    def begun(*, listed: bool = True) -> Ledger:
        return make_ledger(*World.queues(), listed=listed)

    # -- what Paddock does -----------------------------------------------------------------------------------

    def tell(self, event: on.Event) -> None:
        self.carry_out(self.ledger.apply(event, now=self.now))

    def run_passes(self) -> None:
        for _ in range(200):
            if not self.ledger.view.cycle_wanted:
                return
            self.tell(on.CycleDue())
        raise AssertionError("passes without end")

    def carry_out(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, OpenGate):
                self.open(self.pods[effect.uid])

    def open(self, truth: Truth) -> None:
        if not (truth.asked or truth.facts.node or not truth.facts.gates):
            truth.asked = True
            self.check(truth)
        truth.in_flight = True

    def check(self, opened: Truth) -> None:
        """Check that pods with open, or perhaps open, gates exceed no max on the path."""
        leaf = opened.facts.queue
        for path, most in ((leaf, LEAF), ("root.p", PARENT)):
            below = [each for each in self.pods.values() if each.facts.queue.startswith(path)]
            assert sum(each.takes for each in below) <= most, (path, opened.facts.name)

    # -- what happens ----------------------------------------------------------------------------------------

    def show(self, truth: Truth, **facts: object) -> None:
        self.version += 1
        truth.facts = replace(truth.facts, version=self.version, **facts)  # type: ignore[arg-type]
        self.tell(on.PodObserved(truth.facts))

    def create(self, leaf: int, cpu: int, priority: int, gated: bool) -> None:
        self.made += 1
        self.version += 1
        pod = make_pod(
            f"p{self.made:02}",
            cpu=cpu,
            queue=LEAVES[leaf],
            app=f"{leaf}-{self.made % 2}",
            priority=priority,
            created=self.now,
            asks_filter=False,
            gates=(OWN_GATE,) if gated else (),
            version=self.version,
        )
        self.pods[pod.uid] = Truth(pod)
        self.tell(on.PodObserved(pod))

    def answer(self, truth: Truth, how: str) -> None:
        """End a request to open a gate, performed or not, reported or not."""
        if not truth.in_flight:
            return
        truth.in_flight = False
        if how in ("done", "lost"):
            self.show(truth, gates=(), gate_opened=True)
        if how in ("refused",):
            truth.asked = bool(truth.asked and not truth.facts.gates)
        outcome = {"done": (True, True), "refused": (False, True)}.get(how, (False, False))
        self.tell(on.PodWoken(truth.facts.uid, reached=outcome[0], certain=outcome[1]))

    def restart(self) -> None:
        """Open requests have ended before the new process lists."""
        for truth in self.pods.values():
            truth.in_flight = truth.asked = False
        self.ledger = self.begun(listed=False)
        for truth in self.pods.values():
            self.tell(on.PodObserved(truth.facts))
        self.tell(on.PodsListed(frozenset(self.pods)))

    def step(self, step: tuple[object, ...]) -> None:
        match step:
            case ("create", int(leaf), int(cpu), int(priority), bool(gated)):
                self.create(leaf, cpu, priority, gated)
            case ("wait", float(seconds)):
                self.now += seconds
                self.tell(on.TimePassed())
            case ("restart",):
                self.restart()
            case ("failover",):
                self.tell(on.ActingEnded())
                self.tell(on.ActingBegan())
            case ("reload",):
                self.tell(on.Configured(make_partition(*self.queues()), LedgerSettings()))
            case (str(what), int(at)) if self.pods:
                self.happen(what, [*self.pods.values()][at % len(self.pods)])
        self.run_passes()
        assert drifts(self.ledger) == []

    def happen(self, what: str, truth: Truth) -> None:
        facts = truth.facts
        match what:
            case "done" | "refused" | "lost" | "nothing":
                self.answer(truth, what)
            case "cheat" if facts.gates and not facts.deleting:
                self.show(truth, gates=())
            case "edit" if facts.gates:
                self.show(
                    truth,
                    constraints=Constraints((("zone", ""),)) if facts.version % 2 else facts.constraints,
                )
            case "place" if not (facts.gates or facts.node or facts.deleting):
                self.show(truth, node=NodeName("n1"))
            case "fail" if not (facts.gates or facts.node):
                self.show(truth, unscheduled=f"0/1 nodes are available: {self.version}")
            case "leave":
                self.show(truth, deleting=True)
            case "delete":
                del self.pods[facts.uid]
                self.tell(on.PodDeleted(facts.uid))
            case _:
                pass


which = st.integers(0, 9)
creations = st.tuples(
    st.just("create"),
    st.integers(0, 1),
    st.sampled_from((500, 1000, 1000, 2000)),
    st.integers(0, 2),
    st.sampled_from((True, True, True, True, False)),
)
deeds = (
    "done",
    "done",
    "lost",
    "nothing",
    "refused",
    "cheat",
    "edit",
    "place",
    "place",
    "fail",
    "leave",
    "delete",
)
steps = st.one_of(
    creations,
    creations,
    *(st.tuples(st.just(deed), which) for deed in deeds),
    st.tuples(st.just("wait"), st.sampled_from((0.5, 1.0, 2.5, 30.0, 400.0))),
    st.sampled_from([("restart",), ("failover",), ("reload",)]),
)


@settings(QUICK, max_examples=300)
@given(st.lists(steps, min_size=5, max_size=40))
def test_no_gate_is_opened_above_a_max(history: list[tuple[object, ...]]) -> None:
    world = World()
    for step in history:
        world.step(step)


@settings(QUICK, max_examples=150)
@given(st.lists(steps, min_size=5, max_size=30))
def test_every_gate_is_opened_when_others_have_left(history: list[tuple[object, ...]]) -> None:
    world = World()
    for step in history:
        world.step(step)
    for _ in range(4 * len(world.pods) + 4):
        for truth in [*world.pods.values()]:
            if truth.in_flight:
                world.answer(truth, "done")
            if not truth.facts.gates or truth.facts.deleting:
                world.happen("delete", truth)
            world.run_passes()
        world.step(("wait", 2.5))
    assert not world.pods
