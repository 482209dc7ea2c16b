"""Pods held by Paddock's own scheduling gate, set by the shipped policy, on the real control plane."""

import asyncio
import copy
import os
import re
from collections.abc import Mapping
from functools import partial

import pytest

from e2e.cluster.client import Cluster, Object, path_of
from e2e.programs.binaries import ROOT, binary
from e2e.stands.stand import MANIFESTS, Stand, eventually, manifest

POLICY = "gates/gate-managed-pods.yaml"
GATE = "paddock.dev/queue"
CONDITION = "paddock.dev/Admitted"
GATED = {"schedulingGates": [{"name": GATE}]}


@pytest.mark.smoke("gate")
@pytest.mark.mutating_policies
async def test_the_policy_gates_and_paddock_opens_in_turn(cluster: Cluster) -> None:
    """A label of the namespace opts in, and PodScheduled stays kube-scheduler's own."""
    async with Stand(cluster, {"a": {"max": {"vcore": "2"}}}, policies=(POLICY,)) as stand:
        await cluster.add_nodes(1)
        await _label(cluster, "true")
        await _until_gated(cluster)
        for name in ("p1", "p2"):
            await cluster.create_pod(name, queue="root.a", app=name)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two opened and bound")
        await eventually(lambda: _allocated(stand, 2000), "Paddock knows that the queue is full")
        left = "p3"
        await cluster.create_pod(left, queue="root.a", app=left)
        said = await eventually(lambda: _condition(cluster, left), "a condition")
        assert (said["status"], said["reason"]) == ("False", "QuotaExceeded")
        assert said["message"] == "QuotaExceeded: root.a max vcore=2"
        scheduled = await _condition(cluster, left, "PodScheduled")
        assert scheduled is not None
        assert scheduled["reason"] == "SchedulingGated"
        await cluster.delete_pod(stand.pods.bound()[0]["metadata"]["name"])
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2 and not stand.pods.waiting(), "the third")
        opened = await eventually(lambda: _opened(cluster, left), "the condition, true")
        assert opened["reason"] == "Admitted"
        await _label(cluster, None)
        await stand.audited()


@pytest.mark.parametrize("marked", [("preempt",), ("filter", "preempt")], ids="-".join)
async def test_markers_say_which_verbs_are_called_for_gated_pods(
    cluster: Cluster, marked: tuple[str, ...]
) -> None:
    """Down to none but preempt: the gate alone holds the quota and the order of the queues."""
    tree = {"a": {"max": {"vcore": "2"}}}
    async with Stand(cluster, tree, config="kubeadm/scheduler-config-scoped.yaml") as stand:
        markers = {f"paddock.dev/{verb}": "1" for verb in marked}
        await cluster.add_nodes(1)
        await cluster.create_pods(_marked(cluster, f"p{at}", markers) for at in range(6))
        for left in (4, 2, 0):
            await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two run")
            for pod in stand.pods.bound():
                await cluster.delete_pod(pod["metadata"]["name"])
            await stand.pods.until(lambda left=left: len(stand.pods.pods) == left, "they are gone")  # type: ignore[misc]
        for verb in ("filter", "bind"):
            calls = await stand.paddock.metric("paddock_verb_seconds_count", verb=verb)
            assert calls == (6 if verb in marked else 0)
        await stand.audited()


def _marked(cluster: Cluster, name: str, markers: Mapping[str, str]) -> Object:
    pod = cluster.pod(name, queue="root.a", app=name, spec=GATED)
    resources = pod["spec"]["containers"][0]["resources"]
    resources["requests"] |= markers
    resources["limits"] = dict(markers)
    return pod


async def test_gates_are_opened_after_a_restart(cluster: Cluster) -> None:
    """A slot is freed while Paddock is down. Half of the waiting pods have a reason, the others none."""
    async with Stand(cluster, {"a": {"max": {"vcore": "2"}}}) as stand:
        await cluster.add_nodes(1)
        for at in range(2):
            await cluster.create_pod(f"p{at}", queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "the queue is full")
        await cluster.create_pod("p2", queue="root.a", spec=GATED)
        await eventually(lambda: _condition(cluster, "p2"), "a condition")
        await stand.paddock.kill()
        await cluster.create_pod("p3", queue="root.a", spec=GATED)
        for at in range(2):
            await cluster.delete_pod(f"p{at}")
        await stand.paddock.start()
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2 and not stand.pods.waiting(), "both run")
        await eventually(lambda: _opened(cluster, "p2"), "the condition, true")
        assert await _condition(cluster, "p3") is None
        await stand.audited()


async def test_what_is_left_is_opened_as_documented_when_paddock_is_taken_out(cluster: Cluster) -> None:
    """The commands of `manifests/README.md` as they stand there; gates of others stay."""
    async with Stand(cluster, {"a": {"max": {"vcore": "1"}}}, policies=(POLICY,)) as stand:
        await cluster.add_nodes(1)
        both = {"schedulingGates": [*GATED["schedulingGates"], {"name": "example.com/other"}]}
        for name, spec in (("p1", GATED), ("p2", GATED), ("p3", both)):
            await cluster.create_pod(name, queue="root.a", spec=spec)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "one runs")
        await stand.paddock.stop()
        await _taken_out(cluster)
        await stand.pods.until(lambda: _gates(stand) <= {"example.com/other"}, "none of ours is left")
        assert _gates(stand) == {"example.com/other"}


