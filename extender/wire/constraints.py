"""What a pod says of the nodes it may run on, as core's own value."""

from collections.abc import Iterable
from functools import lru_cache

from core.workload.affinity import ANYWHERE, Constraints, Requirement, Term, Toleration
from extender.wire.pod import PodSpec, SelectorRequirement, SelectorTerm


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


@lru_cache(maxsize=4096)
def _one_of_each(constraints: Constraints) -> Constraints:
    return constraints


def _term(term: SelectorTerm) -> Term:
    return Term(requirements_from(term.match_expressions), requirements_from(term.match_fields))


def requirements_from(found: Iterable[SelectorRequirement] | None) -> tuple[Requirement, ...]:
    """The expressions of a selector, of nodes or of labels."""
    return tuple(Requirement(each.key, each.operator, tuple(each.values or ())) for each in found or ())
