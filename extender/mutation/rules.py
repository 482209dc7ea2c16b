"""The rules by name, and their order. A webhook's path names the rules that it is for."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.workload.pod import NamespaceFacts
from extender.mutation.adoption import adopt
from extender.mutation.marking import ALL_SCHEDULERS, OWN_SCHEDULERS, gate, mark
from extender.mutation.ownership import is_copyist, own_info, owner_changes
from extender.mutation.pod import pod_from
from extender.mutation.review import Change, Request
from extender.wire.translate import USER_INFO

ADOPT, OWNER, MARK, MARK_NAMED, GATE = "adopt", "user-info", "mark", "mark-named", "gate"
RULES = frozenset({ADOPT, OWNER, MARK, MARK_NAMED, GATE})
"""``mark`` is for pods of all shipped profiles, ``mark-named`` only for pods named yunikorn or paddock."""


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that the rules read beside a request."""

    namespace: NamespaceFacts
    #: Keys of the ConfigMap `yunikorn-configs`. None while it is missing.
    keys: Mapping[str, str] | None


def changes_of(request: Request, rules: Collection[str], known: Known) -> list[Change]:
    """Changes of a new pod, or of a workload with a template. Raises `BadReview`.

    A rule sees what the rules before it changed. So one call has the result of any number of calls.
    """
    if request.plural != "pods":
        return owner_changes(request) if OWNER in rules else []
    pod = pod_from(request)
    if ADOPT in rules:
        adopt(pod, known.namespace, request.user_info, known.keys)
    if OWNER in rules and not is_copyist(request.user_info) and USER_INFO not in pod.annotations:
        pod.annotate(USER_INFO, own_info(request.user_info))
    if MARK in rules or MARK_NAMED in rules:
        mark(pod, known.namespace, ALL_SCHEDULERS if MARK in rules else OWN_SCHEDULERS)
    if GATE in rules:
        gate(pod, known.namespace)
    return pod.changes
