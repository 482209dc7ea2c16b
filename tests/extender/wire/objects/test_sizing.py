"""The size of a pod and of a node, read from their JSON (RES-3 to RES-8)."""

import json
from typing import Any

import msgspec
import pytest

from core.errors import QuantityError
from core.quantity import INT64_MAX
from core.resource import ZERO, Resource
from extender.wire.objects.node import WireNode
from extender.wire.objects.pod import WirePod
from extender.wire.objects.sizing import node_size, pod_size

MEGA = 10**6


def requests(**amounts: Any) -> dict[str, Any]:
    """A ``resources`` block: ``requests(cpu="1", gpu=1)``; ``gpu`` stands for an extended resource."""
    return {"requests": {"nvidia.com/gpu" if name == "gpu" else name: text for name, text in amounts.items()}}


def container(name: str = "main", *, policy: str | None = None, **amounts: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "resources": requests(**amounts)}
    return made if policy is None else {**made, "restartPolicy": policy}


def sidecar(name: str, **amounts: Any) -> dict[str, Any]:
    return container(name, policy="Always", **amounts)


def sized(
    *containers: dict[str, Any],
    init: list[dict[str, Any]] | None = None,
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, int]:
    """The size of a pod of these containers, as a plain dictionary without its ``pods``."""
    body = {"spec": {"containers": list(containers), "initContainers": init, **spec}, "status": status or {}}
    size = dict(pod_size(decoded(body)).items())
    assert size.pop("pods") == 1
    return size


def decoded(body: dict[str, Any]) -> WirePod:
    return msgspec.json.decode(json.dumps(body), type=WirePod)


def size_of_node(allocatable: dict[str, Any] | None) -> Resource:
    body = json.dumps({"metadata": {"name": "n1"}, "status": {"allocatable": allocatable}})
    return node_size(msgspec.json.decode(body, type=WireNode))


# --- conversion -------------------------------------------------------------------------------------


@pytest.mark.rule("RES-3")
def test_cpu_becomes_vcore_and_every_other_name_stays() -> None:
    assert sized(container(cpu="1500m", memory="1Gi", gpu="2")) == {
        **{"vcore": 1500, "memory": 2**30, "nvidia.com/gpu": 2}
    }


@pytest.mark.rule("RES-3")
def test_amounts_round_up() -> None:
    assert sized(container(cpu="100u", memory="1500m")) == {"vcore": 1, "memory": 2}


@pytest.mark.rule("RES-3")
def test_limits_are_not_counted() -> None:
    assert sized({"name": "main", "resources": {"limits": {"cpu": "4"}, "requests": {"memory": "1"}}}) == {
        "memory": 1
    }


@pytest.mark.rule("RES-3")
def test_marker_resources_are_dropped_everywhere() -> None:
    marked = {"requests": {"cpu": "1", "paddock.dev/filter": "1"}}
    status = {
        "containerStatuses": [
            {"name": "c", "allocatedResources": {"paddock.dev/bind": "1"}, "resources": marked}
        ]
    }
    assert sized(
        {"name": "c", "resources": marked},
        init=[{"name": "i", "resources": marked}],
        status=status,
        overhead={"paddock.dev/preempt": "1"},
        resources={"requests": {"paddock.dev/preempt": "1"}},
    ) == {"vcore": 1000}
    assert size_of_node({"paddock.dev/bind": "1000"}) == ZERO


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        pytest.param("1", 1, id="text"),
        pytest.param(3, 3, id="whole number"),
        pytest.param(1.5, 2, id="fraction"),
        pytest.param(1e30, INT64_MAX, id="number with an exponent"),
        pytest.param(2**80, INT64_MAX, id="number beyond 64 bits"),
        pytest.param(None, 0, id="null is zero"),
        pytest.param(" 7\n", 7, id="text with blanks around"),
    ],
)
def test_a_quantity_is_read_as_kubernetes_decodes_it(written: Any, amount: int) -> None:
    assert sized(container(memory=written)) == {"memory": amount}


