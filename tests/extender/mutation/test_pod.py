"""Objects of another shape than a pod's."""

from typing import Any

import pytest

from extender.mutation.pod import pod_from
from extender.mutation.review import BadReview
from tests.extender.mutation.reviews import pod, request_of


@pytest.mark.parametrize(
    "thing",
    [
        None,
        [],
        "pod",
        {"metadata": None, "spec": {}},
        {"metadata": {"labels": {"a": 1}}, "spec": {}},
        {"metadata": {"labels": ["a"]}, "spec": {}},
        {"metadata": {}, "spec": {"containers": {}}},
        {"metadata": {}, "spec": {"containers": [None]}},
        {"metadata": {}, "spec": {"schedulerName": 7}},
        {"metadata": {}, "spec": {"schedulingGates": "paddock.dev/queue"}},
    ],
    ids=repr,
)
def test_another_shape_is_refused(thing: Any) -> None:
    with pytest.raises(BadReview, match="no pod"):
        pod_from(request_of(thing))


def test_a_pod_without_anything_is_read() -> None:
    read = pod_from(request_of({}))
    assert (read.labels, read.spec.containers, read.spec.scheduler_name) == ({}, [], "default-scheduler")
    assert pod_from(request_of(pod())).spec.containers[0].resources is not None