SEPARATE = ("policies/mark-managed-pods.yaml", POLICY)
TOGETHER = ("gated-policies/mark-and-gate-pods.yaml",)
SHAPES: Mapping[str, Object] = {
    "plain": {},
    "gated by another": {"schedulingGates": [{"name": "example.com/other"}]},
    "gated already": GATED,
    "of another scheduler": {"schedulerName": "other"},
    "with a node": {"nodeName": "n1"},
    "without resources": {"containers": [{"name": "c", "image": "i"}]},
    "two containers": {
        "containers": [
            {"name": "c", "image": "i", "resources": {"limits": {"memory": "1Gi"}}},
            {"name": "d", "image": "i", "resources": {"requests": {"cpu": "1"}}},
        ]
    },
}


async def test_one_policy_changes_each_pod_as_the_two_do(cluster: Cluster) -> None:
    """In a namespace with gates and in one without, for managed pods and for others (DESIGN-6)."""
    for label in ("true", None):
        await _label(cluster, label)
        found = {}
        for files in (SEPARATE, TOGETHER):
            made = [thing for path in files for thing in manifest(path)]
            for thing in made:
                await cluster.apply(thing)
            gated = label is not None
            await eventually(partial(_all_in_force, cluster, gated=gated), "the policies are in force")
            found[files] = {
                (name, managed): await _changed(cluster, shape, managed=managed)
                for name, shape in SHAPES.items()
                for managed in (True, False)
            }
            for thing in made:
                await cluster.request("DELETE", path_of(thing["kind"], name=thing["metadata"]["name"]))
            await eventually(partial(_is_out_of_force, cluster), "the policies are in force no more")
        assert found[SEPARATE] == found[TOGETHER]
        marked, gates = found[TOGETHER]["gated by another", True]
        assert marked[0]["requests"]["paddock.dev/filter"] == "1"
        assert gates == ["example.com/other", *([GATE] if label else [])]
        assert found[TOGETHER]["plain", False] == ([{"requests": {"cpu": "1"}}], [])


async def _changed(cluster: Cluster, shape: Object, *, managed: bool) -> tuple[list[Object], list[str]]:
    """Resources and gates of a pod that is not created in the end."""
    whose = {"queue": "root.a"} if managed else {"scheduler_name": "default-scheduler"}
    pod = copy.deepcopy(cluster.pod("shape", spec=shape, **whose))
    path = path_of("Pod", cluster.namespace)
    made = (await cluster.request("POST", path, pod, params={"dryRun": "All"}))["spec"]
    return [each["resources"] for each in made["containers"]], [
        each["name"] for each in made.get("schedulingGates", ())
    ]


async def _all_in_force(cluster: Cluster, *, gated: bool) -> bool:
    (resources,), gates = await _changed(cluster, {}, managed=True)
    return "paddock.dev/filter" in resources.get("requests", {}) and (GATE in gates) is gated


async def _is_out_of_force(cluster: Cluster) -> bool:
    return not await cluster.is_mutated()


def _gates(stand: Stand) -> set[str]:
    """The gates of all waiting pods."""
    return {gate["name"] for pod in stand.pods.waiting() for gate in pod["spec"].get("schedulingGates", ())}


async def _taken_out(cluster: Cluster) -> None:
    text = (MANIFESTS / "README.md").read_text()
    (commands,) = re.findall(r"```sh\n(kubectl delete -k manifests/gates\n.*?)```", text, re.DOTALL)
    environment = {
        **os.environ,
        "KUBECONFIG": str(cluster.control_plane.kubeconfig("admin")),
        "PATH": f"{binary('kubectl').parent}:{os.environ['PATH']}",
    }
    shell = await asyncio.create_subprocess_exec("sh", "-euc", commands, cwd=ROOT, env=environment)
    assert await asyncio.wait_for(shell.wait(), 60) == 0


async def _label(cluster: Cluster, value: str | None) -> None:
    body = {"metadata": {"labels": {"paddock.dev/gate": value}}}
    await cluster.patch(f"/api/v1/namespaces/{cluster.namespace}", body)


async def _until_gated(cluster: Cluster) -> None:
    """Wait for a new policy, with dry-run pods until one has the gate."""

    async def gates() -> bool:
        return GATE in (await _changed(cluster, {}, managed=True))[1]

    await eventually(gates, "the policy gates pods")


async def _allocated(stand: Stand, millicores: int) -> bool:
    return (
        await stand.paddock.metric("paddock_queue_allocated", queue="root.a", resource="vcore") == millicores
    )


async def _opened(cluster: Cluster, pod: str) -> Object | None:
    said = await _condition(cluster, pod)
    return said if said is not None and said["status"] == "True" else None


async def _condition(cluster: Cluster, pod: str, kind: str = CONDITION) -> Object | None:
    found = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}")
    return next((each for each in found["status"].get("conditions", ()) if each["type"] == kind), None)
