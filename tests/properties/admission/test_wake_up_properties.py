"""Freed capacity, of any kind, wakes the asks that fit within seconds (DESIGN-3, Waking).

A simulated scheduler calls filter for every woken ask a moment later, and nodes never run out. In the end an
ask that is still refused must not fit.
"""

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.decisions.admission import refusal_of
from core.decisions.decision import Admitted
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec, PartitionSpec
from core.queues.users.identity import Identity
from core.resource import Limit
from tests.builders import START, filtered, make_ledger, make_partition, make_pod, make_queue, woken

QUIET = 8
"""Seconds after the last change: four wake-up leases."""

LEAVES = ("root.p.a", "root.p.b")
USERS = ("alice", "bob")


@dataclass(frozen=True)
class Submit:
    user: str
    leaf: str
    app: int
    cpu: int
    priority: int


@dataclass(frozen=True)
class Delete:
    which: int


@dataclass(frozen=True)
class Reload:
    document: int


@dataclass(frozen=True)
class Wait:
    """A world. ``deaf``: how many woken asks are not tried, such as those that fit no node."""

    seconds: int
    deaf: int


amounts = st.none() | st.integers(1, 2)


@st.composite
def limits(draw: st.DrawFn) -> tuple[LimitSpec, ...]:
    """Entries of named users, a group and the wildcard, of cores and applications."""
    entries = []
    for users, groups in ((("alice",), ()), ((), ("team",)), (("*",), ())):
        cores, applications = draw(amounts), draw(st.sampled_from((0, 0, 1, 2)))
        if cores or applications:
            cap = Limit({"vcore": cores * 1000}) if cores else None
            entries.append(LimitSpec(users, groups, cap, applications))
    return tuple(entries)


@st.composite
def documents(draw: st.DrawFn) -> PartitionSpec:
    queues = []
    for path in ("root.p", *LEAVES):
        cores = draw(amounts)
        queue = make_queue(path, leaf=path != "root.p", max={"vcore": cores * 1000} if cores else None)
        queues.append(
            replace(queue, limits=draw(limits()), max_applications=draw(st.sampled_from((0, 0, 1, 2))))
        )
    return make_partition(*queues)


operations = st.lists(
    st.one_of(
        st.builds(
            Submit,
            st.sampled_from(USERS),
            st.sampled_from(LEAVES),
            st.integers(0, 1),
            st.just(1),
            st.integers(0, 1),
        ),
        st.builds(Delete, st.integers(0, 3)),
        st.builds(Reload, st.integers(0, 1)),
        st.builds(Wait, st.integers(0, 3), st.integers(0, 1)),
    ),
    min_size=5,
    max_size=25,
)


@dataclass
class World:
    ledger: Ledger
    now: float = START
    live: list[str] = field(default_factory=list)
    coming: list[str] = field(default_factory=list)
    made: int = 0

    def submit(self, entry: Submit) -> None:
        self.made += 1
        groups = ("team",) if entry.user == "alice" else ()
        pod = make_pod(
            f"p{self.made}",
            cpu=entry.cpu * 1000,
            queue=entry.leaf,
            app=f"{entry.user}-{entry.leaf}-{entry.app}",
            identity=Identity(entry.user, groups),
            priority=entry.priority,
            created=self.now,
        )
        self.ledger.apply(on.PodObserved(pod), now=self.now)
        self.live.append(pod.uid)
        self.try_to_place(pod.uid)

    def try_to_place(self, uid: str) -> None:
        record = self.ledger.view.pod(PodUid(uid))
        if record is None or record.node:
            return
        if isinstance(filtered(self.ledger, uid, now=self.now), Admitted):
            bound = replace(record.facts, node=NodeName("n1"), version=record.facts.version + 1)
            self.ledger.apply(on.PodObserved(bound), now=self.now)

    def settle(self) -> None:
        """Run cycles. Woken pods are tried later, and others may be tried before them."""
        for uid in woken(self.ledger, now=self.now):
            self.ledger.apply(on.PodWoken(PodUid(uid), reached=True), now=self.now)
            self.coming.append(uid)

    def come(self, *, deaf: int) -> None:
        coming, self.coming = self.coming[deaf:], []
        for uid in coming:
            self.try_to_place(uid)
        self.settle()

    def delete(self, which: int) -> None:
        if self.live:
            uid = self.live.pop(which % len(self.live))
            self.ledger.apply(on.PodDeleted(PodUid(uid)), now=self.now)

    def wait(self, seconds: int, *, deaf: int = 0) -> None:
        self.come(deaf=deaf)
        for _ in range(seconds):
            self.now += 1
            self.ledger.apply(on.TimePassed(), now=self.now)
            self.settle()
            self.come(deaf=0)

    def forgotten(self) -> list[str]:
        """Asks that wait although they fit; nodes always have capacity here."""
        view = self.ledger.view
        return [
            record.uid
            for record in view.pods()
            if not record.node and record.admission.overlooked == 0 and refusal_of(view, record) is None
        ]


@settings(deadline=None, max_examples=600)
@given(st.lists(documents(), min_size=2, max_size=2), operations)
def test_whoever_fits_is_woken(documents: list[PartitionSpec], operations: list[object]) -> None:
    world = World(make_ledger(*documents[0].queues[1:]))
    for operation in operations:
        match operation:
            case Submit():
                world.submit(operation)
            case Delete(which):
                world.delete(which)
            case Reload(document):
                world.ledger.apply(on.Configured(documents[document], LedgerSettings()), now=world.now)
            case Wait(seconds, deaf):
                world.wait(seconds, deaf=deaf)
        world.settle()
    world.wait(QUIET)
    assert world.forgotten() == []
