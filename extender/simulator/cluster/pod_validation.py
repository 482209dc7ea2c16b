"""Checks of the API server for a pod that Paddock makes from what a user wrote. Pure.

Only names, labels and amounts are checked here. The rest of a spec is checked where the played kube-scheduler
reads it. Source: pkg/apis/core/validation.
"""

import re
from collections.abc import Iterator, Mapping

from core.errors import QuantityError
from core.quantity import exact_kubernetes_amount
from extender.simulator.scenario.objects import Json
from extender.wire.placeholder import is_label_value

_DOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})


def objections(body: Json, classes: Mapping[str, Json]) -> Iterator[str]:
    """Reasons why a pod is refused; none for a valid one. ``classes``: the PriorityClasses that exist."""
    meta, spec = body["metadata"], body["spec"]
    for key, value in meta.get("labels", {}).items():
        if not _is_key(key):
            yield f"metadata.labels: Invalid value: {key!r}"
        if not is_label_value(value):
            yield f"metadata.labels: Invalid value: {value!r} of {key}"
    for key in meta.get("annotations", {}):
        if not _is_key(key.lower()):
            yield f"metadata.annotations: Invalid value: {key!r}"
    name = spec.get("priorityClassName", "")
    if name and name not in classes:
        yield f"no PriorityClass with name {name} was found"
    for container in spec["containers"]:
        for resource, amount in container["resources"].get("requests", {}).items():
            yield from _amount_objections(resource, amount)


def _is_key(key: str) -> bool:
    domain, slash, name = key.rpartition("/")
    # A name follows the rule of values and is required.
    return bool(name) and is_label_value(name) and (not slash or _DOMAIN.fullmatch(domain) is not None)


def _amount_objections(resource: str, amount: str) -> Iterator[str]:
    extended = "/" in resource
    if not (extended or resource in _STANDARD or resource.startswith("hugepages-")):
        yield f"spec.containers[0].resources.requests[{resource}]: must be a standard resource type"
    elif extended and not _is_whole(resource, amount):
        yield f"spec.containers[0].resources.requests[{resource}]: must be an integer"


def _is_whole(resource: str, amount: str) -> bool:
    """True if nothing was rounded up: there were no sub-units."""
    try:
        return 1000 * exact_kubernetes_amount(resource, amount) == exact_kubernetes_amount("cpu", amount)
    except QuantityError:
        return False
