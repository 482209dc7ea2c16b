"""Huge pods of a tenant: no other pod waits for Paddock to read them (F-17)."""

import time

import pytest

from core.workload.nodes.affinity import MOST_WEIGHED
from e2e.cluster.client import Cluster, Object, path_of
from e2e.stands.stand import Stand, eventually
from e2e.tests.quota.test_unguarded import _create_as_tenant, _grant, _seen

NODES = 300
TERMS = 14_000
METRIC = "paddock_loop_stall_seconds"
STALL = "1.0"
"""A bucket of the metric. Three such pods stopped the loop for 21 s before their work was bounded."""

WATCHED = 8.0
"""Seconds in which others come and go. After two a node is searched for pods that still wait."""


def hostile(cluster: Cluster, name: str, terms: int) -> Object:
    """A pod that no node matches, with terms that all have to be checked to find that."""
    found = [{"matchExpressions": [{"key": f"k{at}", "operator": "Exists"}]} for at in range(terms)]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": found}}
    return cluster.pod(name, queue="root.a", spec={"affinity": {"nodeAffinity": required}})


async def _stalls(stand: Stand) -> float:
    """The number of stalls longer than `STALL` since the start; both numbers from one answer."""
    _, text = await stand.paddock.get("/metrics")
    series = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith(METRIC))
    return float(series[f"{METRIC}_count"]) - float(series[f'{METRIC}_bucket{{le="{STALL}"}}'])


@pytest.mark.parametrize("terms", [MOST_WEIGHED // 2 - 1, TERMS])
async def test_a_tenants_pods_of_very_many_terms_stop_no_other_pod(cluster: Cluster, terms: int) -> None:
    async with Stand(cluster, {"a": {"max": {"vcore": "2"}}}) as stand:
        await cluster.add_nodes(NODES)
        await _grant(cluster)
        before = await _stalls(stand)
        for at in range(3):
            await _create_as_tenant(cluster, hostile(cluster, f"hostile-{at}", terms))
        for at in range(3):
            await eventually(lambda at=at: _seen(stand, f"hostile-{at}"), "Paddock knows it")  # type: ignore[misc]
        until, number = time.monotonic() + WATCHED, 0
        while time.monotonic() < until:
            name = f"honest-{number}"
            await cluster.create(cluster.pod(name, queue="root.a"))
            await stand.pods.until(
                lambda name=name: name in {each["metadata"]["name"] for each in stand.pods.bound()},  # type: ignore[misc]
                f"{name} has a node",
            )
            await cluster.request(
                "DELETE", path_of("Pod", cluster.namespace, name), {"gracePeriodSeconds": 0}
            )
            number += 1
        assert await _stalls(stand) == before
        await stand.audited()
