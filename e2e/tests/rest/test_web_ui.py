"""The calls of YuniKorn's web UI, page by page in its order, replayed on a real control plane (REST-15).

Each page reads the members that the UI reads, as the UI does: one that is missing ends in an error there.
"""

import json
from typing import Any
from urllib.parse import quote

import pytest

from e2e.cluster.client import Cluster
from e2e.programs.paddock import PaddockProcess
from e2e.stands.gangs import Job, rally
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually, install

PAGES = {
    "Dashboard": (
        *("clusters", "partitions", "history/apps", "history/containers"),
        *("scheduler/node-utilizations", "partitions"),
    ),
    "Queues": ("partitions", "partition/default/queues"),
    "Applications": ("partitions", "partition/default/queues"),
    "Nodes": ("partitions", "partition/default/nodes"),
    "Status": ("scheduler/healthcheck",),
}
"""Calls that a page makes when it is opened."""


async def call(paddock: PaddockProcess, path: str) -> Any:
    """Value of an answer, which is 200 or leads the whole UI to its error page (REST-47)."""
    status, text = await paddock.get(f"/ws/v1/{path}")
    assert status == 200, f"{path}: {status} {text}"
    assert text.endswith("\n")
    return json.loads(text)


def read_dashboard(answers: list[Any]) -> None:
    clusters, partitions, apps, containers, utilizations, again = answers
    assert clusters[0]["clusterName"] == "kubernetes"
    build = clusters[0]["rmBuildInformation"][0]
    assert isinstance(build["buildVersion"], str)
    assert isinstance(build["rmId"], str)
    for (partition,) in (partitions, again):
        assert partition["name"] == "default"
        assert partition["nodeSortingPolicy"]["type"] in ("fair", "binpacking")
        assert all(isinstance(partition[each], int) for each in ("totalNodes", "totalContainers"))
        counts = partition["applications"]
        assert counts["total"] == sum(number for state, number in counts.items() if state != "total")
    assert all(int(each["totalApplications"]) >= 0 and each["timestamp"] for each in apps)
    assert all(int(each["totalContainers"]) >= 0 and each["timestamp"] for each in containers)
    for each in utilizations[0]["utilizations"]:
        assert each["type"]
        assert len(each["utilization"]) == 10
        for bucket in each["utilization"]:
            assert bucket["bucketName"].endswith("%")
            assert bucket.get("numOfNodes", 0) == len(bucket.get("nodeNames", ()))


def read_queue(queue: dict[str, Any]) -> list[str]:
    """Names of all leaves in and below a queue."""
    assert queue["status"] in ("Active", "Draining")
    assert {"partition", "isLeaf", "isManaged", "queuename"} <= set(queue)
    for name in ("maxResource", "guaranteedResource", "allocatedResource", "pendingResource"):
        assert all(isinstance(amount, int) for amount in queue.get(name, {}).values())
    assert all(percent >= 0 for percent in queue.get("absUsedCapacity", {}).values())
    assert all(isinstance(text, str) for text in queue.get("properties", {}).values())
    below = [name for child in queue.get("children", ()) for name in read_queue(child)]
    return [queue["queuename"], *below] if queue["isLeaf"] else below


def read_application(app: dict[str, Any]) -> None:
    assert app["applicationID"]
    assert app["applicationState"]
    assert isinstance(app["submissionTime"], int)
    assert max(each["time"] for each in app["stateLog"]) >= app["submissionTime"] // 10**9 * 10**9
    for each in app.get("allocations", ()):
        tags = each["allocationTags"]
        assert tags["kubernetes.io/meta/namespace"]
        assert tags["kubernetes.io/meta/podName"]
        assert each["allocationKey"]
        assert each["resource"]["pods"] == 1
        assert isinstance(each["priority"], str)
        assert each["nodeId"]
        assert each["applicationId"] == app["applicationID"]


