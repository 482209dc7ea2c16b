"""Users of pods after any history of two namespaces, forced pods, new labels and restarts (F-1, F-15)."""

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.decisions.decision import Admitted
from core.ids import RECOVERY_QUEUE, NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, WriteRecord
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.users.identity import Identity
from core.workload.pod import APPLICATION, NamespaceFacts, PodFacts
from tests.builders import START, drifts, filtered, make_ledger, make_pod, make_queue, woken
from tests.properties.ledger.history_world import QUICK

NAMESPACES, APPS, QUEUES, USERS = (
    ("default", "other"),
    ("job", "next", ""),
    ("root.a", "root.b", "root.x"),
    "ab",
)
A, B = make_queue("root.a", max={"vcore": 3000}), replace(make_queue("root.b"), submit_acl="a")
PODS = 8

Step = tuple[str, int, str, str, str, bool]
step: st.SearchStrategy[Step] = st.tuples(
    st.sampled_from(["create", "create", "place", "place", "relabel", "delete", "time"]),
    st.integers(0, PODS - 1),
    st.sampled_from(APPS),
    st.sampled_from(QUEUES),
    st.sampled_from(USERS),
    st.booleans(),
)


def fresh(*, listed: bool, shared: bool) -> Ledger:
    ledger = make_ledger(A, B, settings=LedgerSettings(shares_applications=shared), listed=listed, nodes=2)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("other")), now=START)
    return ledger


@dataclass
class Cluster:
    """The API server's state, and the ledger that follows it."""

    shared: bool
    ledger: Ledger = field(init=False)
    pods: dict[PodUid, PodFacts] = field(default_factory=dict)
    now: float = START
    made: int = 0

    def __post_init__(self) -> None:
        self.ledger = fresh(listed=True, shared=self.shared)

    def play(self, step: Step) -> None:
        what, at, app, queue, user, forced = step
        known = sorted(self.pods)
        uid = known[at % len(known)] if known else None
        self.now += 1.0
        if what == "create" and len(known) < PODS:
            self._create(NAMESPACES[at % 2], app, queue, user, forced=forced)
        elif what == "time":
            self._tell(on.TimePassed())
            woken(self.ledger, now=self.now)
        elif uid is None:
            return
        elif what == "place":
            self._place(uid)
        elif what == "relabel":
            self._show(replace(self.pods[uid], app_id=app, queue=queue))
        elif what == "delete":
            del self.pods[uid]
            self._tell(on.PodDeleted(uid))

    def _create(self, namespace: str, app: str, queue: str, user: str, *, forced: bool) -> None:
        self.made += 1
        self._show(
            make_pod(
                f"p{self.made}",
                namespace=namespace,
                app=app,
                queue=queue,
                identity=Identity(user),
                node="n1" if forced else "",
                created=self.now,
            )
        )

    def _place(self, uid: PodUid) -> None:
        if not self.pods[uid].node and isinstance(filtered(self.ledger, uid, now=self.now), Admitted):
            self._show(replace(self.pods[uid], node=NodeName("n2")))

    def _show(self, pod: PodFacts) -> None:
        version = (self.pods[pod.uid].version if pod.uid in self.pods else 0) + 1
        self.pods[pod.uid] = replace(pod, version=version)
        self._tell(on.PodObserved(self.pods[pod.uid]))

    def _tell(self, event: on.Event) -> None:
        self._do(self.ledger.apply(event, now=self.now))

    def _do(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if (
                isinstance(effect, WriteRecord)
                and APPLICATION in dict(effect.entries)
                and effect.uid in self.pods
            ):
                note = dict(effect.entries)[APPLICATION] or ""
                self._show(replace(self.pods[effect.uid], taken_as=note))


def restarted(cluster: Cluster, order: list[PodFacts]) -> Ledger:
    ledger = fresh(listed=False, shared=cluster.shared)
    for pod in order:
        ledger.apply(on.PodObserved(pod), now=cluster.now)
    ledger.apply(on.PodsListed(frozenset(cluster.pods)), now=cluster.now)
    return ledger


def check(ledger: Ledger) -> None:
    assert drifts(ledger) == []
    for record in ledger.view.pods():
        if record.membership.application is None:
            continue
        application = ledger.view.application(record.membership.application)
        assert application is not None
        recovers = application.queue == RECOVERY_QUEUE
        assert recovers == application.id.recovered
        assert record.node or not recovers
        assert not record.node or ledger.view.charge_of(record.uid) is not None
        assert ledger.view.settings.shares_applications or application.id.namespace == record.facts.namespace


def whose(ledger: Ledger) -> dict[str, tuple[str, str]]:
    """The application of each pod, and the queue that it counts in."""
    found = {}
    for record in ledger.view.pods():
        queue = ledger.view.queue_of(record)
        found[record.facts.name] = (str(record.membership.application), queue.path if queue else "")
    return found


def over_by_ours(ledger: Ledger) -> bool:
    """True if a queue has promised more than its max to admitted pods."""
    queue = ledger.view.tree.get("root.a")
    assert queue is not None
    return (
        bool(queue.reserved.get("vcore"))
        and queue.allocated.get("vcore") + queue.reserved.get("vcore") > 3000
    )


@settings(QUICK, max_examples=300)
@given(steps=st.lists(step, min_size=10, max_size=40), shared=st.booleans())
def test_nothing_that_waits_is_ever_in_recovery_nor_in_anothers_application(
    steps: list[Step], shared: bool
) -> None:
    cluster = Cluster(shared)
    for each in steps:
        before = over_by_ours(cluster.ledger)
        cluster.play(each)
        check(cluster.ledger)
        # Only forced pods bring a queue above its max while it has promises.
        assert before or each[0] in ("create", "relabel") or not over_by_ours(cluster.ledger)


@settings(QUICK, max_examples=200)
@given(steps=st.lists(step, min_size=10, max_size=40))
def test_a_restart_finds_the_same_in_whatever_order_namespaces_are_listed(steps: list[Step]) -> None:
    """Within a namespace pods are reported by age, as by `Feeds`."""
    cluster = Cluster(shared=False)
    for each in steps:
        cluster.play(each)
    by_age = sorted(cluster.pods.values(), key=lambda pod: pod.created)
    mine, theirs = ([pod for pod in by_age if pod.namespace == name] for name in NAMESPACES)
    after = restarted(cluster, by_age)
    check(after)
    assert (
        whose(after) == whose(restarted(cluster, mine + theirs)) == whose(restarted(cluster, theirs + mine))
    )
    for pod in cluster.pods.values():
        live, then = cluster.ledger.view.pod(pod.uid), after.view.pod(pod.uid)
        assert live is not None
        assert then is not None
        if live.membership.application is not None and then.membership.application is not None:
            assert live.membership.application[:2] == then.membership.application[:2]
