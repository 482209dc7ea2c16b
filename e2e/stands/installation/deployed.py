"""The two processes of the pod that an installed Deployment of mode `sidecar` would have."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import yaml

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.programs.paddock import PaddockProcess
from e2e.stands.stand import NAMESPACE

LEASE = ("kube-system", "paddock-scheduler")
WORKLOAD, CONFIGURATION = "paddock-scheduler", "paddock-scheduler-config"


@asynccontextmanager
async def deployed(cluster: Cluster, folder: Path) -> AsyncIterator[PaddockProcess]:
    """Run Paddock and kube-scheduler as the installed account, with the installed configuration.

    ``folder``: for the log. At the end the Lease is deleted, so that the next kube-scheduler need not wait.
    """
    plane = cluster.control_plane
    arguments = [f"--lease={'/'.join(LEASE)}"]
    paddock = PaddockProcess(plane.kubeconfig("paddock"), folder, arguments=arguments)
    # Paddock copies the first queues once kube-scheduler leads, and is not ready before.
    await paddock.start(wait=False)
    try:
        configuration = await _configuration(cluster, paddock.url)
        scheduler = await plane.scheduler(configuration, user="paddock")
        try:
            await paddock.until_ready()
            yield paddock
        finally:
            await scheduler.stop()
    finally:
        await paddock.kill()
        with suppress(ApiFailure):
            await cluster.request("DELETE", path_of("Lease", *LEASE))


async def _configuration(cluster: Cluster, url: str) -> Object:
    """The file that the Deployment names, with the address of this process and without the API server's."""
    spec = (await cluster.request("GET", path_of("Deployment", NAMESPACE, WORKLOAD)))["spec"]["template"][
        "spec"
    ]
    (variables,) = (each["env"] for each in spec["containers"] if each["name"] == "kube-scheduler")
    (file,) = (each["value"] for each in variables if each["name"] == "SCHEDULER_CONFIG")
    (name,) = (
        each["configMap"]["name"]
        for each in spec["volumes"]
        if each.get("configMap", {}).get("name", "").startswith(CONFIGURATION)
    )
    found = await cluster.request("GET", path_of("ConfigMap", NAMESPACE, name))
    made: Object = yaml.safe_load(found["data"][file])
    made["clientConnection"].pop("kubeconfig", None)
    for extender in made["extenders"]:
        extender["urlPrefix"] = url
    return made