def read_node(node: dict[str, Any]) -> None:
    for name in ("nodeID", "hostName", "rackName"):
        assert node[name]
    assert node["attributes"]["si.io/hostname"] == node["hostName"]
    sums = {
        kind: node.get("allocated", {}).get(kind, 0)
        + node.get("occupied", {}).get(kind, 0)
        + node.get("available", {}).get(kind, 0)
        for kind in node["capacity"]
    }
    assert sums == node["capacity"]
    for each in (*node.get("allocations", ()), *node.get("foreignAllocations", ())):
        assert each["allocationKey"]
        assert each["resource"]["pods"] == 1
    assert all(isinstance(percent, int) for percent in node.get("utilized", {}).values())


async def open_pages(paddock: PaddockProcess) -> dict[str, list[Any]]:
    """Open each page, and each queue on the page of applications."""
    found = {page: [await call(paddock, path) for path in paths] for page, paths in PAGES.items()}
    read_dashboard(found["Dashboard"])
    leaves = read_queue(found["Queues"][-1])
    # The UI writes names of queues into the URL as they are.
    names = [quote(name, safe="@:#/.-_") for name in leaves]
    apps = [await call(paddock, f"partition/default/queue/{name}/applications") for name in names]
    for app in (each for listed in apps for each in listed):
        read_application(app)
    for node in found["Nodes"][-1]:
        read_node(node)
    (health,) = found["Status"]
    assert health["Healthy"] is True, health
    assert len(health["HealthChecks"]) >= 9
    return found | {"apps": [each for listed in apps for each in listed]}


@pytest.mark.rule("REST-15", "REST-47")
async def test_every_page_over_a_gang_waiting_pods_and_pods_of_others(cluster: Cluster) -> None:
    job = Job("steady", 3)
    async with rally(cluster, nodes=2, cores=4) as here:
        paddock = here.place.stand.paddock
        await here.submit(job)
        await here.until_bound(*job.names)
        node = here.log.nodes[job.first]
        await cluster.create_pod("large", queue="root.jobs", cpu="64")
        foreign = cluster.pod("foreign", cpu="500m", spec={"schedulerName": "other", "nodeName": node})
        await cluster.create(foreign)

        async def shows_foreign() -> bool:
            (found,) = [
                each for each in await call(paddock, "partition/default/nodes") if each["nodeID"] == node
            ]
            return bool(found.get("foreignAllocations"))

        await eventually(shows_foreign, "the pod of another scheduler is shown")
        found = await open_pages(paddock)
        (gang,) = (each for each in found["apps"] if each["applicationID"] == "steady")
        assert gang["applicationState"] == "Running"
        assert len(gang["allocations"]) == 3
        assert found["Dashboard"][1][0]["totalNodes"] == 2
        assert found["Dashboard"][1][0]["totalContainers"] == 3
        check_that_pages_fail_without_a_member(found)


def check_that_pages_fail_without_a_member(found: dict[str, list[Any]]) -> None:
    for answer, name, read in (
        (found["Queues"][-1], "status", read_queue),
        (found["apps"][0], "stateLog", read_application),
        (found["Nodes"][-1][0], "attributes", read_node),
    ):
        with pytest.raises((AssertionError, KeyError), match=name):
            read({key: value for key, value in answer.items() if key != name})
    clusters, (partition,), *others = found["Dashboard"]
    lacking = {key: value for key, value in partition.items() if key != "totalNodes"}
    with pytest.raises(KeyError, match="totalNodes"):
        read_dashboard([clusters, [lacking], *others])


@pytest.mark.rule("REST-43")
async def test_every_call_says_why_there_is_no_answer_yet(cluster: Cluster) -> None:
    """Before there is a document. From then on every page can be opened, though nothing runs (REST-47)."""
    await install(cluster, "sidecar")
    plane = cluster.control_plane
    paddock = PaddockProcess(plane.kubeconfig("paddock"), plane.folder)
    try:
        await paddock.start(wait=False)

        async def lives() -> bool:
            return (await paddock.get("/livez"))[0] == 200

        await eventually(lives, "the admin port answers", timeout=30)
        for path in sorted({path for paths in PAGES.values() for path in paths}):
            status, text = await paddock.get(f"/ws/v1/{path}")
            fault = json.loads(text)
            assert (status, fault["status_code"], fault["description"]) == (503, 503, fault["message"])
        assert (await paddock.get("/readyz"))[0] == 503
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document({"a": {}})})
        await paddock.until_ready()
        await open_pages(paddock)
    finally:
        await paddock.stop()
