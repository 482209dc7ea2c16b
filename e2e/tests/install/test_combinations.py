"""Every combination of the chart, applied server-side to the API server of the version that is tested.

Nothing is stored. The API server judges strictly: it refuses unknown members, and expressions that it cannot
compile. Objects of cert-manager and prometheus-operator are left out, since their definitions are not here.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping

import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, Object, bounded
from e2e.programs.binaries import minor_of_programs
from e2e.programs.control_plane import ControlPlane
from e2e.programs.helm import is_built, render
from e2e.programs.minors import beta_flags
from tests.manifests.chart.installations import matrix

pytestmark = pytest.mark.xdist_group("combinations")

OF_OTHERS = {"cert-manager.io/v1", "monitoring.coreos.com/v1"}
APPLY = {"fieldManager": "e2e", "dryRun": "All", "fieldValidation": "Strict"}


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests. It serves the policies of v1beta1 where there are any."""
    async with ControlPlane(flags=beta_flags(minor_of_programs())) as running:
        yield running


@pytest.mark.matrix
async def test_the_api_server_takes_every_object_of_every_combination(cluster: Cluster) -> None:
    assert is_built(), "Helm is not built: run `make helm`"
    cases = [each for each in matrix() if each.kubeVersion.startswith(f"v1.{minor_of_programs()}.")]
    assert len(cases) == 33
    for name in {each.namespace for each in cases}:
        await cluster.ensure_namespace(name)
    places = await _places(cluster)
    found = {json.dumps(each) for made in render(cases).values() for each in made.objects}
    objects = [json.loads(each) for each in sorted(found)]
    own = [each for each in objects if each["apiVersion"] not in OF_OTHERS]
    refusals = await bounded((_refusal(cluster, places, each) for each in own), most=8)
    print(f"{len(cases)} combinations, {len(own)} different objects, {len(objects) - len(own)} left out")
    assert [each for each in refusals if each] == []


async def test_an_object_with_a_planted_fault_is_refused(cluster: Cluster) -> None:
    await cluster.ensure_namespace("queues")
    thing = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "a", "namespace": "queues"},
        "automount": True,
    }
    assert "automount" in await _refusal(cluster, await _places(cluster), thing)


async def _places(cluster: Cluster) -> dict[tuple[str, str], str]:
    """Paths of the collections that are served, by version and kind."""
    groups = (await cluster.request("GET", "/apis"))["groups"]
    served = [version["groupVersion"] for group in groups for version in group["versions"]]
    paths = {"v1": "/api/v1", **{each: f"/apis/{each}" for each in served}}
    found = {}
    for version, path in paths.items():
        for kind, place in _collections(path, (await cluster.request("GET", path))["resources"]):
            found[version, kind] = place
    return found


def _collections(path: str, resources: list[Object]) -> Iterator[tuple[str, str]]:
    for each in resources:
        if "/" not in each["name"]:
            where = "/namespaces/{}" if each["namespaced"] else ""
            yield each["kind"], f"{path}{where}/{each['name']}"


async def _refusal(cluster: Cluster, places: Mapping[tuple[str, str], str], thing: Object) -> str:
    """The API server's reason not to take an object, empty if it does."""
    meta = thing["metadata"]
    shown = f"{thing['apiVersion']} {thing['kind']} {meta['name']}"
    place = places.get((thing["apiVersion"], thing["kind"]))
    if place is None:
        return f"{shown} is not served"
    path = f"{place.format(meta.get('namespace', ''))}/{meta['name']}"
    try:
        await cluster.request("PATCH", path, thing, params=APPLY, content_type="application/apply-patch+yaml")
    except ApiFailure as failure:
        return f"{shown}: {failure}"
    return ""
