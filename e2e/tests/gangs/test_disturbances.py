"""Disturbances of a gang: placeholders deleted by hand, capacity taken by unmanaged pods, lost members."""

import asyncio

from e2e.cluster.client import Cluster, message_of, node_of, path_of
from e2e.stands.course import RESERVED
from e2e.stands.gangs import BOTH, PLACED_WITHIN, REPLACES, Job, Rally, is_holder, rally
from e2e.stands.stand import eventually

LINKED = ("PATCH", "/pods/taken-0$", f'"{REPLACES}":"')
HIGH = 1000


@BOTH
async def test_a_placeholder_is_deleted_by_hand_before_the_start(cluster: Cluster, gated: bool) -> None:
    """GANG-18: a deleted placeholder is not made again, so the gang cannot start and ends at its time-out."""
    job = Job("short", 4, timeout=PLACED_WITHIN)
    async with rally(cluster, nodes=1, cores=3, gated=gated) as here:
        await here.submit(job)
        await here.until_placed(job, 3, made=4)
        held = next(pod for pod in here.holders() if node_of(pod))
        await cluster.delete_pod(held["metadata"]["name"])
        await here.until_gang(job, "Reserving", 4, 0, 1)
        await here.pods.until(lambda: len(here.log.nodes) == 3, "three members run")
        assert len(here.log.of(job)) == job.size
        await here.until_gang(job, "Ordinary", 4, 0, 4)
        await here.until_events(PlaceholderTimeOut=3, GangSchedulingFailed=1)
        await cluster.delete_pod(next(iter(here.log.nodes)))
        await here.until_bound(*job.names)


@BOTH
async def test_all_placeholders_are_deleted_by_hand_before_the_start(cluster: Cluster, gated: bool) -> None:
    """Nothing is left to wait for: the gang ends at once."""
    job = Job("short", 4)
    async with rally(cluster, nodes=1, cores=3, gated=gated) as here:
        await here.submit(job)
        await here.until_placed(job, 3, made=4)
        await _delete_holders(here)
        await here.pods.until(lambda: len(here.log.nodes) == 3, "three members run")
        await here.until_gang(job, "Ordinary", 4, 0, 4)
        assert len(here.log.of(job)) == job.size


@BOTH
async def test_placeholders_are_deleted_by_hand_after_the_start(cluster: Cluster, gated: bool) -> None:
    """The freed capacity is open to all, and later members do not wait for it."""
    job = Job("late", 4)
    async with rally(cluster, nodes=1, cores=4, gated=gated) as here:
        await cluster.create_pods([*job.manifests(cluster)][:2])
        await here.until_bound(*job.names[:2])
        await here.until_gang(job, "Started", 4, 2, 0)
        await here.until_left(2)
        await _delete_holders(here)
        await here.until_gang(job, "Started", 4, 2, 2)
        await here.until_used(2000)
        await cluster.create_pods(job.manifests(cluster, start=2))
        await here.until_bound(*job.names)


async def test_the_pod_that_owns_the_placeholders_is_deleted(cluster: Cluster) -> None:
    """GANG-14, GANG-21: the placeholders go with their owner, and the others are placed like any pods."""
    job = Job("orphan", 4)
    async with rally(cluster, nodes=1, cores=3) as here:
        await here.submit(job)
        await here.until_placed(job, 3, made=4)
        await cluster.delete_pod(job.first)
        await here.until_bound(*job.names[1:])
        await here.until_used(3000)
        await here.until_gang(job, "Ordinary", 4, 0, 4, name=job.names[1])


@BOTH
async def test_a_member_is_deleted_while_it_takes_over(cluster: Cluster, gated: bool) -> None:
    """The placeholder of a deleted member is left for the next one."""
    job = Job("taken", 2, members=3)
    async with rally(cluster, nodes=1, cores=2, gated=gated, proxied=True) as here:
        linked = here.proxy.hold_next(*LINKED)
        await here.submit(job)
        await asyncio.wait_for(linked.wait(), 20)
        await cluster.delete_pod("taken-0")
        here.proxy.clear()
        # With the originator its placeholders disappear. The capacity they held is for the members that live.
        await here.until_bound("taken-1", "taken-2")
        await here.until_used(2000)


@BOTH
async def test_an_unmanaged_pod_takes_the_capacity_before_the_member(cluster: Cluster, gated: bool) -> None:
    """The replacement is cancelled, nothing leaks, and the member has first claim on the capacity later."""
    job = Job("taken", 2)
    async with rally(cluster, nodes=1, cores=2, gated=gated, proxied=True, priorities=(HIGH,)) as here:
        linked = here.proxy.hold_next(*LINKED)
        first, other = job.manifests(cluster)
        await cluster.create(first)
        await asyncio.wait_for(linked.wait(), 20)
        await _create_foreign(here, "foreign")
        await here.pods.until(lambda: bool(message_of(here.pods.named("foreign"))), "it has been tried")
        here.proxy.answer_held()
        await here.until_bound("foreign")
        assert await eventually(lambda: _cancelled(here), "the take-over is cancelled")
        await here.until_gang(job, "Started", 2, 0, 1)
        await here.rivals(1)
        await here.until_used(1000)
        await cluster.delete_pod("foreign")
        await here.until_bound("taken-0")
        await here.pods.until(lambda: not here.pods.note("taken-0", RESERVED), "nothing is kept any more")
        assert here.pods.note("taken-0", REPLACES) == ""
        await cluster.create(other)
        await here.until_bound("taken-1")
        await here.until_gang(job, "Started", 2, 1, 1)
        await here.until_used(2000)
        assert "rival-0" not in here.log.nodes
        await cluster.delete_pod("taken-1")
        await here.until_bound("rival-0")


# -- steps ---------------------------------------------------------------------------------------------------


async def _delete_holders(here: Rally) -> None:
    for pod in here.holders():
        await here.cluster.delete_pod(pod["metadata"]["name"])
    await here.until_no_holders()


async def _create_foreign(here: Rally, name: str) -> None:
    """Create pods of higher priority than all others. No gate holds them, since they are unmanaged."""
    spec = {"priorityClassName": f"order-{HIGH}"}
    pod = here.cluster.pod(name, scheduler_name="default-scheduler", spec=spec)
    assert not is_holder(await here.cluster.create(pod))
    assert not (await here.cluster.request("GET", path_of("Pod", here.cluster.namespace, name)))["spec"].get(
        "schedulingGates"
    )


async def _cancelled(here: Rally) -> bool:
    return await here.paddock.metric("paddock_gang_takeovers_cancelled_total") == 1
