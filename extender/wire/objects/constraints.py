"""Translation of a pod's node constraints into core values."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from core.ids import NO_NODE, NodeName
from core.workload.daemon_set import Controller
from core.workload.nodes.affinity import (
    ANYWHERE,
    MOST_WEIGHED,
    NODE_NAME,
    UNREAD,
    Constraints,
    Requirement,
    Term,
    Toleration,
)
from extender.wire.objects.pod import (
    ContainerPort,
    OwnerReference,
    PodAffinity,
    PodSpec,
    PodToleration,
    SelectorRequirement,
    SelectorTerm,
    SpreadConstraint,
)

_MOST_LISTED: Final = 8 * MOST_WEIGHED
"""Terms, expressions, labels and tolerations of a pod that are compared for equality, at most."""

_LONGEST_REMEMBERED: Final = 2048
"""Bytes of tolerations, at most, whose constraints are remembered by what is written."""

_TOLERATIONS: Final = msgspec.json.Decoder(list[PodToleration] | None)
_NO_LABELS: Final[dict[str, str]] = {}


def constraints_from(spec: PodSpec) -> Constraints:
    """Constraints of a pod. Pods with equal constraints share one value.

    Returns `UNREAD` for constraints that are too large to evaluate. Raises ValueError for tolerations that
    are no tolerations.
    """
    affinity = spec.affinity
    required = affinity.node_affinity if affinity is not None else None
    terms = required.required if required is not None else None
    selector, written = spec.node_selector or _NO_LABELS, bytes(spec.tolerations)
    if not (selector or terms is not None or written):
        return ANYWHERE
    if len(selector) > _MOST_LISTED:
        return UNREAD
    listed = tuple(sorted(selector.items())) if selector else ()
    if terms is None:
        return (_without_terms if len(written) <= _LONGEST_REMEMBERED else _read_anew)(listed, written)
    found, tolerations = terms.node_selector_terms or (), _tolerations_in(written)
    if not _is_read(found, len(listed) + len(tolerations)):
        return UNREAD
    return _one_of_each(_made(listed, tuple(dict.fromkeys(map(_term, found))), tolerations))


def _tolerations_in(written: bytes) -> tuple[PodToleration, ...]:
    return tuple(_TOLERATIONS.decode(written) or ()) if written else ()


def _made(
    selector: tuple[tuple[str, str], ...],
    terms: tuple[Term, ...] | None,
    tolerations: tuple[PodToleration, ...],
) -> Constraints:
    read = (Toleration(each.key, each.operator or "Equal", each.value, each.effect) for each in tolerations)
    made = Constraints(selector, terms, tuple(dict.fromkeys(read)))
    return made if made.weight <= MOST_WEIGHED else UNREAD


def _read_anew(selector: tuple[tuple[str, str], ...], written: bytes) -> Constraints:
    """Constraints without required terms, as most pods have them. ``written``: tolerations in JSON."""
    tolerations = _tolerations_in(written)
    if len(selector) + len(tolerations) > _MOST_LISTED:
        return UNREAD
    return _one_of_each(_made(selector, None, tolerations))


_without_terms: Final = lru_cache(maxsize=4096)(_read_anew)
"""Constraints as `_read_anew` makes them, found by what is written."""


def _is_read(terms: Sequence[SelectorTerm], count: int) -> bool:
    """True if required terms are small enough to be translated. Duplicates count.

    ``count``: labels and tolerations beside them.
    """
    expressions = [each for term in terms for each in (term.match_expressions, term.match_fields) if each]
    count += len(terms) + sum(map(len, expressions))
    if count > _MOST_LISTED:
        return False
    return sum(len(each.values or ()) for group in expressions for each in group) <= 16 * MOST_WEIGHED


def controller_of(owners: Iterable[OwnerReference]) -> Controller | None:
    """The DaemonSet that controls a pod according to the pod's owner references (RNP-1, F-10)."""
    for owner in owners:
        if owner.controller and (owner.api_version, owner.kind) == ("apps/v1", "DaemonSet"):
            return Controller(owner.name, owner.uid)
    return None


def named_controller(owners: Iterable[OwnerReference]) -> str:
    """Controller of a pod as ``Kind.group/name``, as kubectl names objects; empty without one (ACT-21)."""
    for owner in owners:
        if owner.controller:
            group = owner.api_version.rpartition("/")[0]
            return f"{owner.kind}.{group}/{owner.name}" if group else f"{owner.kind}/{owner.name}"
    return ""


def required_node_of(spec: PodSpec) -> NodeName:
    """The only node that the required affinity allows by name, or `NO_NODE`.

    As in kube-scheduler, a pod needs to match one term, and all fields of that term. All terms must therefore
    name the same node. An empty term matches no node.
    """
    affinity = spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    terms = required.node_selector_terms or () if required is not None else ()
    if len(terms) > MOST_WEIGHED:
        # No controller writes so many terms.
        return NO_NODE
    found: set[str] = set()
    for term in terms:
        if term.match_expressions or term.match_fields:
            names = _named_by(term)
            if names is None:
                return NO_NODE
            found |= names
    return NodeName(found.pop()) if len(found) == 1 else NO_NODE


def _named_by(term: SelectorTerm) -> set[str] | None:
    """The nodes that a term names. None for a term without names, which may match any node."""
    named = [
        set(each.values or ())
        for each in term.match_fields or ()
        if each.key == NODE_NAME and each.operator == "In"
    ]
    return set.intersection(*named) if named else None


def is_complex(spec: PodSpec) -> bool:
    """True if a pod's placement depends on more than a node's labels, taints and free capacity."""
    affinity = spec.affinity
    return bool(
        (affinity is not None and (_requires(affinity.pod_affinity) or _requires(affinity.pod_anti_affinity)))
        or (spec.topology_spread_constraints and _spreads(spec.topology_spread_constraints))
        or has_volumes(spec)
        or spec.resource_claims
        or (spec.containers and any(each.ports and _has_host_port(each.ports) for each in spec.containers))
    )


def has_volumes(spec: PodSpec) -> bool:
    """True if a pod has volumes by claims, its own ephemeral ones included."""
    volumes = spec.volumes
    return bool(volumes) and any(each.persistent_volume_claim or each.ephemeral for each in volumes or ())


def _spreads(constraints: Iterable[SpreadConstraint]) -> bool:
    return any(each.when_unsatisfiable == "DoNotSchedule" for each in constraints)


def _has_host_port(ports: Iterable[ContainerPort]) -> bool:
    return any(port.host_port for port in ports)


def _requires(affinity: PodAffinity | None) -> bool:
    return affinity is not None and bool(affinity.required)


@lru_cache(maxsize=4096)
def _one_of_each(constraints: Constraints) -> Constraints:
    return constraints


def _term(term: SelectorTerm) -> Term:
    return Term(requirements_from(term.match_expressions), requirements_from(term.match_fields))


def requirements_from(found: Iterable[SelectorRequirement] | None) -> tuple[Requirement, ...]:
    """Expressions of a node or label selector, without duplicates."""
    return tuple(
        dict.fromkeys(
            Requirement(each.key, each.operator, tuple(dict.fromkeys(each.values or ())))
            for each in found or ()
        )
    )
