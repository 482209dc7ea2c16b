"""A played cluster for the histories of administration: API server, store of orders, hosts of Paddock.

The server's pods are the truth. A host learns of them by a watch that may lag. What Paddock requests is
carried out later, or never if its process ends before. Its clock may differ from that of the API server.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from random import Random

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.effect_outcomes import outcome_of
from core.ledger.effects import (
    CreatePlaceholder,
    DeletePod,
    Effect,
    EvictPod,
    MarkFailed,
    NominateNode,
    OpenGate,
    WriteRecord,
)
from core.ledger.ledger import Ledger
from core.ledger.outcomes import Answer, Purpose
from core.ledger.pods.binding import may_be_bound
from core.ledger.settings import LedgerSettings
from core.queues.queue import Closure
from core.queues.spec import PartitionSpec
from core.workload.application import Application
from core.workload.ending import Ending
from core.workload.moving import MoveOrder
from core.workload.pod import NamespaceFacts, PodFacts
from core.workload.states import AppState
from core.workload.timeouts.execution import SKEW_ALLOWED
from tests.builders import AGENTS, START, drifts, make_node, make_pod

NODE = NodeName("n1")
NAMESPACES = ("default", "kube-system")

ANNOTATIONS = {
    "paddock.dev/running-since": "running_since",
    "paddock.dev/execution": "execution",
    "paddock.dev/application": "taken_as",
}
"""Fields of a pod, by the annotation that fills them."""


@dataclass
class Store:
    """The ConfigMap of actions."""

    closed: dict[QueuePath, Closure] = field(default_factory=dict)
    ended: dict[AppId, Ending] = field(default_factory=dict)
    moved: dict[AppId, MoveOrder] = field(default_factory=dict)

    def event(self) -> on.ActionsRead:
        return on.ActionsRead(dict(self.closed), dict(self.ended), dict(self.moved))


class Host:
    """A process of Paddock, with what it has not heard and what it has not carried out."""

    def __init__(self, cluster: "Cluster") -> None:
        self.cluster = cluster
        self.ledger = Ledger()
        self.heard = 0.0
        self.compared = 0.0
        self.inbox: list[on.Event] = []
        self.outbox: list[Effect] = []
        self.acts = False
        #: Applications that were known when it was last looked.
        self.seen: dict[AppId, Application] = {}

    def learn(self, event: on.Event) -> None:
        """Apply an event by this host's clock, which never goes back."""
        self.compare()
        self._apply(event)

    def compare(self) -> None:
        """Set this host's clock, and compare it with that of the API server, as the server's loop does."""
        self.heard = max(self.heard, self.cluster.now - self.cluster.skew)
        skew = self.cluster.now - self.heard
        counts = skew if abs(skew) > SKEW_ALLOWED else 0.0
        if counts != self.compared:
            self.compared = counts
            self._apply(on.ClockCompared(counts))

    def _apply(self, event: on.Event) -> None:
        effects = self.ledger.apply(event, now=self.heard)
        if self.acts:
            self.outbox += effects

    def ended_since(self) -> list[AppId]:
        """Ids of applications that have ended here since the last call: a rejected one with its last pod."""
        view, found = self.ledger.view, list[AppId]()
        for app_id, former in list(self.seen.items()):
            if view.application(app_id) is not former:
                del self.seen[app_id]
                has_ended = former.state in (AppState.FAILED, AppState.COMPLETED)
                if has_ended or (former.state is AppState.REJECTED and not former.pods):
                    found.append(app_id._replace(recovered=False))
        self.seen.update((each.id, each) for each in view.applications())
        return found

    def start(self) -> None:
        """Read everything in the order in which the server does."""
        cluster = self.cluster
        self.learn(on.ObjectObserved(on.NODES, make_node(NODE, cpu=20_000)))
        for name in NAMESPACES:
            self.learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts(name)))
        self.learn(on.ObjectObserved(on.DAEMON_SETS, AGENTS))
        self.learn(on.ObjectsListed(on.DAEMON_SETS, frozenset({AGENTS.key})))
        self.learn(on.Configured(cluster.document, cluster.settings))
        self.learn(cluster.store.event())
        self.learn(on.PodsListBegun())
        for name in sorted(cluster.pods):
            self.learn(on.PodObserved(cluster.pods[name]))
        self.learn(on.PodsListed(frozenset(each.uid for each in cluster.pods.values())))
        self.learn(on.PodsCaughtUp())

    def catch_up(self) -> None:
        """Hear everything that the watch has to report."""
        while self.inbox:
            self.learn(self.inbox.pop(0))

    def check(self) -> None:
        """The sums equal the audit, and each pod that may be bound is charged."""
        found = drifts(self.ledger)
        assert found == [], found
        for record in self.ledger.view.pods():
            if record.membership.managed and may_be_bound(record):
                charge = self.ledger.view.charge_of(record.uid)
                assert charge is not None, f"{record.facts.name} may be bound, and counts nowhere"


