"""The size of a single container, found by its requests, is that of the general way (RES-4, RES-6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import QuantityError
from core.resource import Resource
from extender.wire.objects.pod import WirePod
from extender.wire.objects.sizing import markers_of, pod_size
from tests.extender.wire.objects.test_sizing import decoded

NAMES = st.sampled_from(["cpu", "memory", "pods", "nvidia.com/gpu", "paddock.dev/filter", ""])
AMOUNTS = st.sampled_from(["1", "100m", "0", "1Gi", " 2 ", "-1", "x", "", None, 3, 1.5, 1, 1.0])


def size_or_error(pod: WirePod) -> Resource | str:
    try:
        return pod_size(pod)
    except QuantityError as error:
        return str(error)


@pytest.mark.rule("RES-4", "RES-6")
@given(st.dictionaries(NAMES, AMOUNTS, max_size=4), st.sampled_from(["main", ""]))
def test_a_single_container_has_the_size_that_it_has_beside_one_without_requests(
    requests: dict[str, str | int | float | None], name: str
) -> None:
    written = {"name": name, "resources": {"requests": requests}}
    alone = decoded({"spec": {"containers": [written]}})
    beside = decoded({"spec": {"containers": [written, {"name": "idle"}]}})
    assert size_or_error(alone) == size_or_error(beside)


@pytest.mark.rule("RES-4", "RES-6")
@given(st.dictionaries(NAMES, AMOUNTS, max_size=4))
def test_long_resources_are_read_as_short_ones_are(requests: dict[str, str | int | float | None]) -> None:
    short = {"name": "main", "resources": {"requests": requests}}
    long = {"name": "main", "resources": {"comment": "x" * 2000, "requests": requests}}
    pods = [decoded({"spec": {"containers": [each]}}) for each in (short, long)]
    assert size_or_error(pods[0]) == size_or_error(pods[1])
    assert markers_of(pods[0]) == markers_of(pods[1])


@pytest.mark.rule("RES-4", "DESIGN-6")
def test_markers_come_from_all_containers() -> None:
    markers = [{"resources": {"requests": {f"paddock.dev/{name}": "1"}}} for name in ("preempt", "bind")]
    both = decoded({"spec": {"containers": [markers[0], {}], "initContainers": [markers[1]]}})
    assert markers_of(both) == ("paddock.dev/bind", "paddock.dev/preempt")
    assert markers_of(decoded({"spec": {"containers": [markers[0]]}})) == ("paddock.dev/preempt",)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "resources", [5, [], {"requests": []}, {"requests": {"cpu": []}}, {"requests": {"cpu": True}}]
)
def test_what_is_no_resources_is_an_error(resources: object, count: int) -> None:
    pod = decoded({"spec": {"containers": [{"resources": resources}] * count}})
    with pytest.raises(ValueError, match="Expected"):
        pod_size(pod)


@pytest.mark.parametrize("resources", [None, {}, {"requests": None}, {"requests": {}}])
def test_a_container_without_requests_has_the_size_of_one_pod(resources: object) -> None:
    pod = decoded({"spec": {"containers": [{"resources": resources}]}})
    assert pod_size(pod) == Resource({"pods": 1})
    assert markers_of(pod) == ()
