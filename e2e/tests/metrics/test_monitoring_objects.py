"""The objects of ``manifests/monitoring`` on a real API server that has prometheus-operator's definitions."""

import asyncio
import copy
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.programs.binaries import binary
from e2e.programs.definitions import PROMETHEUS_OPERATOR
from e2e.stands.installation.definitions import defined
from e2e.stands.stand import MANIFESTS, NAMESPACE, eventually, manifest, rendered

MONITORS = ("monitoring/service-monitor.yaml", "monitoring/pod-monitor.yaml")
RULES = "monitoring/rules.yaml"
STRICT = {"dryRun": "All", "fieldValidation": "Strict"}


@pytest_asyncio.fixture(loop_scope="session")
async def operated(cluster: Cluster) -> AsyncIterator[Cluster]:
    """A cluster with the definitions, until the end."""
    await cluster.ensure_namespace(NAMESPACE)
    async with defined(cluster, PROMETHEUS_OPERATOR):
        await eventually(lambda: _are_named(cluster), "kubectl knows the kinds", timeout=60)
        yield cluster


async def _are_named(cluster: Cluster) -> bool:
    """True if kubectl knows the kinds. An API server serves a kind a moment before it names it to kubectl."""
    code, printed = await kubectl(cluster, "api-resources", "--no-headers", "--output=name")
    named = {f"{path_of(thing['kind']).rpartition('/')[2]}.monitoring.coreos.com" for thing in _objects()}
    return code == 0 and named <= {*printed.split()}


def _objects() -> list[Object]:
    return [thing for path in (*MONITORS, RULES) for thing in manifest(path)]


async def kubectl(cluster: Cluster, *arguments: str) -> tuple[int, str]:
    """Exit code and output."""
    process = await asyncio.create_subprocess_exec(
        binary("kubectl"),
        *arguments,
        env={
            "KUBECONFIG": str(cluster.control_plane.kubeconfig("admin")),
            "HOME": str(cluster.control_plane.folder),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    return process.returncode or 0, printed.decode()


async def tried(cluster: Cluster, thing: Object) -> None:
    """Let the API server judge an object, whose unknown members it refuses. Raises `ApiFailure`."""
    path = path_of(thing["kind"], thing["metadata"]["namespace"])
    await cluster.request("POST", path, thing, params=STRICT)


async def test_they_are_applied_and_deleted_as_the_docs_say(operated: Cluster) -> None:
    folder, objects = str(MANIFESTS / "monitoring"), rendered("monitoring")
    for verb, wanted in (("apply", "created"), ("apply", "unchanged"), ("delete", "deleted")):
        code, printed = await kubectl(operated, verb, "-k", folder)
        assert code == 0, printed
        assert [wanted in line for line in printed.splitlines()] == [True] * len(objects), printed


async def test_they_have_no_member_that_is_not_defined_and_a_planted_one_is_refused(
    operated: Cluster,
) -> None:
    """The API server judges strictly. A value of another type is refused as well."""
    for path in (*MONITORS, RULES):
        (thing,) = manifest(path)
        await tried(operated, thing)
        (key,) = {"groups", "endpoints", "podMetricsEndpoints"} & thing["spec"].keys()
        unknown, wrong = copy.deepcopy(thing), copy.deepcopy(thing)
        unknown["spec"][key][0]["intervall"] = "30s"
        wrong["spec"][key][0]["interval"] = ["30s"]
        for each, said in ((unknown, "unknown field"), (wrong, "interval")):
            with pytest.raises(ApiFailure, match=said):
                await tried(operated, each)
