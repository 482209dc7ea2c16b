"""The world of the ledger's histories: a few pods, queues and documents, and laws after each step.

No tests, and nothing that only one file of tests needs.
"""

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from core.decisions.admission import decide_preemption
from core.decisions.explain import explain
from core.ids import NodeName
from core.ledger import events as on
from core.ledger.effects import Effect
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec, NodeSortSpec, PartitionSpec
from core.queues.users.identity import Identity
from core.resource import Limit
from core.workload.pod import PodFacts
from tests.builders import charges, drifts, make_ledger, make_partition, make_pod, make_queue

Step = tuple[Any, ...]
History = list[Step]

QUICK = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

NODES = [NodeName(name) for name in ("n1", "n2")]
NAMESPACES = ("default", "late", "kube-system")
QUEUES = ("root.p.x", "root.p.y", "root.a", "")
SIZES = (500, 1000, 2500)
OURS, THEIRS = "yunikorn", "default-scheduler"
USERS = ("alice", "bob")
PODS = 6


def person(at: int) -> PodFacts:
    """Fields of a pod that never change."""
    return make_pod(
        f"p{at}",
        queue=QUEUES[at % 4],
        app=f"app-{at % 4}",
        scheduler_name=OURS if at != 4 else THEIRS,
        namespace=NAMESPACES[0] if at < 4 else NAMESPACES[at % 2],
        priority=at % 2,
        cpu=SIZES[at % 3],
        identity=Identity(USERS[at % 2], ("team",) if at == 3 else ()),
    )


UIDS = [person(at).uid for at in range(PODS)]

P = make_queue("root.p", leaf=False, max={"vcore": 3000})
X = make_queue("root.p.x", max={"vcore": 2000})
Y = make_queue("root.p.y")
A = make_queue("root.a", max={"vcore": 2500})
DEFAULT = make_queue("root.default", max={"vcore": 1000})
LIMITS = (
    LimitSpec(("alice",), (), Limit({"vcore": 1500}), 1),
    LimitSpec(("*",), ("team", "*"), Limit({"vcore": 2500})),
)
FENCE, OFFSET = {"priority.policy": "fence", "priority.offset": "2"}, {"priority.offset": "-3"}
DOCUMENTS = (
    make_partition(
        replace(P, limits=LIMITS, properties=FENCE),
        replace(X, max_applications=1, properties=OFFSET),
        Y,
        A,
        DEFAULT,
    ),
    replace(make_partition(replace(P, limits=LIMITS[1:]), X, Y, A), resolver="os"),
    replace(make_partition(P, X, Y, A, DEFAULT), node_sort=NodeSortSpec("fair", {}, named=True)),
    replace(make_partition(P, X, Y, A), node_sort=NodeSortSpec("binpacking", {"vcore": 1.0}, named=True)),
    make_partition(P, Y),
    make_partition(replace(P, max=X.max), X, Y, A),
    make_partition(make_queue("root.p", leaf=False), X, Y, make_queue("root.a"), DEFAULT),
    make_partition(make_queue("root.a", leaf=False), make_queue("root.a.x"), make_queue("root.p")),
    make_partition(),
)

pods = st.integers(0, PODS - 1)
nodes = st.sampled_from(NODES)
uids = st.sampled_from(UIDS)


def configure(ledger: Ledger, document: PartitionSpec, now: float) -> tuple[Effect, ...]:
    """Reload a document. It is refused if it conflicts with running applications."""
    if ledger.view.conflicts(document):
        return ()
    return ledger.apply(on.Configured(document, LedgerSettings()), now=now)


def check(ledger: Ledger, step: Step) -> None:
    """Check the laws that hold after every step."""
    assert drifts(ledger) == [], step
    for queue in ledger.view.tree:
        for counter in (queue.allocated, queue.reserved, queue.pending, queue.preempting, queue.triggered):
            assert all(amount > 0 for _, amount in counter.items()), step
    # `pods` counts every pod once. If one were in two counters, the sum would exceed the number of pods.
    root = ledger.view.tree.root
    counted = sum(counter.get("pods") for counter in (root.allocated, root.reserved, root.pending))
    queued = [record for record in ledger.view.pods() if ledger.view.queue_of(record)]
    assert counted <= len(queued), step
    for record in ledger.view.pods():
        explain(ledger.view, record)
        decide_preemption(ledger.view, record.uid, lambda: None)


def state_of(ledger: Ledger) -> list[str]:
    """All counters, and the charge of each pod."""
    numbers = [
        f"{queue!r} {queue.allocated!r} {queue.reserved!r} {queue.pending!r} {sorted(queue.applications)}"
        for queue in ledger.view.tree
    ]
    return numbers + [f"{uid} {charge}" for uid, charge in sorted(charges(ledger).items())]


def fresh(*, listed: bool = True) -> Ledger:
    return make_ledger(P, X, Y, A, DEFAULT) if listed else Ledger()