# --- the walk over the containers -------------------------------------------------------------------


@pytest.mark.rule("RES-6")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"spec": {"containers": [{"name": "main"}]}}, id="container without resources"),
        pytest.param({"spec": {"containers": [{"name": "main", "resources": {}}]}}, id="empty resources"),
        pytest.param({"spec": {"containers": [{"resources": {"requests": None}}]}}, id="null requests"),
        pytest.param({"spec": {"containers": None, "initContainers": None}}, id="null containers"),
        pytest.param({}, id="empty object"),
    ],
)
def test_a_best_effort_pod_is_one_pod(body: dict[str, Any]) -> None:
    assert pod_size(decoded(body)) == Resource({"pods": 1})


@pytest.mark.rule("RES-6")
def test_an_explicit_zero_request_stays() -> None:
    assert sized(container(cpu="0", memory="1")) == {"vcore": 0, "memory": 1}


@pytest.mark.rule("RES-4")
@pytest.mark.parametrize(
    ("init", "mains", "expected"),
    [
        pytest.param(
            [],
            [container(cpu="1"), container("second", cpu="500m", gpu=1)],
            {"vcore": 1500, "nvidia.com/gpu": 1},
            id="containers add up",
        ),
        pytest.param(
            [container("i", cpu="3")], [container(cpu="1")], {"vcore": 3000}, id="a larger init container"
        ),
        pytest.param(
            [container("i", cpu="1")], [container(cpu="3")], {"vcore": 3000}, id="a smaller init container"
        ),
        pytest.param(
            [container("i", cpu="2"), container("j", cpu="3")],
            [container(cpu="1")],
            {"vcore": 3000},
            id="init containers run one after another",
        ),
        pytest.param(
            [container("i", gpu=1)],
            [container(cpu="1")],
            {"vcore": 1000, "nvidia.com/gpu": 1},
            id="the larger side is taken per type",
        ),
        pytest.param(
            [sidecar("s", memory="1024M"), container("i", memory="256M")],
            [container(memory="512M")],
            {"memory": 1536 * MEGA},
            id="a sidecar runs beside main and later init containers",
        ),
        pytest.param(
            [container("i", memory="2G"), sidecar("s", memory="1G")],
            [container(memory="512M")],
            {"memory": 2000 * MEGA},
            id="a sidecar does not run beside earlier init containers",
        ),
        pytest.param(
            [
                sidecar("s1", memory="1024M", cpu="1"),
                container("i2", memory="4096M", cpu="1", gpu=1),
                sidecar("s3", memory="512", cpu="100m"),
            ],
            [container(memory="512M", cpu="1"), container("second", memory="512M", cpu="1")],
            {"memory": 5120 * MEGA, "vcore": 3100, "nvidia.com/gpu": 1},
            id="sidecar, init, sidecar, two mains",
        ),
        pytest.param(
            [container("i", policy="Never", cpu="2")], [], {"vcore": 2000}, id="only Always makes a sidecar"
        ),
    ],
)
def test_init_containers_and_sidecars(
    init: list[dict[str, Any]], mains: list[dict[str, Any]], expected: dict[str, int]
) -> None:
    assert sized(*mains, init=init) == expected


