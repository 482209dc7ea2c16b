"""Gangs with placeholders on the real control plane: created with the shipped role, bound, replaced."""

import pytest

from e2e.cluster.client import Cluster, node_of
from e2e.stands.gangs import BOTH, NOTED, PLACED_WITHIN, Job, rally


@BOTH
async def test_members_take_over_what_placeholders_held(cluster: Cluster, gated: bool) -> None:
    """GANG-3, GANG-9, GANG-12: no member runs before all have capacity; then each replaces a placeholder."""
    job = Job("steady", 4)
    async with rally(cluster, nodes=2, cores=4, gated=gated) as here:
        await here.submit(job)
        await here.until_bound(*job.names)
        await here.until_no_holders()
        here.assert_taken_over(job)
        await here.until_gang(job, "Started", 4, 4, 0)
        assert here.pods.note(job.first, NOTED) == "Started"
        await here.until_used(4000)
        await here.until_events(CreatingPlaceholders=1, GangReservationComplete=1)
        here.say("a gang of 4", job.names)


@BOTH
async def test_a_hard_gang_that_does_not_fit_fails(cluster: Cluster, gated: bool) -> None:
    """GANG-16, APP-9: three of five placeholders fit, and all of their capacity is given back."""
    job = Job("hard", 5, style="Hard", timeout=PLACED_WITHIN)
    async with rally(cluster, nodes=1, cores=3, gated=gated) as here:
        await here.submit(job)
        await here.until_placed(job, 3, made=5)
        await here.until_ended(*job.names)
        assert {here.log.ended[name] for name in job.names} == {("Failed", "ResourceReservationTimeout")}
        await here.until_no_holders()
        await here.until_used(0)
        await here.until_events(PlaceholderTimeOut=5, GangSchedulingFailed=1)
        assert not {*job.names} & {*here.log.nodes}


@BOTH
async def test_a_soft_gang_that_does_not_fit_runs_as_far_as_it_does(cluster: Cluster, gated: bool) -> None:
    """GANG-16: its members are placed like any other pods, each when there is capacity."""
    job = Job("soft", 5, timeout=PLACED_WITHIN)
    async with rally(cluster, nodes=1, cores=3, gated=gated) as here:
        await here.submit(job)
        await here.until_placed(job, 3, made=5)
        await here.pods.until(lambda: len(here.log.nodes) == 3, "three members run")
        await here.until_gang(job, "Ordinary", 5, 0, 5)
        await here.until_no_holders()
        await here.until_events(PlaceholderTimeOut=5, GangSchedulingFailed=1)
        ran = [*here.log.nodes]
        await cluster.delete_pod(ran[0])
        await cluster.delete_pod(ran[1])
        await here.until_bound(*job.names)


@BOTH
async def test_a_gang_on_a_cluster_with_exactly_its_capacity(cluster: Cluster, gated: bool) -> None:
    """Every node is full of its placeholders, and others wait for each core that is free for a moment."""
    job = Job("exact", 8)
    rivals = [f"rival-{at}" for at in range(4)]
    async with rally(cluster, nodes=4, cores=2, gated=gated) as here:
        first, *others = job.manifests(cluster)
        await cluster.create(first)
        # Before all members exist, the rivals' queue would have its share of the nodes.
        await here.until_placed(job, 8, made=8)
        await cluster.create_pods(cluster.pod(name, queue="root.others") for name in rivals)
        await cluster.create_pods(others)
        await here.until_bound(*job.names)
        here.assert_taken_over(job)
        await here.until_gang(job, "Started", 8, 8, 0)
        assert not {*rivals} & {*here.log.nodes}
        await here.until_used(8000)
        here.say("a gang of 8 with its room exactly", job.names)
        for name in job.names[:4]:
            await cluster.delete_pod(name)
        await here.until_bound(*rivals)


@pytest.mark.smoke("gang")
async def test_more_members_than_placeholders_and_a_member_that_comes_late(cluster: Cluster) -> None:
    """GANG-13, GANG-14: six members for three placeholders. The others are placed once all are replaced."""
    job = Job("many", 3, members=6)
    async with rally(cluster, nodes=2, cores=4) as here:
        first, *others = job.manifests(cluster)
        await cluster.create(first)
        await here.until_bound(job.first)
        await here.until_gang(job, "Started", 3, 1, 0)
        await here.until_left(2)
        await cluster.create_pods(others)
        await here.until_bound(*job.names)
        await here.until_gang(job, "Started", 3, 3, 0)
        assert all(node_of(here.place.named(name)) for name in job.names)
        await here.until_used(6000)
