"""Rights on the records that Paddock believes after a start: the shipped policy on the real API server."""

from collections.abc import Mapping

import pytest
import pytest_asyncio

from e2e.cluster.client import RUN_LABEL, Cluster, Object, path_of
from e2e.cluster.permissions import allow, refusal
from e2e.stands.course import RESERVED
from e2e.stands.preemption import PREEMPTED_FOR, TRIGGERED, contest, queue
from e2e.stands.stand import INSTALLED, eventually, manifest, rendered

POLICY = "records/protect-records.yaml"
REFUSED = "only with the verb set-paddock-records"
USER = "tester"
FORGED = {RESERVED: "n1", TRIGGERED: "1-x", PREEMPTED_FOR: "x because"}


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _in_force(cluster: Cluster) -> None:
    """A user who may do anything with the pods of the test's namespace."""
    for thing in (*rendered("kubeadm"), *manifest(POLICY)):
        if thing["kind"] in INSTALLED or thing in manifest(POLICY):
            await cluster.apply(thing)
    verbs = ["create", "get", "update", "patch", "delete"]
    subject = {"kind": "User", "name": USER}
    await allow(cluster, subject, verbs, "pods", "pods/status", "pods/binding", groups=[""])

    async def ask() -> bool:
        return REFUSED in await refusal(_create(cluster, "probe", FORGED, try_it=True))

    await eventually(ask, "the policy is in force")


@pytest.mark.parametrize("key", FORGED)
async def test_a_user_makes_no_pod_with_a_record(cluster: Cluster, key: str) -> None:
    assert REFUSED in await refusal(_create(cluster, "forged", {key: FORGED[key]}))
    assert await refusal(_create(cluster, "plain", {"paddock.example/x": "y", "x": "y"})) == ""


@pytest.mark.parametrize("part", ["", "/status"])
@pytest.mark.parametrize(
    "change", [{TRIGGERED: "2-x"}, {RESERVED: "n2"}, {RESERVED: None}], ids=["sets", "changes", "removes"]
)
async def test_a_tenant_cannot_set_change_or_remove_one(
    cluster: Cluster, change: Mapping[str, str | None], part: str
) -> None:
    path = await _recorded(cluster)
    assert REFUSED in await refusal(_annotate(cluster, path + part, change))
    annotations = (await cluster.request("GET", path))["metadata"]["annotations"]
    assert annotations == {RESERVED: "n1"}


async def test_nor_with_a_binding(cluster: Cluster) -> None:
    """The API server copies a Binding's annotations to the pod."""
    await cluster.add_nodes(1)
    await cluster.create_pod("bound", spec={"schedulerName": "nobody"})
    path = path_of("Pod", cluster.namespace, "bound")
    metadata = {"name": "bound", "annotations": {PREEMPTED_FOR: "x because"}}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"name": "n1"}}
    assert REFUSED in await refusal(cluster.request("POST", f"{path}/binding", binding, user=USER))
    metadata.pop("annotations")
    await cluster.request("POST", f"{path}/binding", binding, user=USER)


async def test_a_pod_with_a_record_is_his_otherwise(cluster: Cluster) -> None:
    path = await _recorded(cluster)
    await _annotate(cluster, path, {"mine": "1", RESERVED: "n1"})
    pod = await cluster.request("GET", path, user=USER)
    pod["metadata"]["labels"]["mine"] = "2"
    await cluster.request("PUT", path, pod, user=USER)
    await cluster.request("DELETE", path, user=USER)


@pytest.mark.parametrize("subject", ["paddock", "paddock-certificate", "admin"])
async def test_paddock_and_admins_write_them(cluster: Cluster, subject: str) -> None:
    """Paddock's service account has the role as shipped in `base`, its certificate that of `kubeadm`."""
    if subject == "paddock":
        for thing in rendered("service"):
            if thing["kind"] in INSTALLED:
                await cluster.apply(thing)
    path = await _recorded(cluster)

    async def written() -> bool:
        return (
            await refusal(_annotate(cluster, path, {RESERVED: "n2", TRIGGERED: "1-x"}, subject=subject)) == ""
        )

    await eventually(written, f"{subject} may write records")
    await _annotate(cluster, path, {RESERVED: None, TRIGGERED: None}, subject=subject)


async def test_a_preemption_goes_its_way(cluster: Cluster) -> None:
    async with contest(
        cluster, {"root.poor": queue(guaranteed=1), "root.rich": queue()}, nodes=1, cores=2
    ) as here:
        await here.run("rich", 2, queue="root.rich", grace=2)
        await cluster.create_pod("poor", queue="root.poor")
        await here.until_bound("poor")
        assert here.exits.left == ["rich-1"]
        assert here.exits.receipts["rich-1"].startswith(here.uid("poor"))


# -- requests ------------------------------------------------------------------------------------------------


async def _recorded(cluster: Cluster) -> str:
    """A pod for which a node is reserved; its path."""
    await cluster.create_pod("recorded", annotations={RESERVED: "n1"}, spec={"schedulerName": "nobody"})
    return path_of("Pod", cluster.namespace, "recorded")


async def _create(
    cluster: Cluster, name: str, annotations: Mapping[str, str], *, try_it: bool = False
) -> Object:
    pod = cluster.pod(name, labels={RUN_LABEL: cluster.run}, annotations=dict(annotations))
    params = {"dryRun": "All"} if try_it else None
    path = f"/api/v1/namespaces/{cluster.namespace}/pods"
    return await cluster.request("POST", path, pod, params=params, user=USER)


async def _annotate(
    cluster: Cluster, path: str, change: Mapping[str, str | None], *, subject: str = USER
) -> Object:
    body = {"metadata": {"annotations": dict(change)}}
    return await cluster.patch(path, body, user=subject)
