"""What a pod says of the nodes it may run on, as core's own value."""

from collections.abc import Iterable
from functools import lru_cache

from core.ids import NO_NODE, NodeName
from core.workload.affinity import ANYWHERE, NODE_NAME, Constraints, Requirement, Term, Toleration
from extender.wire.pod import PodAffinity, PodSpec, SelectorRequirement, SelectorTerm, WirePod


def constraints_from(spec: PodSpec) -> Constraints:
    """One value for all pods that say the same."""
    required = spec.affinity.node_affinity if spec.affinity is not None else None
    terms = required.required if required is not None else None
    if not (spec.node_selector or terms is not None or spec.tolerations):
        return ANYWHERE
    return _one_of_each(
        Constraints(
            tuple(sorted((spec.node_selector or {}).items())),
            tuple(_term(each) for each in terms.node_selector_terms or ()) if terms is not None else None,
            tuple(
                Toleration(each.key, each.operator or "Equal", each.value, each.effect)
                for each in spec.tolerations or ()
            ),
        )
    )


def required_node_of(pod: WirePod) -> NodeName:
    """The one node that a DaemonSet's controller made a pod for, else empty (RNP-1)."""
    if not any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references or ()):
        return NO_NODE
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    for term in required.node_selector_terms or () if required is not None else ():
        for each in term.match_fields or ():
            if each.key == NODE_NAME and each.operator == "In" and len(each.values or ()) == 1:
                return NodeName((each.values or [""])[0])
    return NO_NODE


def is_complex(spec: PodSpec) -> bool:
    """Whether more than a node's own labels, taints and room says where such a pod may run."""
    affinity = spec.affinity
    return bool(
        (affinity is not None and (_requires(affinity.pod_affinity) or _requires(affinity.pod_anti_affinity)))
        or any(each.when_unsatisfiable == "DoNotSchedule" for each in spec.topology_spread_constraints or ())
        or any(each.persistent_volume_claim or each.ephemeral for each in spec.volumes or ())
        or spec.resource_claims
        or any(port.host_port for each in spec.containers or () for port in each.ports or ())
    )


def _requires(affinity: PodAffinity | None) -> bool:
    return affinity is not None and bool(affinity.required)


@lru_cache(maxsize=4096)
def _one_of_each(constraints: Constraints) -> Constraints:
    return constraints


def _term(term: SelectorTerm) -> Term:
    return Term(requirements_from(term.match_expressions), requirements_from(term.match_fields))


def requirements_from(found: Iterable[SelectorRequirement] | None) -> tuple[Requirement, ...]:
    """The expressions of a selector, of nodes or of labels."""
    return tuple(Requirement(each.key, each.operator, tuple(each.values or ())) for each in found or ())
