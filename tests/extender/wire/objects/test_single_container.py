"""The size of a single container, found by its requests, is that of the general way (RES-4, RES-6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import QuantityError
from core.resource import Resource
from extender.wire.objects.pod import WirePod
from extender.wire.objects.sizing import pod_size
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
