"""Labels of a node that a pod would run on."""

from collections.abc import Iterable

from core.workload.nodes.affinity import Constraints, Requirement, Term


def labels_for(constraints: Constraints) -> dict[str, str] | None:
    """Labels with which a new node takes such a pod, as far as labels decide.

    None if the pod may only run on certain nodes, or if its terms contradict its selector. The first term
    that can be met counts.
    """
    own = dict(constraints.selector)
    if constraints.terms is None:
        return own
    return next((found for term in constraints.terms if (found := _of_term(own, term)) is not None), None)


def _of_term(own: dict[str, str], term: Term) -> dict[str, str] | None:
    if term.fields or not term.labels:
        return None
    return _meeting(dict(own), term.labels)


def _meeting(labels: dict[str, str], requirements: Iterable[Requirement]) -> dict[str, str] | None:
    """Add what each requirement wants. The caller judges whether the result contradicts another one."""
    for each in requirements:
        match each.operator:
            case "In" if each.key not in labels and each.values:
                labels[each.key] = each.values[0]
            case "Exists" if each.key not in labels:
                labels[each.key] = ""
            case "Gt" | "Lt" if each.key not in labels:
                try:
                    labels[each.key] = str(int(each.values[0]) + (1 if each.operator == "Gt" else -1))
                except (ValueError, IndexError):
                    return None
            case _:
                pass
    return labels
