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
    for thing in (*rendered("kubeadm"), *rendered("quota")):
        if thing["kind"] in INSTALLED or "Policy" in thing["kind"]:
            await cluster.apply(thing)
    await permit(cluster, TENANT)
    await cluster.create_pod("probe", spec=GATED)
    held = pod_path(cluster, "probe")

    async def ask() -> bool:
        answers = (
            await refusal(
                create(cluster, cluster.pod("x", spec={"nodeName": "n"}), params={"dryRun": "All"})
            ),
            await refusal(ungate(cluster, held, dry=True)),
            await refusal(patch(cluster, held, {"metadata": {"labels": {"queue": "x"}}}, dry=True)),
            await refusal(resize(cluster, held, cpu="2", dry=True)),
        )
        return all(
            text in answer
            for text, answer in zip((FORCED, UNGATED, RELABELLED, RAISED), answers, strict=True)
        )

    await eventually(ask, "the policies are in force", timeout=30)
    await cluster.delete_pod("probe")
