"""Policies of ``manifests/quota``, in force before each test of this folder."""

import pytest_asyncio

from e2e.cluster.client import Cluster
from e2e.cluster.permissions import refusal
from e2e.stands.stand import INSTALLED, eventually, rendered
from e2e.tests.tenants.policies.requests import (
    FORCED,
    GATED,
    RAISED,
    RELABELLED,
    TENANT,
    UNGATED,
    create,
    patch,
    permit,
    pod_path,
    resize,
    ungate,
)


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _in_force(cluster: Cluster) -> None:
    """The API server must have forgotten the policies of the test before, which would answer for these."""
    await permit(cluster, TENANT)
    await cluster.create_pod("probe", spec=GATED)

    async def none() -> bool:
        return not any(await _refused(cluster))

    async def every() -> bool:
        return all(await _refused(cluster))

    await eventually(none, "no policy is in force", timeout=30)
    for thing in (*rendered("kubeadm"), *rendered("quota")):
        if thing["kind"] in INSTALLED or "Policy" in thing["kind"]:
            await cluster.apply(thing)
    await eventually(every, "the policies are in force", timeout=30)
    await cluster.delete_pod("probe")


async def _refused(cluster: Cluster) -> list[bool]:
    """For each policy, true if it refuses what it is for."""
    held = pod_path(cluster, "probe")
    answers = (
        await refusal(create(cluster, cluster.pod("x", spec={"nodeName": "n"}), params={"dryRun": "All"})),
        await refusal(ungate(cluster, held, dry=True)),
        await refusal(patch(cluster, held, {"metadata": {"labels": {"queue": "x"}}}, dry=True)),
        await refusal(resize(cluster, held, cpu="2", dry=True)),
    )
    refusals = (FORCED, UNGATED, RELABELLED, RAISED)
    return [text in answer for text, answer in zip(refusals, answers, strict=True)]
