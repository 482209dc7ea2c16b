"""F-10 on the whole server: ready without the right to list DaemonSets, and no pod counts as one's then."""

import json
from typing import Any

from tests.extender.app_bench import PODS, Server, document, kubeconfig, server, undone
from tests.extender.rigs import pod_body

__all__ = ["kubeconfig", "server", "undone"]

DAEMON_SETS = "/apis/apps/v1/namespaces/default/daemonsets"
TERM = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}}


def agent(uid: str) -> dict[str, Any]:
    """A pod that says that a DaemonSet of this uid made it."""
    body = pod_body("agent")
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agents", "uid": uid, "controller": True}
    body["metadata"] |= {"ownerReferences": [owner]}
    body["metadata"]["labels"] |= {"app": "agents"}
    body["spec"]["affinity"] = AFFINITY
    return body


async def test_without_the_right_to_list_them_it_is_ready_and_no_pod_is_of_one(server: Server) -> None:
    server.configure(document())
    server.api.fail_next(403, path="daemonsets", times=10**6)
    server.api.apply(PODS, agent("forged"))
    await server.started()
    assert await server.get("/readyz") == (200, "ok\n")
    lines = ("paddock_daemon_sets_listed 0.0", "paddock_pods_of_no_daemon_set 1.0")
    await server.until_shown("/metrics", *lines)
    await server.until_shown("/readyz?verbose", "DaemonSets not listed: 403 Forbidden")
    warned = [
        line
        for line in server.logged("watch was interrupted and will be tried again after the pause")
        if line["kind"] == "daemonsets"
    ]
    assert len(warned) == 1
    story = json.loads((await server.get("/debug/pods/default/agent"))[1])
    assert story["daemonSet"] == "default/agents has not made it: it counts as any other pod"


async def test_a_daemon_set_that_exists_vouches_for_its_pods(server: Server) -> None:
    server.configure(document())
    await server.started()
    spec = {"selector": {"matchLabels": {"app": "agents"}}}
    server.api.apply(DAEMON_SETS, {"metadata": {"name": "agents", "uid": "uid-of-agents"}, "spec": spec})
    server.api.apply(PODS, agent("uid-of-agents"))
    await server.until_shown("/debug/pods/default/agent", '"daemonSet":"default/agents"')
    await server.until_shown(
        "/metrics", "paddock_daemon_sets_listed 1.0", "paddock_pods_of_no_daemon_set 0.0"
    )


async def test_a_watch_that_is_not_up_is_reported_with_its_time(server: Server) -> None:
    server.configure(document())
    server.api.fail_next(403, path="daemonsets", times=10**6)
    await server.started()
    verbose = await server.until_shown("/readyz?verbose", "stale watches: daemonsets since 2")
    assert "(403 Forbidden: the test wants 403)" in verbose
    metrics = await server.until_shown("/metrics", 'paddock_watch_stale_seconds{kind="daemonsets"}')
    (stale,) = [line for line in metrics.splitlines() if '_stale_seconds{kind="daemonsets"}' in line]
    assert float(stale.split(" ")[1]) > 0
    assert 'paddock_watch_stale_seconds{kind="pods"} 0.0' in metrics
    assert 'paddock_watch_stale_seconds{kind="configmap yunikorn-configs"} 0.0' in metrics
