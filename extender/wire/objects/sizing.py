"""The size of a pod or a node on the wire, as a core `Resource` (RES-3 to RES-7).

Units: millicores for ``vcore`` (Kubernetes' ``cpu``), the base unit for every other resource. Marker
resources (``paddock.dev/…``) only steer which verbs kube-scheduler calls and are never part of a size.

Requests repeat from pod to pod, so what was read once is shared: equal requests give the same object.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from core.errors import QuantityError
from core.quantity import canonical, kubernetes_amount
from core.resource import ZERO, Resource
from extender.wire.objects.node import WireNode
from extender.wire.objects.pod import Container, ContainerStatus, Quantities, Quantity, WirePod, WireResources

MARKER_PREFIX: Final = "paddock.dev/"
FILTER_MARKER: Final = "paddock.dev/filter"

# More distinct sizes than a busy cluster has; a size that falls out is only read or stored once more.
_KEPT_SIZES: Final = 8192
# An object with more requests than this is odd: it is read, but does not push out the common ones.
_MOST_REMEMBERED_NAMES: Final = 32

MOST_NAMES: Final = 512
"""Kinds of resources of one pod that are told apart."""

OTHERS: Final = "paddock.dev/other-resources"
"""What stands for all others; the amount is their number."""

_OF_EVERY_POD: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_has_digits: Final = re.compile(r"[1-9]").search
_ONE_POD: Final = Resource({"pods": 1})
_POD_LEVEL_NAMES: Final = frozenset({"cpu", "memory"})
_POD_LEVEL_PREFIX: Final = "hugepages-"


def pod_size(pod: WirePod) -> Resource:
    """What a pod takes from its queue and its node (RES-3 to RES-6): its requests, and ``pods`` 1.

    Of a pod with more than `MOST_NAMES` kinds of resources, which no node has, those beyond are counted as
    `OTHERS`, so that it still fits nowhere (F-17).
    Explicit zero requests stay as zero entries. Raises ``QuantityError``, naming the container and the
    resource, for a quantity that cannot be read or is negative.
    """
    values = _ContainerValues(pod)
    size = _containers_size(pod, values)
    if pod.spec.resources is not None and pod.spec.resources.requests:
        size = _with_pod_level(size, pod.spec.resources.requests)
    if pod.spec.overhead:
        size += amounts_of(pod.spec.overhead, "overhead")
    if values.others:
        size += Resource({OTHERS: values.others})
    return _as_one_pod(size)


def node_size(node: WireNode) -> Resource:
    """What a node has to give: its ``status.allocatable`` (RES-7).

    Raises ``QuantityError``, naming the node and the resource, as `pod_size` does.
    """
    return amounts_of(node.status.allocatable, "node", node.metadata.name)


def _containers_size(pod: WirePod, values: "_ContainerValues") -> Resource:
    """RES-4 a and b: the containers together, or what the init containers need at their worst moment.

    The common pod has one container, whose value is the sum. Cost: what is written, however many there are.
    """
    containers = pod.spec.containers or ()
    if len(containers) == 1:
        running = values.of(containers[0])
    else:
        running = Resource.sum_of(*map(values.of, containers))
    return _with_init(running, pod.spec.init_containers, values) if pod.spec.init_containers else running


def _with_init(running: Resource, containers: Sequence[Container], values: "_ContainerValues") -> Resource:
    """Each init container needs its own beside the sidecars before it, which all run in the end."""
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
    """What each container of one pod counts for (RES-5)."""

    __slots__ = ("_infeasible", "_names", "_statuses", "others")

    def __init__(self, pod: WirePod) -> None:
        status = pod.status
        self._names, self.others = _names_read(pod)
        self._statuses = _by_name(status.container_statuses, status.init_container_statuses)
        self._infeasible = bool(self._statuses) and _resize_is_infeasible(pod)

    def of(self, container: Container) -> Resource:
        """The largest of asked, allocated and in effect; after an infeasible resize, what is in effect."""
        name, status = container.name, self._statuses.get(container.name)
        in_effect = status.resources if status is not None else None
        if in_effect is not None and self._infeasible:
            return _requested(in_effect, name)
        value = _requested(container.resources, name, self._names)
        if status is not None:
            value = value.largest(amounts_of(status.allocated_resources, "container", name))
        return value if in_effect is None else value.largest(_requested(in_effect, name))


def _requested(
    resources: WireResources | None, container: str, names: frozenset[str] | None = None
) -> Resource:
    """``names``: those that are read; None for all."""
    if resources is None:
        return ZERO
    requests = resources.requests
    if names is not None and requests:
        requests = {name: amount for name, amount in requests.items() if name in names}
    return amounts_of(requests, "container", container)


def _names_read(pod: WirePod) -> tuple[frozenset[str] | None, int]:
    """Which kinds of resources are read of a pod, None for all; and the number of those that are not.

    Only amounts other than zero count where very many are written.
    """
    spec = pod.spec
    written = [
        each.resources.requests
        for each in (*(spec.containers or ()), *(spec.init_containers or ()))
        if each.resources is not None and each.resources.requests
    ]
    if sum(map(len, written)) <= MOST_NAMES:
        return None, 0
    names = {name for each in written for name, amount in each.items() if _has_digits(str(amount))}
    read = sorted(names, key=lambda name: (name not in _OF_EVERY_POD, name))[:MOST_NAMES]
    return frozenset(read), len(names) - len(read)


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
