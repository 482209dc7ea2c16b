"""Every combination of the chart, applied server-side to the API server of the version that is tested.

Nothing is stored. The API server judges strictly: it refuses unknown members, and expressions that it cannot
compile. It has the definitions of cert-manager and prometheus-operator, so that no object is left out.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, Object, bounded
from e2e.programs.binaries import minor_of_programs
from e2e.programs.control_plane import ControlPlane
from e2e.programs.definitions import EVERY
from e2e.programs.helm import Case, is_built, render
from e2e.programs.minors import beta_flags
from e2e.stands.installation.definitions import defined
from tests.manifests.chart.installations import matrix

pytestmark = pytest.mark.xdist_group("combinations")

OF_OTHERS = {"Certificate", "ServiceMonitor", "PodMonitor", "PrometheusRule"}
"""Kinds that Kubernetes itself does not serve."""
FAULTS: Sequence[tuple[Object, str]] = (
    ({"renewBefor": "1h"}, "renewBefor"),
    ({"usages": ["serving"]}, "usages"),
    ({"dnsNames": "paddock"}, "dnsNames"),
    ({"issuerRef": {"kind": "Issuer"}}, "issuerRef.name"),
)
"""Members of a Certificate that its definition does not allow, and what the refusal names."""
APPLY = {"fieldManager": "e2e", "dryRun": "All", "fieldValidation": "Strict"}


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests. It serves what others define, and policies of v1beta1 if it can."""
    async with (
        ControlPlane(flags=beta_flags(minor_of_programs())) as running,
        Cluster(running) as cluster,
        defined(cluster, *EVERY),
    ):
        yield running


@pytest.mark.matrix
async def test_the_api_server_takes_every_object_of_every_combination(cluster: Cluster) -> None:
    cases = _cases()
    assert len(cases) == 33
    for name in {each.namespace for each in cases}:
        await cluster.ensure_namespace(name)
    places = await _places(cluster)
    objects = _objects(cases)
    assert {each["kind"] for each in objects} >= OF_OTHERS
    left_out = [each for each in objects if (each["apiVersion"], each["kind"]) not in places]
    refusals = await bounded((_refusal(cluster, places, each) for each in objects), most=8)
    print(f"{len(cases)} combinations, {len(objects)} different objects, {len(left_out)} left out")
    assert len(left_out) == 0
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


async def test_a_planted_fault_in_each_certificate_is_refused(cluster: Cluster) -> None:
    places, certificates = await _places(cluster), await _certificates(cluster)
    for thing in certificates:
        assert await _refusal(cluster, places, thing) == ""
        for fault, said in FAULTS:
            planted = {**thing, "spec": {**thing["spec"], **fault}}
            assert said in await _refusal(cluster, places, planted)


async def test_a_misspelt_member_of_a_certificate_is_refused_for_being_unknown(cluster: Cluster) -> None:
    """A server that is told to ignore unknown members drops it without a word."""
    for thing in await _certificates(cluster):
        planted = {**thing, "spec": {**thing["spec"], "renewBefor": "1h"}}
        path = (await _places(cluster))[thing["apiVersion"], thing["kind"]]
        folder = path.format(thing["metadata"]["namespace"])
        taken = await cluster.request("POST", folder, planted, params={**APPLY, "fieldValidation": "Ignore"})
        assert "renewBefor" not in taken["spec"]
        with pytest.raises(ApiFailure, match=r'unknown field "spec\.renewBefor"'):
            await cluster.request("POST", folder, planted, params=APPLY)


async def _certificates(cluster: Cluster) -> list[Object]:
    """Certificates of the combinations, whose namespace is there."""
    found = [each for each in _objects(_cases()) if each["kind"] == "Certificate"]
    assert {each["metadata"]["name"] for each in found} == {"paddock-server", "paddock-client"}
    for each in found:
        await cluster.ensure_namespace(each["metadata"]["namespace"])
    return found


def _cases() -> list[Case]:
    """Combinations for the API server that is tested."""
    assert is_built(), "Helm is not built: run `make helm`"
    return [each for each in matrix() if each.kubeVersion.startswith(f"v1.{minor_of_programs()}.")]


def _objects(cases: list[Case]) -> list[Object]:
    """Different objects of the combinations, in one order."""
    found = {json.dumps(each) for made in render(cases).values() for each in made.objects}
    return [json.loads(each) for each in sorted(found)]


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
