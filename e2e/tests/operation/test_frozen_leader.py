"""A host that stops for longer than its Lease lasts and is resumed: it admits nothing more (F-3).

`make frozen ROUNDS=20` plays more of it.
"""

from e2e.cluster.client import Cluster
from e2e.frozen import hosts


async def test_a_leader_that_was_stopped_admits_nothing_when_it_goes_on(cluster: Cluster) -> None:
    """Two hosts run with real elections, and the observer sees every Binding of both."""
    async with hosts(cluster) as played:
        seen = await played.play()
        print(f"{seen.idle:.1f} s without a leader, {seen.late} Bindings of the stopped host later")
        assert seen.breaches == 0
