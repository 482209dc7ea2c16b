"""A simulated cluster around one ledger, and gangs for tests. No tests.

Effects are carried out at once, and their outcomes are reported.
"""

from collections.abc import Callable
from dataclasses import replace

from core.decisions.decision import Admitted, BindNow, Refused
from core.ids import NO_NODE, AppId, NodeName, PodUid
from core.ledger import effects as do
from core.ledger import events as on
from core.ledger.effects import Effect
from core.ledger.ledger import Ledger
from core.ledger.outcomes import CreationOutcome, EvictionOutcome
from core.reasons import Code
from core.resource import Resource
from core.workload.application import Application
from core.workload.gangs.gang import Gang, GangPolicy, GangStyle
from core.workload.gangs.progress import GangProgress
from core.workload.pod import GANG, OWN_GATE, REPLACES, RESERVED_NODE, PodFacts
from tests.builders import START, bind_called, filtered, make_gang, make_ledger, make_pod, make_queue


class GangPlay:
    """Simulated cluster for gangs.

    ``pods``: what the API server has. ``done``: effects in their order. ``failing``: names of kinds of
    effects that are not carried out. ``hidden``: how many placeholders are made and deleted before any watch
    shows them.
    """

    def __init__(self, ledger: Ledger, *, now: float = START) -> None:
        self.ledger, self.now = ledger, now
        self.pods: dict[PodUid, PodFacts] = {}
        self.done: list[Effect] = []
        self.failed: dict[str, str] = {}
        self.failing: set[str] = set()
        self.hidden = 0
        self._version = 10

    # -- what happens in the cluster -----------------------------------------------------------------------

    def create(self, name: str, **facts: object) -> PodUid:
        pod = make_pod(name, **{"created": self.now, **facts})  # type: ignore[arg-type]
        self._show(pod)
        return pod.uid

    def delete(self, uid: str) -> None:
        del self.pods[PodUid(uid)]
        self.tell(on.PodDeleted(PodUid(uid)))

    def bind(self, uid: str, node: str = "n1") -> None:
        """Schedule a pod as kube-scheduler does, with filter first."""
        assert self.admitted(uid), uid
        self.tell(on.PodAdmitted(PodUid(uid), self.pods[PodUid(uid)].version))
        assert isinstance(bind_called(self.ledger, uid, node, now=self.now), BindNow)
        pod = self.pods[PodUid(uid)] = replace(self.pods[PodUid(uid)], node=NodeName(node), nominated=NO_NODE)
        self.tell(on.PodBound(PodUid(uid), NodeName(node)))
        if pod.uid in self.pods:
            self._show(pod)

    def bind_placeholders(self, *, node: str = "n1", most: int = 1000) -> None:
        for pod in self.placeholders()[:most]:
            if not pod.node:
                self.bind(pod.uid, node)

    def wait(self, seconds: float) -> None:
        """Let time pass, second by second."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + 1)
            self.tell(on.TimePassed())

    def tell(self, event: on.Event) -> None:
        self._run(self.ledger.apply(event, now=self.now))
        while self.ledger.view.cycle_wanted:
            self._run(self.ledger.apply(on.CycleDue(), now=self.now))

    # -- what one asks about it ------------------------------------------------------------------------------

    def admitted(self, uid: str) -> bool:
        return isinstance(self.filter(uid), Admitted)

    def filter(self, uid: str) -> object:
        return filtered(self.ledger, uid, now=self.now)

    def refusal(self, uid: str) -> Code:
        verdict = self.filter(uid)
        assert isinstance(verdict, Refused), verdict
        return verdict.refusal.code

    def placeholders(self) -> list[PodFacts]:
        return sorted((pod for pod in self.pods.values() if pod.placeholder), key=lambda pod: pod.name)

    def events(self) -> list[str]:
        return [each.action or each.reason for each in self.done if isinstance(each, do.PostEvent)]

    def application(self, app: str = "app-1") -> Application:
        found = self.ledger.view.application(AppId(app, "default"))
        assert found is not None
        return found

    def gang_progress(self, app: str = "app-1") -> GangProgress:
        found = self.application(app).gang_progress
        assert found is not None
        return found

    def counts(self, app: str = "app-1") -> list[tuple[int, int, int]]:
        """Count, replaced and timed out of each task group."""
        groups = self.gang_progress(app).groups.values()
        return [(each.count, each.replaced, each.timed_out) for each in groups]

    def restarted(self, ledger: Ledger) -> None:
        """Restart Paddock on what the API server has."""
        self.ledger = ledger
        effects: list[Effect] = []
        for pod in list(self.pods.values()):
            effects += ledger.apply(on.PodObserved(pod), now=self.now)
        effects += ledger.apply(on.PodsListed(frozenset(self.pods)), now=self.now)
        self._run(tuple(effects))

    # -- carrying effects out --------------------------------------------------------------------------------

    def _show(self, pod: PodFacts) -> None:
        self._version += 1
        self.pods[pod.uid] = replace(pod, version=self._version)
        self.tell(on.PodObserved(self.pods[pod.uid]))

    def _run(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            self.done.append(effect)
            self._carry_out(effect, reached=type(effect).__name__ not in self.failing)

    def _carry_out(self, effect: Effect, *, reached: bool) -> None:
        match effect:
            case do.CreatePlaceholder():
                self._create_placeholder(effect, reached=reached)
            case do.DeletePod(uid):
                known = reached and uid in self.pods
                outcome = EvictionOutcome.DONE if known else EvictionOutcome.NOT_FOUND
                ended = outcome if reached else EvictionOutcome.FAILED
                self.tell(on.PodEvicted(uid, ended, effect.purpose))
                if known:
                    self.delete(uid)
            case do.WriteRecord(uid):
                if reached and uid in self.pods:
                    self._annotate(uid, dict(effect.entries))
                done = reached and uid in self.pods
                self.tell(on.RecordWritten(uid, effect.entries, done, effect.purpose))
            case do.NominateNode(uid, _, _, node):
                if reached and uid in self.pods:
                    self._show(replace(self.pods[uid], nominated=node))
                self.tell(on.NodeNominated(uid, node, reached, effect.purpose))
            case do.OpenGate(uid):
                gates = tuple(each for each in self.pods[uid].gates if each != OWN_GATE)
                self._show(replace(self.pods[uid], gates=gates))
                self.tell(on.PodWoken(uid, reached=True))
            case do.WakePod(uid):
                self.tell(on.PodWoken(uid, reached=reached))
            case do.MarkFailed(uid, _, _, reason):
                self.failed[uid] = reason
                del self.pods[uid]
                self.tell(on.PodDeleted(uid))
            case _:
                pass

    def _create_placeholder(self, effect: do.CreatePlaceholder, *, reached: bool) -> None:
        if not reached:
            self.tell(on.PlaceholderCreated(effect.app, effect.name, CreationOutcome.FAILED))
            return
        if self.hidden:
            self.hidden -= 1
        elif all(pod.name != effect.name for pod in self.pods.values()):
            self.create(
                effect.name,
                app=effect.app.name,
                placeholder=True,
                task_group=effect.group.name,
                size=effect.group.size,
                gang=effect.gang,
                owner=effect.originator.uid,
            )
        self.tell(on.PlaceholderCreated(effect.app, effect.name, CreationOutcome.DONE))

    def _annotate(self, uid: PodUid, entries: dict[str, str | None]) -> None:
        pod = self.pods[uid]
        facts = {
            RESERVED_NODE: "reserved_node",
            REPLACES: "replaces",
            GANG: "gang_noted",
        }
        changes = {facts[key]: value or "" for key, value in entries.items() if key in facts}
        self._show(replace(pod, **changes))  # type: ignore[arg-type]


def sized(cpu: int) -> Resource:
    """Size of one member."""
    return Resource({"pods": 1, "vcore": cpu})


def with_policy(gang: Gang, style: GangStyle = GangStyle.SOFT, timeout: int = 0) -> Gang:
    return replace(gang, policy=GangPolicy(style, timeout))


def play(*, nodes: int = 1) -> GangPlay:
    return GangPlay(make_ledger(make_queue("root.a"), nodes=nodes))


def waiting_gang(members: int = 3, **policy: object) -> GangPlay:
    """A gang whose placeholders have no node yet, and one of its members."""
    world = play()
    gang = with_policy(make_gang(members), **policy)  # type: ignore[arg-type]
    world.create("m1", gang=gang, task_group="g")
    return world


def started(
    members: int = 2, *, needed: int = 2, cpu: int = 1000, nodes: int = 1, **facts: object
) -> GangPlay:
    """A gang with waiting members, in which only the last placeholder has no node."""
    world = play(nodes=nodes)
    for number in range(members):
        world.create(f"m{number + 1}", gang=make_gang(needed, cpu=cpu), task_group="g", **facts)
    world.bind_placeholders(most=needed - 1)
    return world


def hold_back(world: GangPlay, kind: str) -> list[Effect]:
    """Neither carry out nor answer effects of a kind from now on."""
    held: list[Effect] = []
    carry_out: Callable[..., None] = world._carry_out

    def only_others(effect: Effect, *, reached: bool) -> None:
        if type(effect).__name__ == kind:
            held.append(effect)
        else:
            carry_out(effect, reached=reached)

    world._carry_out = only_others  # type: ignore[method-assign]
    return held