class Cluster:
    """API server with two hosts of Paddock, of which the first acts."""

    def __init__(self, chance: Random, documents: tuple[PartitionSpec, ...]) -> None:
        self.chance = chance
        self.now = START
        self.skew = 0.0
        self.settings = LedgerSettings(records_protected=chance.random() < 0.5)
        self.document = documents[0]
        self.store = Store()
        self.pods: dict[str, PodFacts] = {}
        self.lives = 0
        #: Pods whose label was changed.
        self.relabelled: set[PodUid] = set()
        self.budget = False
        self.breaks = False
        self.removed: list[tuple[PodFacts, Effect]] = []
        self.hosts = [self.made(), self.made()]
        self.leader.acts = True
        self.leader.learn(on.ActingBegan())
        self.hosts[1].learn(on.ActingEnded())

    def made(self) -> Host:
        host = Host(self)
        host.learn(on.ActingEnded())
        host.start()
        return host

    @property
    def leader(self) -> Host:
        return self.hosts[0]

    def times_of(self, uids: Set[PodUid]) -> list[float]:
        """Times at which pods got their nodes, as the API server tells."""
        found = (each for each in self.pods.values() if each.uid in uids and each.node)
        return [each.scheduled_at or each.created for each in found]

    def has_wrong_clocks(self) -> bool:
        """True while a host's clock is wrong. One that ran ahead stands still until time has caught up."""
        return self.skew != 0 or any(host.heard > self.now for host in self.hosts)

    # -- the API server --------------------------------------------------------------------------------------

    def write(self, pod: PodFacts) -> None:
        """Store a pod, and have the watch of each host report it."""
        if pod.name in self.pods and self.pods[pod.name].app_id != pod.app_id:
            self.relabelled.add(pod.uid)
        self.pods[pod.name] = replace(pod, version=pod.version + 1)
        for host in self.hosts:
            host.inbox.append(on.PodObserved(self.pods[pod.name]))

    def create(self, name: str, **facts: object) -> PodFacts:
        self.lives += 1
        made = make_pod(name, uid=f"{name}-{self.lives}", created=float(int(self.now)), **facts)  # type: ignore[arg-type]
        self.write(made)
        return made

    def delete(self, name: str) -> None:
        pod = self.pods.pop(name)
        for host in self.hosts:
            host.inbox.append(on.PodDeleted(pod.uid))

    def named(self, uid: PodUid) -> PodFacts | None:
        return next((pod for pod in self.pods.values() if pod.uid == uid), None)

    def bind(self, pod: PodFacts) -> None:
        self.write(replace(pod, node=NODE, scheduled_at=float(int(self.now)), gates=()))

    # -- kube-scheduler --------------------------------------------------------------------------------------

    def end_binds(self) -> None:
        """Let the API server answer the calls that are open."""
        host = self.leader
        for record in list(host.ledger.view.pods()):
            if record.placement.binding:
                self.end_bind(host, record.uid)

    def end_bind(self, host: Host, uid: PodUid) -> None:
        pod, drawn = self.named(uid), self.chance.random()
        if pod is None or pod.node or drawn < 0.1:
            host.learn(on.BindFailed(uid, certain=True))
            return
        if drawn < 0.15:
            host.learn(on.BindFailed(uid, certain=False))
            return
        self.bind(pod)
        if drawn < 0.2:
            host.learn(on.BindFailed(uid, certain=False))
        else:
            host.learn(on.PodBound(uid, self.pods[pod.name].node))

    # -- what Paddock requests -------------------------------------------------------------------------------

    def carry_out(self, most: int = 1_000) -> None:
        """Carry out effects of the acting host, and what these lead to."""
        host = self.leader
        while host.outbox and most:
            most -= 1
            effect = host.outbox.pop(0)
            reached = self._reached(effect)
            if reached is Answer.DONE or (self.breaks and self.chance.random() < 0.2):
                self._do(effect)
            outcome = outcome_of(effect, reached)
            if outcome is not None:
                host.learn(outcome)
            if self.chance.random() < 0.5:
                host.catch_up()
        host.catch_up()

    def _reached(self, effect: Effect) -> Answer:
        pod = self.named(getattr(effect, "uid", PodUid("")))
        if isinstance(effect, CreatePlaceholder):
            return Answer.REFUSED
        if pod is None:
            return Answer.NOT_FOUND
        if isinstance(effect, EvictPod) and self.budget:
            return Answer.BUDGET
        if self.breaks and self.chance.random() < 0.3:
            return Answer.FAILED
        return Answer.DONE

    def _do(self, effect: Effect) -> None:
        pod = self.named(getattr(effect, "uid", PodUid("")))
        if pod is None:
            return
        match effect:
            case WriteRecord(entries=entries):
                known = {ANNOTATIONS[key]: text or "" for key, text in entries if key in ANNOTATIONS}
                self.write(replace(pod, **known))  # type: ignore[arg-type]
            case NominateNode(node=node):
                self.write(replace(pod, nominated=node))
            case OpenGate():
                self.write(replace(pod, gates=()))
            case EvictPod() | DeletePod() | MarkFailed():
                self.removed.append((pod, effect))
                if isinstance(effect, MarkFailed) or self.chance.random() < 0.5:
                    self.delete(pod.name)
                else:
                    self.write(replace(pod, deleting=True))

    # -- processes -------------------------------------------------------------------------------------------

    def kill(self) -> None:
        """End the acting process, and start it again. What it had not carried out is lost."""
        host = Host(self)
        if self.chance.random() < 0.5:
            # The other instance leads meanwhile.
            host.learn(on.ActingEnded())
            host.start()
            self.hosts = [self.hosts[1], host]
            self.leader.catch_up()
            self.leader.acts = True
            self.leader.learn(on.ActingBegan())
            self.leader.learn(self.store.event())
        else:
            host.acts = True
            host.start()
            self.hosts[0] = host

    def resign(self) -> None:
        """Have the other host act. Its orders are read again after that."""
        former = self.leader
        former.acts = False
        former.outbox.clear()
        former.learn(on.ActingEnded())
        self.hosts.reverse()
        self.leader.catch_up()
        self.leader.acts = True
        self.leader.learn(on.ActingBegan())
        self.leader.learn(self.store.event())

    def order(self) -> None:
        """Report the store to each host, as its writer and its watch do."""
        for host in self.hosts:
            host.learn(self.store.event())

    def ended_now(self) -> Iterator[tuple[PodFacts, Effect]]:
        """Pods that were removed for an ended application since the last call."""
        found, self.removed = self.removed, []
        for pod, effect in found:
            if isinstance(effect, MarkFailed) or getattr(effect, "purpose", None) is Purpose.ENDING:
                yield pod, effect
