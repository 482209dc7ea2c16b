"""The order of Bindings on the real control plane: by the queues, whatever the priorities of the pods."""

import random
import time
from collections.abc import Callable, Sequence

import pytest

from e2e.cluster.client import Cluster, Object, node_of
from e2e.stands.course import HOLD, Course, Place, fence, of_priority, offset, place, say
from e2e.stands.timing import took

# -- slots freed one by one ----------------------------------------------------------------------------------

THREE = {
    "root.urgent": offset(1000),
    "root.steady": {},
    "root.fenced": fence(45),
    "root.fenced.inner": fence(),
    "root.fenced.open": {},
}

IN_QUEUE_ORDER = (
    ("root.urgent", 5),  # 1005 at the root
    ("root.urgent", 4),
    ("root.urgent", 3),
    ("root.urgent", 2),
    ("root.steady", 80),
    ("root.steady", 70),
    ("root.steady", 60),
    ("root.fenced.open", 800),  # 45 at the root, whatever is asked for inside
    ("root.fenced.open", 700),
    ("root.fenced.open", 1),  # 1 in the fence, above the 0 of its sibling
    ("root.fenced.inner", 900),  # 0 in the outer fence
    ("root.fenced.inner", 850),
    ("root.fenced.inner", 6),
    ("root.steady", 40),
    ("root.steady", 30),
    ("root.steady", 20),
)
"""Queues and priorities of pods, worked out by hand from PRI-4 and SORT-1."""


def _name(path: str, priority: int) -> str:
    return f"{path.rpartition('.')[2]}-{priority}"


PATIENT = {"paddock.turn.lease": "20s"}
"""On a busy machine kube-scheduler may take more than 2 s to ask for a pod with a turn.

Then the next one rightly goes first, but here the order is tested.
"""


async def test_the_bind_order_is_the_queue_order(cluster: Cluster) -> None:
    """Slots are freed one by one. kube-scheduler alone would go by the priorities of the pods."""
    order = [_name(*each) for each in IN_QUEUE_ORDER]
    asked = list(IN_QUEUE_ORDER)
    random.Random(3).shuffle(asked)
    priorities = {priority for _, priority in IN_QUEUE_ORDER}
    async with place(cluster, THREE, nodes=4, cores=4, priorities=[*priorities], settings=PATIENT) as here:
        blockers = await here.fill(16)
        for path, priority in asked:
            await cluster.create_pod(_name(path, priority), queue=path, **of_priority(priority))
        await here.until_refused_by_scheduler(*order)
        calls, held, freed = await here.calls(), await here.held(), []
        for number, blocker in enumerate(blockers, start=1):
            freed.append(time.monotonic())
            await cluster.delete_pod(blocker)
            await here.until_more("", 16 + number)
        assert here.course.names(("urgent", "steady", "fenced", "inner", "open")) == order
        assert order != sorted(order, key=lambda name: -int(name.rpartition("-")[2]))
        _say_steps(here.course, order, freed)
        print(
            f"filter calls per bound pod {(await here.calls() - calls) / 16:.1f}, "
            f"WaitingForTurn {(await here.held() - held) / 16:.1f}"
        )


def _say_steps(course: Course, order: Sequence[str], freed: Sequence[float]) -> None:
    steps = list(zip(order, freed, strict=True))
    woken = [[at - since for at in course.woken.get(name, ()) if at > since] for name, since in steps]
    say("one by one, freed to woken", [each[0] for each in woken if each])
    say("one by one, freed to bound", [course.bound[name] - since for name, since in steps])


# -- asks at the head that cannot be placed ------------------------------------------------------------------

HEADED = {"root.first": offset(1000), "root.others": {}}
AT_ONCE = 0.5
"""Seconds in which nothing can have waited for a lease to end."""

LEASE = 2.0


@pytest.mark.timed
async def test_a_large_ask_that_no_node_can_take_holds_no_pod_up(cluster: Cluster) -> None:
    """CYC-7: the six cores that it asks for are free, but on four nodes. It runs when one node has them."""
    async with place(cluster, HEADED, nodes=4, cores=8, priorities=(50,)) as here:
        blockers = await here.fill(24)
        assert {len(names) for names in _by_node(here).values()} == {6}
        await cluster.create_pod("large", queue="root.first", cpu="6", **of_priority(50))
        await here.until_refused_by_scheduler("large")
        late = []
        for at in range(8):
            created = time.monotonic()
            await cluster.create_pod(f"free-{at}", queue="root.others")
            await here.until_bound(f"free-{at}")
            late.append(here.course.bound[f"free-{at}"] - created)
        say("behind a large ask, created to bound", late)
        took("behind a large ask, at most", max(late), at_most=AT_ONCE)
        slots = await _slots_go_to_others(here, blockers[:8])
        took("a slot behind a large ask, at most", max(slots), at_most=AT_ONCE)
        assert "large" not in here.course.bound
        node, names = max(_by_node(here).items())
        for name in names:
            await cluster.delete_pod(name)
        await here.until_bound("large")
        assert node_of(here.named("large")) == node