@pytest.mark.rule("RES-4")
@pytest.mark.parametrize(
    ("level", "expected"),
    [
        pytest.param(
            {"cpu": "4"},
            {"vcore": 4000, "memory": 9, "nvidia.com/gpu": 1},
            id="replaces a larger or smaller sum",
        ),
        pytest.param({"memory": "1"}, {"vcore": 1000, "memory": 1, "nvidia.com/gpu": 1}, id="may lower"),
        pytest.param(
            {"memory": "0"}, {"vcore": 1000, "memory": 0, "nvidia.com/gpu": 1}, id="an explicit zero replaces"
        ),
        pytest.param(
            {"hugepages-2Mi": "4Mi"},
            {"vcore": 1000, "memory": 9, "nvidia.com/gpu": 1, "hugepages-2Mi": 4 * 2**20},
            id="hugepages of any size",
        ),
        pytest.param(
            {"nvidia.com/gpu": "5"},
            {"vcore": 1000, "memory": 9, "nvidia.com/gpu": 1},
            id="others are ignored",
        ),
        pytest.param({}, {"vcore": 1000, "memory": 9, "nvidia.com/gpu": 1}, id="none"),
        pytest.param(None, {"vcore": 1000, "memory": 9, "nvidia.com/gpu": 1}, id="null"),
    ],
)
def test_pod_level_requests(level: dict[str, str] | None, expected: dict[str, int]) -> None:
    assert sized(container(cpu="1", memory="9", gpu=1), resources={"requests": level}) == expected


@pytest.mark.rule("RES-4")
def test_overhead_comes_on_top_of_everything() -> None:
    assert sized(
        container(cpu="1"),
        init=[container("i", cpu="2")],
        resources={"requests": {"cpu": "3"}},
        overhead={"cpu": "250m", "memory": "64Mi"},
    ) == {"vcore": 3250, "memory": 64 * 2**20}


def test_sums_saturate() -> None:
    assert sized(container(memory="7Ei"), container("second", memory="7Ei")) == {"memory": INT64_MAX}


# --- resizing in place ------------------------------------------------------------------------------

OLD = requests(memory="3000M", cpu="3")
NEW = requests(memory="6000M", cpu="1500m")


def resized(*, allocated: Any = OLD, in_effect: Any = OLD, **status: Any) -> dict[str, int]:
    reported: dict[str, Any] = {"name": "main", "resources": in_effect}
    if allocated is not None:
        reported["allocatedResources"] = allocated["requests"]
    body = {"containerStatuses": [reported], **status}
    return sized({"name": "main", "resources": NEW}, status=body)


@pytest.mark.rule("RES-5")
@pytest.mark.parametrize("status", [{}, {"resize": "Proposed"}, {"resize": "Deferred"}])
def test_a_pending_resize_takes_the_larger_of_old_and_new(status: dict[str, Any]) -> None:
    assert resized(**status) == {"memory": 6000 * MEGA, "vcore": 3000}


@pytest.mark.rule("RES-5")
@pytest.mark.parametrize(
    "status",
    [
        pytest.param({"resize": "Infeasible"}, id="status.resize"),
        pytest.param(
            {"conditions": [{"type": "PodScheduled"}, {"type": "PodResizePending", "reason": "Infeasible"}]},
            id="condition",
        ),
    ],
)
def test_an_infeasible_resize_keeps_the_old_size(status: dict[str, Any]) -> None:
    assert resized(**status) == {"memory": 3000 * MEGA, "vcore": 3000}
    assert resized(allocated=NEW, **status) == {"memory": 3000 * MEGA, "vcore": 3000}, (
        "allocated does not count"
    )


@pytest.mark.rule("RES-5")
def test_an_infeasible_resize_without_status_resources_counts_as_pending() -> None:
    assert resized(in_effect=None, resize="Infeasible") == {"memory": 6000 * MEGA, "vcore": 3000}


@pytest.mark.rule("RES-5")
def test_a_deferred_resize_by_condition_is_pending() -> None:
    conditions = [
        {"type": "PodResizePending", "reason": "Deferred"},
        {"type": "Other", "reason": "Infeasible"},
    ]
    assert resized(conditions=conditions) == {"memory": 6000 * MEGA, "vcore": 3000}


@pytest.mark.rule("RES-5")
def test_a_resize_that_is_done_takes_the_new_size() -> None:
    assert resized(allocated=NEW, in_effect=NEW) == {"memory": 6000 * MEGA, "vcore": 1500}
    assert resized(allocated=None, in_effect=NEW) == {"memory": 6000 * MEGA, "vcore": 1500}


