"""kube-scheduler's own preemption where it has Paddock's account, which a shipped policy bounds (F-20)."""

from e2e.cluster.client import Cluster, Object, path_of
from e2e.cluster.permissions import refusal
from e2e.stands.preemption import Contest, contest, queue, with_port
from e2e.stands.stand import SIDECAR, eventually

QUEUES = {"root.poor": queue(guaranteed=2), "root.rich": queue()}
RANKED = {"priorityClassName": "rank-100"}
ACCOUNT = "paddock"
DELETION = "deletes only placeholders"
VICTIMS = "paddock-direct-delete"


async def test_beside_paddock_it_deletes_the_victims_of_an_offer_with_the_shipped_role(
    cluster: Cluster,
) -> None:
    async with contest(cluster, QUEUES, nodes=2, cores=2, ranks=(100,), form=SIDECAR) as here:
        await _until_it_may(here, delete=True)
        rich = await here.run("rich", 4, queue="root.rich")
        await here.create_held("poor", queue="root.poor", spec={**RANKED, **with_port(cluster)})
        await here.open("poor")
        await here.until_bound("poor")
        (victim,) = here.exits.left
        assert victim in rich
        plan = await here.plan_for("poor")
        assert (plan["by"], plan["victims"]) == ("verb", [f"{cluster.namespace}/{victim}"])
        assert await here.evictions("done") == 0, "it was kube-scheduler that deleted the victim"


async def test_without_the_verb_it_deletes_none(cluster: Cluster) -> None:
    """The policy holds for kube-scheduler as well, and nothing else lets it delete a pod."""
    async with contest(cluster, QUEUES, nodes=2, cores=2, ranks=(100,), form=SIDECAR) as here:
        binding = await _taken_away(cluster)
        await _until_it_may(here, delete=False)
        rich = await here.run("rich", 4, queue="root.rich")
        await here.create_held("poor", queue="root.poor", spec={**RANKED, **with_port(cluster)})
        await here.open("poor")

        async def refused() -> bool:
            return DELETION in here.stand.scheduler.log_tail(200)

        await eventually(refused, "kube-scheduler is refused a victim", timeout=60)
        assert here.exits.left == []
        assert all(here.node_of(name) for name in rich)
        await cluster.delete_pod("poor")
        await cluster.create(binding)


async def _taken_away(cluster: Cluster) -> Object:
    """Delete the binding that lets the account delete victims. Returns it, to be created again."""
    path = path_of("ClusterRoleBinding", name=VICTIMS)
    found = await cluster.request("GET", path)
    await cluster.request("DELETE", path)
    return {
        **{key: found[key] for key in ("roleRef", "subjects")},
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": VICTIMS},
    }


async def _until_it_may(here: Contest, *, delete: bool) -> None:
    """Wait until policy and role are in force: they allow a deletion, or refuse it. Both are dry runs."""
    cluster = here.cluster
    probe = await cluster.create_pod("probe", scheduler_name="nobody")
    path = path_of("Pod", cluster.namespace, probe["metadata"]["name"])

    async def in_force() -> bool:
        pods, dry = path_of("Pod", cluster.namespace), {"dryRun": "All"}
        created = await refusal(cluster.request("POST", pods, cluster.pod("x"), params=dry, user=ACCOUNT))
        deleted = await refusal(
            cluster.request("DELETE", path, params=dry, user=ACCOUNT),
        )
        return "AdmissionPolicy" in created and (not deleted if delete else DELETION in deleted)

    await eventually(in_force, "the account is bounded", timeout=60)
    await cluster.delete_pod("probe")
