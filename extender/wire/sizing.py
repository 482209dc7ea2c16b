"""How large a pod or a node on the wire is, as a core `Resource` (RES-3 to RES-7).

Units: millicores for ``vcore`` (Kubernetes' ``cpu``), the base unit for every other resource. Marker
resources (``paddock.dev/…``) only steer which verbs kube-scheduler calls and are never part of a size.

Requests repeat from pod to pod, so what was read once is shared: equal requests give the same object.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from core.errors import QuantityError
from core.quantity import canonical, kubernetes_amount
from core.resource import ZERO, Resource
from extender.wire.node import WireNode
from extender.wire.pod import Container, ContainerStatus, Quantities, Quantity, Resources, WirePod

MARKER_PREFIX: Final = "paddock.dev/"
FILTER_MARKER: Final = "paddock.dev/filter"

# More distinct sizes than a busy cluster has; a size that falls out is only read or stored once more.
_KEPT_SIZES: Final = 8192
# An object with more requests than this is odd: it is read, but does not push out the common ones.
_MOST_REMEMBERED_NAMES: Final = 32

_ONE_POD: Final = Resource({"pods": 1})
_POD_LEVEL_NAMES: Final = frozenset({"cpu", "memory"})
_POD_LEVEL_PREFIX: Final = "hugepages-"


def pod_size(pod: WirePod) -> Resource:
    """What a pod takes from its queue and its node (RES-3 to RES-6): its requests, and ``pods`` 1.

    Explicit zero requests stay as zero entries. Raises ``QuantityError``, naming the container and the
    resource, for a quantity that cannot be read or is negative.
    """
    size = _containers_size(pod)
    if pod.spec.resources is not None and pod.spec.resources.requests:
        size = _with_pod_level(size, pod.spec.resources.requests)
    if pod.spec.overhead:
        size += amounts_of(pod.spec.overhead, "overhead")
    return _as_one_pod(size)


def node_size(node: WireNode) -> Resource:
    """What a node has to give: its ``status.allocatable`` (RES-7).

    Raises ``QuantityError``, naming the node and the resource, as `pod_size` does.
    """
    return amounts_of(node.status.allocatable, "node", node.metadata.name)


def _containers_size(pod: WirePod) -> Resource:
    """RES-4 a and b: the containers together, or what the init containers need at their worst moment."""
    values = _ContainerValues(pod)
    running = ZERO
    for container in pod.spec.containers or ():
        # The common pod has one container: its value is the sum.
        running = values.of(container) if running is ZERO else running + values.of(container)
    if not pod.spec.init_containers:
        return running
    sidecars = worst = ZERO
    for container in pod.spec.init_containers:
        need = sidecars + values.of(container)
        if container.restart_policy == "Always":
            sidecars = need
        worst = worst.largest(need)
    return (running + sidecars).largest(worst)


class _ContainerValues:
    """What each container of one pod counts for (RES-5)."""

    __slots__ = ("_infeasible", "_statuses")

    def __init__(self, pod: WirePod) -> None:
        status = pod.status
        self._statuses = _by_name(status.container_statuses, status.init_container_statuses)
        self._infeasible = bool(self._statuses) and _resize_is_infeasible(pod)

    def of(self, container: Container) -> Resource:
        """The largest of asked, allocated and in effect; after an infeasible resize, what is in effect."""
        name, status = container.name, self._statuses.get(container.name)
        in_effect = status.resources if status is not None else None
        if in_effect is not None and self._infeasible:
            return _requested(in_effect, name)
        value = _requested(container.resources, name)
        if status is not None:
            value = value.largest(amounts_of(status.allocated_resources, "container", name))
        return value if in_effect is None else value.largest(_requested(in_effect, name))


def _requested(resources: Resources | None, container: str) -> Resource:
    return amounts_of(resources.requests, "container", container) if resources is not None else ZERO


def _by_name(*groups: Iterable[ContainerStatus] | None) -> dict[str, ContainerStatus]:
    return {status.name: status for group in groups if group for status in group}


def _resize_is_infeasible(pod: WirePod) -> bool:
    """Both spellings: ``status.resize`` up to Kubernetes 1.32, the condition since (RES-5)."""
    return pod.status.resize == "Infeasible" or any(
        condition.type == "PodResizePending" and condition.reason == "Infeasible"
        for condition in pod.status.conditions or ()
    )


def markers_of(pod: WirePod) -> tuple[str, ...]:
    """The marker resources that a pod asks for, sorted; defaulting copies limits into requests."""
    spec = pod.spec
    markers = {
        name
        for container in (*(spec.containers or ()), *(spec.init_containers or ()))
        if container.resources is not None
        for name in container.resources.requests or ()
        if name.startswith(MARKER_PREFIX)
    }
    return _one_of_each(tuple(sorted(markers))) if markers else ()


def asks_filter(markers: tuple[str, ...]) -> bool:
    """Whether kube-scheduler calls filter for a pod: one with markers of ours, but not that one, is left out.

    As ``IsInterested`` looks at it (pkg/scheduler/extender.go).
    """
    return not markers or FILTER_MARKER in markers


@lru_cache(maxsize=256)
def _one_of_each(markers: tuple[str, ...]) -> tuple[str, ...]:
    """One value for all pods that are marked alike."""
    return markers


def _with_pod_level(size: Resource, requests: Quantities) -> Resource:
    """RES-4 c: the pod's own requests replace the sum of its containers, for names that may stand there."""
    replacing = {
        name: amount
        for name, amount in requests.items()
        if name in _POD_LEVEL_NAMES or name.startswith(_POD_LEVEL_PREFIX)
    }
    return Resource({**dict(size.items()), **dict(amounts_of(replacing, "pod").items())})


def amounts_of(quantities: Quantities | None, place: str, name: str = "") -> Resource:
    """A ResourceList without markers. Raises ``QuantityError``, naming where it stands and the resource."""
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


_remembered = lru_cache(maxsize=_KEPT_SIZES)(_read)


def _amount(name: str, quantity: Quantity) -> int:
    if quantity is None:
        return 0
    # Kubernetes' decoder reads a number as its text and trims either.
    text = quantity.strip() if isinstance(quantity, str) else repr(quantity)
    try:
        return kubernetes_amount(name, text)
    except QuantityError as error:
        raise error.inside(name) from None


@lru_cache(maxsize=_KEPT_SIZES)
def _as_one_pod(size: Resource) -> Resource:
    """RES-6: every pod counts as one. The cache makes equal sizes one object."""
    return size + _ONE_POD