async def _slots_go_to_others(here: Place, blockers: Sequence[str]) -> list[float]:
    """Let others wait on a full cluster behind one ask, and return how soon each freed slot is taken."""
    names = [f"queued-{at}" for at in range(len(blockers))]
    await here.cluster.create_pods(here.cluster.pod(name, queue="root.others") for name in names)
    await here.until_refused_by_scheduler(*names)
    late = []
    for number, blocker in enumerate(blockers, start=1):
        freed = time.monotonic()
        await here.cluster.delete_pod(blocker)
        await here.until_more("queued", number)
        late.append(max(here.course.bound.values()) - freed)
    say("behind an ask that cannot be placed, freed to bound", late)
    return late


def _by_node(here: Place) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pod in here.pods.bound():
        found.setdefault(node_of(pod), []).append(pod["metadata"]["name"])
    return found


def _beside_no_pod(cluster: Cluster) -> Object:
    """The text of kube-scheduler's failure changes with the free capacity, so Paddock hears of each one."""
    term = {"labelSelector": {"matchLabels": {"no": "body"}}, "topologyKey": "kubernetes.io/hostname"}
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def _on_a_taken_port(cluster: Cluster) -> Object:
    """The text of kube-scheduler's failure never changes, and it does not even retry."""
    return {"containers": [_with_port(cluster)]}


def _with_port(cluster: Cluster) -> Object:
    port = {"containerPort": 80, "hostPort": 18_080}
    return {**cluster.pod("")["spec"]["containers"][0], "ports": [port]}


@pytest.mark.timed
@pytest.mark.parametrize(("ghost", "leases"), [(_beside_no_pod, 0), (_on_a_taken_port, 2)])
async def test_an_ask_that_only_kube_scheduler_can_judge_soon_holds_no_pod_up(
    cluster: Cluster, ghost: Callable[[Cluster], Object], leases: int
) -> None:
    """Paddock gives such an ask turns that come to nothing.

    ``leases``: how many of them end by time at most.
    """
    async with place(cluster, HEADED, nodes=2, cores=6, priorities=(50,)) as here:
        taken = {"containers": [_with_port(cluster)]}
        for at in range(2):
            await cluster.create_pod(f"port-{at}", queue=HOLD, spec=taken)
        await here.until_bound("port-0", "port-1")
        blockers = await here.fill(10)
        await cluster.create_pod(
            "ghost", queue="root.first", spec={**of_priority(50)["spec"], **ghost(cluster)}
        )
        late = await _slots_go_to_others(here, blockers)
        soon = sorted(late)[: len(late) - leases]
        took("a slot that no lease delays, at most", max(soon), at_most=AT_ONCE)
        took("a slot behind who cannot be placed, at most", max(late), at_most=LEASE + AT_ONCE)
        assert "ghost" not in here.course.bound


# -- when everything fits ------------------------------------------------------------------------------------

FOUR = {
    "root.high": offset(100),
    "root.plain": {"resources": {"guaranteed": {"vcore": "1"}}},
    "root.capped": {"resources": {"max": {"vcore": "50"}}},
    "root.fenced": fence(),
}


@pytest.mark.parametrize("cores", [100, 20], ids=["with-room-to-spare", "to-the-last-core"])
async def test_no_pod_is_held_when_everything_fits(cluster: Cluster, cores: int) -> None:
    async with place(cluster, FOUR, nodes=10, cores=cores, priorities=(1, 7, 30)) as here:
        before = time.monotonic()
        await cluster.create_pods(
            cluster.pod(f"p{at}", queue=[*FOUR][at % 4], **of_priority((1, 7, 30)[at % 3]))
            for at in range(200)
        )
        await here.until_bound(*(f"p{at}" for at in range(200)))
        lasted, held = time.monotonic() - before, await here.held()
        print(f"200 pods that fit on 10 x {cores} cores: {lasted:.2f} s, {held:.0f} WaitingForTurn")
        assert held == 0
