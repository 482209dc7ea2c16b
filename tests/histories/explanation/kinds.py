"""Pods and events of every kind that may make a pod wait, for random states of explanations. No tests."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random

from core.decisions.decision import Admitted
from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.queue import Closure
from core.queues.spec import LimitSpec, PartitionSpec
from core.queues.users.identity import Identity
from core.resource import Limit
from core.workload.ending import Ending
from core.workload.gangs.gang import GangStyle, PodGroup
from core.workload.pod import OWN_GATE
from tests.builders import bind_called, filtered, make_gang, make_pod, record_of
from tests.core.ledger.gangs.play import GangPlay, with_policy
from tests.properties.admission.turn_world import LEAVES, USERS, World

FOREIGN_GATE = "example.com/wait"
UNFIT = "0/1 nodes are available: 1 node(s) had volume node affinity conflict."


class Kinds:
    """Makes what happens in a world more varied. ``chance``: its own, so that the rest of a seed stays."""

    def __init__(self, world: World, chance: Random) -> None:
        self._world, self._chance = world, chance
        self._made = 0
        self._run_cycles: Callable[[], None] = lambda: None
        self._all = (
            *(self._group, self._gang, self._gated, self._odd, self._owner, self._close, self._in_vain),
            *(self._placeholders, self._placeholders, self._end, self._too_many),
            *(self._colleagues, self._run_some),
        )

    def happen(self, run_cycles: Callable[[], None]) -> None:
        """Change the document, and let pods of some kinds come."""
        self._run_cycles = run_cycles
        if self._chance.random() < 0.5:
            self._change_document()
        for _ in range(self._chance.randint(2, 5)):
            self._chance.choice(self._all)()
            if self._chance.random() < 0.6:
                run_cycles()

    # -- pods ------------------------------------------------------------------------------------------------

    def _pod(self, **facts: object) -> PodUid:
        chance, world = self._chance, self._world
        self._made += 1
        name = f"k{self._made:02}"
        known: dict[str, object] = {
            "queue": chance.choice(LEAVES),
            "cpu": chance.choice((500, 1000, 2000)),
            "app": f"kind-{chance.randrange(3)}",
            "identity": Identity(chance.choice(USERS), chance.choice(((), ("dev",)))),
            "priority": chance.randint(-1, 2),
            "created": world.now - chance.randint(0, 4),
        }
        pod = make_pod(name, **{**known, **facts})  # type: ignore[arg-type]
        world.ledger.apply(on.PodObserved(pod), now=world.now)
        return pod.uid

    def _group(self) -> None:
        least, queue = self._chance.randint(1, 3), self._chance.choice(LEAVES)
        group = PodGroup(f"group-{self._chance.randrange(2)}", least)
        gates = self._chance.choice(((), (OWN_GATE,)))
        for _ in range(self._chance.randint(1, least)):
            self._pod(pod_group=group, queue=queue, app=f"of-{group.name}", gates=gates)

    def _gang(self) -> None:
        cpu = self._chance.choice((500, 1000, 1000, 60_000))
        gang, app = make_gang(self._chance.randint(1, 3), cpu=cpu), f"gang-{self._made}"
        for _ in range(self._chance.randint(1, 2)):
            self._pod(gang=gang, task_group="g", app=app, cpu=cpu)

    def _gated(self) -> None:
        self._pod(gates=self._chance.choice(((OWN_GATE,), (OWN_GATE,), (FOREIGN_GATE,))))

    def _odd(self) -> None:
        facts: tuple[dict[str, object], ...] = (
            {"complex": True},
            {"unscheduled": UNFIT},
            {"deleting": True},
            {"queue": "root.none"},
            {"queue": "root.none"},
            {"queue": "root.p"},
            {"namespace": "late"},
            {"cpu": 90_000},
        )
        self._pod(**self._chance.choice(facts), app=f"odd-{self._made}")

    def _owner(self) -> None:
        """A pod for which a node is reserved."""
        node = self._chance.choice(sorted(self._world.ledger.view.nodes))
        self._pod(reserved_node=node, app=f"owner-{self._made}", cpu=self._chance.choice((1000, 4000)))
        self._world.ledger.apply(on.ActingBegan(), now=self._world.now)

    def _colleagues(self) -> None:
        """Applications of one user group in one queue, of which the first perhaps runs."""
        chance = self._chance
        queue, user = chance.choice(LEAVES), Identity(chance.choice(USERS), ("dev",))
        if chance.random() < 0.5:
            self._apply(_limited(self._world.document))
        for number in range(2):
            uid = self._pod(app=f"dev-{self._made}", queue=queue, identity=user, cpu=500)
            if number == 0:
                self._run_cycles()
                self._run([uid])

    # -- events ----------------------------------------------------------------------------------------------

    def _close(self) -> None:
        """An administrator closes a queue, or opens all queues."""
        closed = {QueuePath(self._chance.choice(LEAVES)): Closure("ann", self._world.now)}
        orders = self._chance.choice((closed, {}))
        self._world.ledger.apply(on.ActionsRead(orders), now=self._world.now)

    def _in_vain(self) -> None:
        """A pod at Paddock's gate, perhaps alone in a pod group, gets a turn that is not used."""
        world, group = self._world, self._chance.choice((None, PodGroup(f"alone-{self._made}", 1)))
        uid = self._pod(gates=(OWN_GATE,), pod_group=group, app=f"vain-{self._made}", cpu=500)
        self._run_cycles()
        if not world.ledger.view.has_turn(uid):
            return
        facts = record_of(world.ledger, uid).facts
        world.ledger.apply(on.PodWoken(uid, reached=True), now=world.now)
        refused = self._chance.random() < 0.5
        opened = replace(
            facts, gates=(), version=facts.version + 1, unscheduled=UNFIT if refused else facts.unscheduled
        )
        world.ledger.apply(on.PodObserved(opened), now=world.now)
        if not refused:
            self._pod(app=f"rival-{self._made}", queue=facts.queue)
            world.now += 3
            world.ledger.apply(on.TimePassed(), now=world.now)

    def _placeholders(self) -> None:
        """A gang whose placeholders are made and placed, as far as there is capacity."""
        world, members = self._world, self._chance.randint(1, 3)
        gang = with_policy(make_gang(members, cpu=500), self._chance.choice([*GangStyle]), timeout=5)
        playing, app = GangPlay(world.ledger, now=world.now), f"held-{self._made}"
        playing.pods = {each.uid: each.facts for each in world.ledger.view.pods()}
        playing.failing = set(self._chance.choice(((), ("WriteRecord",), ("DeletePod",))))
        queue = self._chance.choice(LEAVES)
        for number in range(members):
            name = f"{app}-{number}"
            playing.create(name, gang=gang, task_group="g", app=app, queue=queue, cpu=500)
        for each in playing.placeholders()[: self._chance.randint(0, members)]:
            if playing.admitted(each.uid):
                node = self._chance.choice(sorted(world.ledger.view.nodes))
                bind_called(world.ledger, each.uid, node, now=playing.now)
                playing.tell(on.PodBound(each.uid, node))
        playing.wait(self._chance.choice((0, 6, 6)))
        world.now = playing.now

    def _end(self) -> None:
        """An administrator ends an application, whose pods wait from then on."""
        ledger, now = self._world.ledger, self._world.now
        asking = [record_of(ledger, uid).membership.application for uid in self._world.pending]
        known = [each for each in asking if each is not None]
        if known:
            ending = Ending("ann", now, now + 600, now - 60, LEAVES[0])
            ledger.apply(on.ActionsRead({}, {self._chance.choice(known): ending}), now=now)

    def _run_some(self) -> None:
        """Let pods run that have their turns, of all kinds."""
        self._run_cycles()
        self._run(self._chance.sample(self._world.pending, min(4, len(self._world.pending))))

    def _run(self, uids: Iterable[PodUid]) -> None:
        """Bind those pods that have their turns."""
        ledger, now = self._world.ledger, self._world.now
        for uid in uids:
            if not ledger.view.has_turn(uid) or record_of(ledger, uid).is_gated:
                continue
            if isinstance(filtered(ledger, uid, now=now), Admitted):
                node = record_of(ledger, uid).admission.noted or self._chance.choice(
                    sorted(ledger.view.nodes)
                )
                bind_called(ledger, uid, node, now=now)
                ledger.apply(on.PodBound(uid, NodeName(node)), now=now)

    def _too_many(self) -> None:
        """Asks of one application that fit on no node."""
        for _ in range(2):
            self._pod(app=f"many-{self._made // 8}", queue="root.c", cpu=50_000)

    def _change_document(self) -> None:
        changed = self._chance.choice((_limited, _exclusive, _backing_off, _shorter))
        self._apply(changed(self._world.document))

    def _apply(self, document: PartitionSpec) -> None:
        self._world.document = document
        self._world.ledger.apply(on.Configured(document, LedgerSettings()), now=self._world.now)


def _limited(document: PartitionSpec) -> PartitionSpec:
    """Limits of a group of users, in amounts and in applications."""
    limits = (LimitSpec((), ("dev",), Limit({"vcore": 2000}), 1),)
    queues = [replace(each, limits=limits) if each.is_leaf else each for each in document.queues]
    return replace(document, queues=tuple(queues))


def _exclusive(document: PartitionSpec) -> PartitionSpec:
    """Leaves that take pods of one user only."""
    queues = [replace(each, submit_acl="bob" if each.is_leaf else "") for each in document.queues]
    return replace(document, queues=tuple(queues))


def _backing_off(document: PartitionSpec) -> PartitionSpec:
    """Applications that back off once an ask found no node."""
    more = {"application.unschedasks.backoff": "1"}
    queues = [
        replace(each, properties={**each.properties, **more}) if each.is_leaf else each
        for each in document.queues
    ]
    return replace(document, queues=tuple(queues))


def _shorter(document: PartitionSpec) -> PartitionSpec:
    """A document that lacks a leaf, which is drained."""
    return replace(document, queues=tuple(each for each in document.queues if each.path != LEAVES[1]))
