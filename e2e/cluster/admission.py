"""Changes of new pods by policies and webhooks, which count some time after these were created."""

from e2e.cluster.client import ApiFailure, Cluster, path_of


async def is_gated(cluster: Cluster) -> bool:
    """True once new pods of a queue get a gate. What else was installed with it may count sooner."""
    probe = cluster.pod("probe", queue="root.probe")
    try:
        made = await cluster.request(
            "POST", path_of("Pod", cluster.namespace), probe, params={"dryRun": "All"}
        )
    except ApiFailure:
        # What requires a gate may count before what sets it.
        return False
    return bool(made["spec"].get("schedulingGates"))