@pytest.mark.rule("RES-5")
def test_status_of_sidecars_counts_and_that_of_unknown_containers_does_not() -> None:
    status = {
        "initContainerStatuses": [{"name": "s", "resources": requests(cpu="2")}],
        "containerStatuses": [{"name": "other", "resources": requests(cpu="50")}],
    }
    assert sized(container(cpu="1"), init=[sidecar("s", cpu="1")], status=status) == {"vcore": 3000}


# --- nodes ------------------------------------------------------------------------------------------


@pytest.mark.rule("RES-7")
def test_a_node_has_what_it_can_allocate() -> None:
    assert size_of_node({"cpu": "3920m", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "0"}) == Resource(
        {"vcore": 3920, "memory": 2**34, "pods": 110, "nvidia.com/gpu": 0}
    )


@pytest.mark.parametrize("allocatable", [None, {}])
def test_a_node_that_tells_nothing_has_nothing(allocatable: dict[str, str] | None) -> None:
    assert size_of_node(allocatable) == ZERO


# --- sharing and errors -----------------------------------------------------------------------------


def test_pods_that_ask_the_same_share_one_size() -> None:
    one = pod_size(decoded({"spec": {"containers": [container(cpu="1", memory="1Gi")]}}))
    assert one is pod_size(decoded({"spec": {"containers": [container("x", memory="1024Mi", cpu="1000m")]}}))
    assert one is pod_size(decoded({"spec": {"containers": [container(cpu="1"), container(memory="1Gi")]}}))


def test_a_pod_with_very_many_names_is_read_all_the_same() -> None:
    many = {f"example.com/r{number}": number for number in range(500)}
    assert sized({"name": "main", "resources": {"requests": many}}) == many


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(
            {"spec": {"containers": [container("app", cpu="abc")]}},
            r"^container 'app', cpu: quantity 'abc': must be a number",
            id="unreadable request",
        ),
        pytest.param(
            {"spec": {"containers": [container("app", memory="-1")]}},
            r"^container 'app', memory: quantity '-1': is negative$",
            id="negative request",
        ),
        pytest.param(
            {"spec": {"containers": [container("app", memory=-1.5)]}},
            r"^container 'app', memory: quantity '-1.5': is negative$",
            id="negative number",
        ),
        pytest.param(
            {"spec": {"initContainers": [container("setup", cpu="")]}},
            r"^container 'setup', cpu: quantity '': ",
            id="empty text in an init container",
        ),
        pytest.param(
            {
                "spec": {"containers": [container("app", cpu="1")]},
                "status": {"containerStatuses": [{"name": "app", "allocatedResources": {"cpu": "-1"}}]},
            },
            r"^container 'app', cpu: quantity '-1': is negative$",
            id="negative allocation",
        ),
        pytest.param(
            {"spec": {"overhead": {"cpu": "1x"}}}, r"^overhead, cpu: quantity '1x': ", id="overhead"
        ),
        pytest.param(
            {"spec": {"resources": {"requests": {"cpu": "1x"}}}},
            r"^pod, cpu: quantity '1x': ",
            id="pod level",
        ),
        pytest.param(
            {"spec": {"containers": [container("app", cpu="1" * 100_000)]}},
            r"^container 'app', cpu: quantity '1{40}…': is longer",
            id="a text too long to read",
        ),
    ],
)
def test_a_bad_quantity_names_its_place(body: dict[str, Any], message: str) -> None:
    for _ in range(2):  # Again, since a cache could contain a wrong result.
        with pytest.raises(QuantityError, match=message):
            pod_size(decoded(body))


def test_a_bad_quantity_of_a_node_names_the_node() -> None:
    with pytest.raises(QuantityError, match=r"^node 'n1', memory: quantity '-5': is negative$"):
        size_of_node({"memory": "-5"})


@pytest.mark.rule("RES-3")
def test_a_bad_quantity_of_a_marker_resource_does_not_matter() -> None:
    assert sized({"name": "c", "resources": {"requests": {"paddock.dev/filter": "many"}}}) == {}
