"""Laws of the ledger in a realistic cluster: quotas hold exactly, and no pod waits forever.

A pod has a fixed size, and gets a node only through Paddock. The ledger learns this late, twice or never.
"""

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.decisions.admission import refusal_of
from core.decisions.decision import BindNow, Ignored
from core.ids import NO_NODE, NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.tree import over_max
from core.workload.pod import OWN_GATE, PodFacts
from tests.builders import START, bind_called, filtered, woken
from tests.properties.ledger.history_world import (
    DOCUMENTS,
    QUICK,
    UIDS,
    History,
    Step,
    check,
    configure,
    fresh,
    nodes,
    person,
    pods,
)


@dataclass
class Cluster:
    """True state of the pods, which the ledger learns late, twice or never."""

    ledger: Ledger
    now: float = START
    version: int = 1
    open: dict[PodUid, NodeName] = field(default_factory=dict)
    bound: dict[PodUid, NodeName] = field(default_factory=dict)

    def step(self, step: Step) -> None:
        match step:
            case ("observe", at, late):
                self._observe(person(at), late)
            case ("offer", at):
                self.ledger.apply(on.PodOffered(self._now(person(at))), now=self.now)
            case ("delete", at):
                self._delete(UIDS[at])
            case ("filter", at):
                filtered(self.ledger, UIDS[at], now=self.now)
            case ("bind", at, node):
                self._bind(UIDS[at], node)
            case ("answer", at, outcome):
                self._answer(UIDS[at], outcome)
            case ("pass",):
                self.ledger.apply(on.CycleDue(), now=self.now)
            case ("configure", document):
                configure(self.ledger, document, self.now)
            case ("wait", seconds):
                self.now += seconds
                self.ledger.apply(on.TimePassed(), now=self.now)

    def _now(self, pod: PodFacts) -> PodFacts:
        self.version += 1
        return replace(pod, version=self.version, node=self.bound.get(pod.uid, NO_NODE))

    def _observe(self, pod: PodFacts, late: bool) -> None:
        facts = replace(pod, version=1) if late and self.ledger.view.pod(pod.uid) else self._now(pod)
        self.ledger.apply(on.PodObserved(facts), now=self.now)

    def _delete(self, uid: PodUid) -> None:
        self.open.pop(uid, None)
        self.bound.pop(uid, None)
        self.ledger.apply(on.PodDeleted(uid), now=self.now)

    def _bind(self, uid: PodUid, node: NodeName) -> None:
        if uid in self.open or self.ledger.view.pod(uid) is None:
            return
        if isinstance(bind_called(self.ledger, uid, node, now=self.now), BindNow | Ignored):
            self.open[uid] = node

    def _answer(self, uid: PodUid, outcome: str) -> None:
        """The end of an open bind call. ``unheard``: the pod is bound, and only the watch reports it."""
        node = self.open.pop(uid, None)
        if node is None:
            return
        if outcome in ("bound", "unheard"):
            self.bound[uid] = node
        if outcome == "unheard":
            self.ledger.apply(on.PodObserved(self._now(person(UIDS.index(uid)))), now=self.now)
        event = {
            "bound": on.PodBound(uid, node),
            "unheard": on.BindFailed(uid, certain=False),
            "failed": on.BindFailed(uid, certain=True),
            "unknown": on.BindFailed(uid, certain=False),
        }[outcome]
        self.ledger.apply(event, now=self.now)


honest_step: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("observe"), pods, st.booleans()),
    st.tuples(st.just("offer"), pods),
    st.tuples(st.just("delete"), pods),
    st.tuples(st.just("filter"), pods),
    st.tuples(st.just("filter"), pods),
    st.tuples(st.just("filter"), pods),
    st.tuples(st.just("bind"), pods, nodes),
    st.tuples(st.just("answer"), pods, st.sampled_from(["bound", "unheard", "failed", "unknown"])),
    st.tuples(st.just("pass")),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 1.0, 2.0, 31.0])),
)


@settings(QUICK, max_examples=400)
@given(history=st.lists(honest_step, min_size=30, max_size=60))
def test_no_queue_ever_holds_more_than_its_max(history: History) -> None:
    cluster = Cluster(fresh())
    for step in history:
        cluster.step(step)
        over = {queue.path: over_max(queue) for queue in cluster.ledger.view.tree}
        assert not any(over.values()), (step, over)
        check(cluster.ledger, step)


reload = st.tuples(st.just("configure"), st.sampled_from(DOCUMENTS))


@settings(QUICK, max_examples=300)
@given(history=st.lists(st.one_of(honest_step, honest_step, honest_step, reload), min_size=30, max_size=60))
def test_no_ask_that_fits_is_left_asleep(history: History) -> None:
    cluster = Cluster(fresh())
    for step in history:
        cluster.step(step)
    ledger = cluster.ledger
    for seconds in (61.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0):
        cluster.step(("wait", seconds))
        for uid in woken(ledger, now=cluster.now):
            filtered(ledger, uid, now=cluster.now)
    asleep = [
        uid
        for uid in ledger.view.waiting
        if (record := ledger.view.pod(uid))
        and (record.admission.refused or OWN_GATE in record.facts.gates)
        and not ledger.view.has_turn(uid)
        and refusal_of(ledger.view, record) is None
    ]
    assert not asleep
