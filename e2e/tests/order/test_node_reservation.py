"""A node reserved for a pod that fits on no node (CYC-2, CYC-6), on the real control plane."""

from e2e.cluster.client import Cluster, message_of, node_of
from e2e.stands.course import RESERVED, Place, place
from e2e.stands.node_reservation import BY_SIZE, until_reserved, until_small_ones_had_the_others
from e2e.stands.stand import eventually


async def test_capacity_gathers_on_a_reserved_node_while_smaller_pods_go_elsewhere(cluster: Cluster) -> None:
    """Small pods rank before it and would take core after core. Two cores are free on each of three nodes."""
    async with place(cluster, BY_SIZE, nodes=3, cores=6) as here:
        blockers = await here.fill(12)
        node = await until_reserved(here)
        on_node = [name for name in blockers if node_of(here.named(name)) == node]
        elsewhere = [f"other-{at}" for at in range(4)]
        await cluster.create_pods(cluster.pod(name, queue="root.small") for name in elsewhere)
        await here.until_bound(*elsewhere)
        late = [f"late-{at}" for at in range(3)]
        await cluster.create_pods(cluster.pod(name, queue="root.small") for name in late)
        await here.until_refused_by_scheduler(*late)
        await here.pods.until(
            lambda: all("1 NodeReserved: " in message_of(here.named(name)) for name in late),
            "all are refused the one node",
        )
        assert node not in {node_of(here.named(name)) for name in elsewhere}
        for name in on_node:
            assert "large" not in here.course.bound
            await cluster.delete_pod(name)
        await here.until_bound("large")
        assert node_of(here.named("large")) == node
        assert not set(here.course.bound) & set(late)
        await here.pods.until(lambda: not here.pods.note("large", RESERVED), "the record is taken off")
        await cluster.delete_pod("large")
        await here.until_bound(*late)


async def test_a_restart_keeps_the_node_and_a_deleted_pod_leaves_it_to_all(cluster: Cluster) -> None:
    async with place(cluster, BY_SIZE, nodes=3, cores=6) as here:
        await here.fill(12)
        node = await until_reserved(here)
        await here.stand.paddock.restart()
        await until_small_ones_had_the_others(here, node)
        await eventually(lambda: _nothing_nominated(here), "nothing is nominated")


async def _nothing_nominated(here: Place) -> bool:
    return not any(pod["status"].get("nominatedNodeName") for pod in here.pods.pods.values())
