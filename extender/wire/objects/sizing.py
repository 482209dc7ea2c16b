"""Sizes of pods and nodes as core `Resource` values (RES-3 to RES-7).

Units: millicores for ``vcore`` (``cpu`` in Kubernetes), and the base unit for every other resource. Marker
resources (``paddock.dev/…``) only decide which verbs kube-scheduler calls and are never part of a size.

Many pods have the same requests, so results are cached: equal requests give the same object.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from core.errors import QuantityError
from core.quantity import canonical, kubernetes_amount
from core.resource import ZERO, Resource
from extender.wire.objects.node import WireNode
from extender.wire.objects.pod import (
    Container,
    ContainerStatus,
    PodSpec,
    Quantities,
    Quantity,
    WirePod,
    WireResources,
)

MARKER_PREFIX: Final = "paddock.dev/"
FILTER_MARKER: Final = "paddock.dev/filter"

# More distinct sizes than a busy cluster has.
_CACHED_SIZES: Final = 8192
# An object with more requests is unusual. It is not cached, so that it cannot displace common sizes.
_MOST_REMEMBERED_NAMES: Final = 32
_LONGEST_REMEMBERED: Final = 1024
_RESOURCES: Final[msgspec.json.Decoder[WireResources | None]] = msgspec.json.Decoder(WireResources | None)

MOST_NAMES: Final = 512
"""Kinds of resources of one pod that are read separately."""

OTHERS: Final = "paddock.dev/other-resources"
"""Resource that stands for all other kinds. Its amount is the number of these kinds."""

_OF_EVERY_POD: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_has_digits: Final = re.compile(r"[1-9]").search
_ONE_POD: Final = Resource({"pods": 1})
_POD_LEVEL_NAMES: Final = frozenset({"cpu", "memory"})
_POD_LEVEL_PREFIX: Final = "hugepages-"
_NO_STATUSES: Final[Mapping[str, ContainerStatus]] = {}


def pod_size(pod: WirePod) -> Resource:
    """Size of a pod in its queue and on its node: its requests, and ``pods`` 1 (RES-3 to RES-6).

    Kinds of resources beyond `MOST_NAMES` count as `OTHERS`, which no node has, so no node fits (F-17).
    Explicit zero requests stay as zero entries. Raises ``QuantityError`` for an invalid or negative quantity,
    with the container and the resource.
    """
    if (written := _only_resources(pod)) is not None:
        try:
            if (alone := _size_alone(written)) is not None:
                return alone
        except QuantityError:
            # Below, the error gets the name of the container.
            pass
    values = _ContainerValues(pod)
    size = _containers_size(pod, values)
    if pod.spec.resources is not None and pod.spec.resources.requests:
        size = _with_pod_level(size, pod.spec.resources.requests)
    if pod.spec.overhead:
        size += amounts_of(pod.spec.overhead, "overhead")
    if values.others:
        size += Resource({OTHERS: values.others})
    return _as_one_pod(size)


def _only_resources(pod: WirePod) -> bytes | None:
    """Resources, as they are written, of a pod that has one container and no other amounts, as most pods.

    None for any other pod.
    """
    spec, status = pod.spec, pod.status
    containers = spec.containers
    if (
        not containers
        or len(containers) != 1
        or spec.init_containers
        or status.container_statuses
        or status.init_container_statuses
        or spec.resources is not None
        or spec.overhead
    ):
        return None
    written = bytes(containers[0].resources)
    return written if 0 < len(written) <= _LONGEST_REMEMBERED else None


def _resources_of(container: Container) -> WireResources | None:
    """Resources of a container. Read only."""
    written = bytes(container.resources)
    if not written:
        return None
    return _RESOURCES.decode(written) if len(written) > _LONGEST_REMEMBERED else _resources_in(written)


@lru_cache(maxsize=_CACHED_SIZES)
def _resources_in(written: bytes) -> WireResources | None:
    return _RESOURCES.decode(written)


def node_size(node: WireNode) -> Resource:
    """Size of a node: its ``status.allocatable`` (RES-7).

    Raises ``QuantityError`` for an invalid or negative quantity, with the node and the resource.
    """
    return amounts_of(node.status.allocatable, "node", node.metadata.name)


def _containers_size(pod: WirePod, values: "_ContainerValues") -> Resource:
    """Sum of the containers, or the largest need of the init containers if that is larger (RES-4 a and b).

    Cost: linear in the number of requests.
    """
    containers = pod.spec.containers or ()
    if len(containers) == 1:
        running = values.of(containers[0])
    else:
        running = Resource.sum_of(*map(values.of, containers))
    return _with_init(running, pod.spec.init_containers, values) if pod.spec.init_containers else running


def _with_init(running: Resource, containers: Sequence[Container], values: "_ContainerValues") -> Resource:
    """Size with init containers. Each of them runs together with the sidecars that were started before it."""
    sidecars: dict[str, int] = {}
    worst: dict[str, int] = {}
    for container in containers:
        value = values.of(container)
        for name, amount in value.items():
            need = sidecars.get(name, 0) + amount
            worst[name] = max(worst.get(name, 0), need)
            if container.restart_policy == "Always":
                sidecars[name] = need
    return (running + Resource(sidecars)).largest(Resource(worst))


class _ContainerValues:
    """Sizes of the containers of one pod (RES-5).

    ``others``: number of kinds of resources that are not read.
    """

    __slots__ = ("_infeasible", "_names", "_statuses", "others")

    def __init__(self, pod: WirePod) -> None:
        status = pod.status
        self._names, self.others = _names_read(pod)
        self._statuses = _by_name(status.container_statuses, status.init_container_statuses)
        self._infeasible = bool(self._statuses) and _resize_is_infeasible(pod)

    def of(self, container: Container) -> Resource:
        """The largest of requested, allocated and actual resources.

        After an infeasible resize, only the actual resources count.
        """
        name, status = container.name, self._statuses.get(container.name)
        in_effect = status.resources if status is not None else None
        if in_effect is not None and self._infeasible:
            return _requested(in_effect, name)
        value = _requested(_resources_of(container), name, self._names)
        if status is not None and status.allocated_resources:
            value = value.largest(amounts_of(status.allocated_resources, "container", name))
        return value if in_effect is None else value.largest(_requested(in_effect, name))


def _requested(
    resources: WireResources | None, container: str, names: frozenset[str] | None = None
) -> Resource:
    """Requests of a container. ``names``: the resources to read, None for all."""
    if resources is None:
        return ZERO
    requests = resources.requests
    if names is not None and requests:
        requests = {name: amount for name, amount in requests.items() if name in names}
    return amounts_of(requests, "container", container)


def _names_read(pod: WirePod) -> tuple[frozenset[str] | None, int]:
    """The kinds of resources to read from a pod, None for all, and the number of the remaining kinds.

    Zero amounts are ignored if the pod has more than `MOST_NAMES` requests.
    """
    spec = pod.spec
    found = [resources.requests for each in _containers_of(spec) if (resources := _resources_of(each))]
    if sum([len(each) for each in found if each]) <= MOST_NAMES:
        return None, 0
    pairs = (pair for each in found for pair in (each or {}).items())
    names = {name for name, amount in pairs if _has_digits(str(amount))}
    read = sorted(names, key=lambda name: (name not in _OF_EVERY_POD, name))[:MOST_NAMES]
    return frozenset(read), len(names) - len(read)


def _by_name(*groups: Iterable[ContainerStatus] | None) -> Mapping[str, ContainerStatus]:
    if not any(groups):
        return _NO_STATUSES
    return {status.name: status for group in groups if group for status in group}


def _resize_is_infeasible(pod: WirePod) -> bool:
    """True if the kubelet has declared a resize infeasible (RES-5)."""
    # Up to Kubernetes 1.32 this is `status.resize`, later a condition.
    return pod.status.resize == "Infeasible" or any(
        condition.type == "PodResizePending" and condition.reason == "Infeasible"
        for condition in pod.status.conditions or ()
    )


def markers_of(pod: WirePod) -> tuple[str, ...]:
    """Marker resources that a pod requests, sorted."""
    containers = _containers_of(pod.spec)
    if len(containers) == 1:
        return _markers_in(containers[0])
    markers = {name for container in containers for name in _markers_in(container)}
    return _one_of_each(tuple(sorted(markers))) if markers else ()


def _markers_in(container: Container) -> tuple[str, ...]:
    written = bytes(container.resources)
    return _read_markers(written) if len(written) > _LONGEST_REMEMBERED else _markers_written(written)


def _read_markers(written: bytes) -> tuple[str, ...]:
    resources = _RESOURCES.decode(written) if written else None
    if resources is None or not resources.requests:
        return ()
    # The API server copies limits of extended resources into requests.
    return tuple(sorted(name for name in resources.requests if name.startswith(MARKER_PREFIX)))


_markers_written: Final = lru_cache(maxsize=_CACHED_SIZES)(_read_markers)
"""Markers as `_read_markers` finds them, by what is written."""


def _containers_of(spec: PodSpec) -> Sequence[Container]:
    """All containers of a pod, init containers last."""
    containers = spec.containers or ()
    return [*containers, *spec.init_containers] if spec.init_containers else containers


def asks_filter(markers: tuple[str, ...]) -> bool:
    """True if kube-scheduler calls filter for a pod: it has no marker, or the marker for filter.

    Source: ``IsInterested`` in pkg/scheduler/extender.go.
    """
    return not markers or FILTER_MARKER in markers


@lru_cache(maxsize=256)
def _one_of_each(markers: tuple[str, ...]) -> tuple[str, ...]:
    """Shared value for all pods with equal markers."""
    return markers


def _with_pod_level(size: Resource, requests: Quantities) -> Resource:
    """Size with pod-level requests, which replace the sum of the containers where allowed (RES-4 c)."""
    replacing = {
        name: amount
        for name, amount in requests.items()
        if name in _POD_LEVEL_NAMES or name.startswith(_POD_LEVEL_PREFIX)
    }
    return Resource({**dict(size.items()), **dict(amounts_of(replacing, "pod").items())})


def amounts_of(quantities: Quantities | None, place: str, name: str = "") -> Resource:
    """Amounts of a ResourceList, without markers.

    Raises ``QuantityError``, with the place and the resource.
    """
    if not quantities:
        return ZERO
    entries = tuple(quantities.items())
    try:
        return _remembered(entries) if len(entries) <= _MOST_REMEMBERED_NAMES else _read(entries)
    except QuantityError as error:
        raise error.inside(f"{place} {name!r}" if name else place) from None


def _read(entries: tuple[tuple[str, Quantity], ...]) -> Resource:
    return Resource(
        {
            canonical(name): _amount(name, quantity)
            for name, quantity in entries
            if not name.startswith(MARKER_PREFIX)
        }
    )


_remembered: Final = lru_cache(maxsize=_CACHED_SIZES)(_read)


def _amount(name: str, quantity: Quantity) -> int:
    if quantity is None:
        return 0
    # Kubernetes' decoder reads a number as its text, and trims spaces.
    text = quantity.strip() if isinstance(quantity, str) else repr(quantity)
    try:
        return kubernetes_amount(name, text)
    except QuantityError as error:
        raise error.inside(name) from None


@lru_cache(maxsize=_CACHED_SIZES)
def _size_alone(written: bytes) -> Resource | None:
    """Size of a pod with these resources only; None without requests, or with many.

    Raises ``QuantityError``.
    """
    resources = _RESOURCES.decode(written)
    requests = resources.requests if resources is not None else None
    if not requests or len(requests) > _MOST_REMEMBERED_NAMES:
        return None
    return _as_one_pod(_remembered(tuple(requests.items())))


@lru_cache(maxsize=_CACHED_SIZES)
def _as_one_pod(size: Resource) -> Resource:
    """Size plus one pod (RES-6). Equal sizes give the same object."""
    return size + _ONE_POD
