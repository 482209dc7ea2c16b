"""Scheduler name, application id and default queue of a pod, as the policy ``adopt-pods`` (POD-31)."""

import re
from collections.abc import Mapping, Sequence

from core.workload.pod import NamespaceFacts
from extender.mutation.pod import NewPod
from extender.mutation.review import Caller
from extender.queueconfig.patterns import PatternError, name_pattern
from extender.wire.service_keys import TRUE
from extender.wire.translate import APP_ID, QUEUE

SCHEDULER = "yunikorn"
_KEYS = "admissionController.filtering."
_LONGEST_ID, _LONGEST_NAMESPACE = 63, 26
_LABEL_VALUE = re.compile("[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


class _Unreadable(ValueError):
    """An expression that decides is invalid. Then nothing is adopted, and every pod is created."""


def adopt(pod: NewPod, namespace: NamespaceFacts, caller: Caller, keys: Mapping[str, str] | None) -> None:
    """Adopt a pod. ``keys``: of the ConfigMap ``yunikorn-configs``; None while it is missing."""
    if keys is None or "system:nodes" in (caller.groups or ()) or pod.labels.get("app") == "yunikorn":
        return
    try:
        taken = _is_taken(namespace, keys)
        labelled = taken and _is_labelled(namespace, keys)
    except _Unreadable:
        return
    if taken:
        pod.set_scheduler(SCHEDULER)
    if labelled:
        # Both are found before any label is added.
        pod.label(_application(pod, namespace.name, keys) | _queue(pod, keys))


def _is_taken(namespace: NamespaceFacts, keys: Mapping[str, str]) -> bool:
    """True if pods of a namespace are adopted. Its annotation comes before the lists."""
    if namespace.enabled:
        return namespace.enabled == "true"
    bypass = keys.get(f"{_KEYS}bypassNamespaces", "^kube-system$")
    return _is_listed(namespace.name, keys.get(f"{_KEYS}processNamespaces", ""), bypass)


def _is_labelled(namespace: NamespaceFacts, keys: Mapping[str, str]) -> bool:
    if namespace.generate_app_id:
        return namespace.generate_app_id == "true"
    left_out = keys.get(f"{_KEYS}noLabelNamespaces", "")
    return _is_listed(namespace.name, keys.get(f"{_KEYS}labelNamespaces", ""), left_out)


def _is_listed(name: str, listed: str, left_out: str) -> bool:
    """True for a name in a list, or in any if the list is empty, that the other list does not contain.

    Raises `_Unreadable` if an invalid expression decides.
    """
    wanted, others = _patterns(listed), _patterns(left_out)
    is_wanted = _matches(wanted, name) if wanted else True
    is_left_out = _matches(others, name)
    if is_wanted is False or is_left_out is True:
        return False
    if is_wanted is None or is_left_out is None:
        raise _Unreadable
    return True


def _patterns(text: str) -> list[str]:
    return [each for part in text.split(",") if (each := part.strip())]


def _matches(patterns: Sequence[str], name: str) -> bool | None:
    """True if a pattern matches a part of the name. None if none does, and one of them is invalid."""
    is_readable = True
    for each in patterns:
        try:
            if name_pattern(each)(name):
                return True
        except PatternError:
            is_readable = False
    return False if is_readable else None


def _application(pod: NewPod, namespace: str, keys: Mapping[str, str]) -> dict[str, str]:
    """Labels for the application, unless the pod has one."""
    if named := pod.labels.get(APP_ID, ""):
        return {"applicationId": named}
    is_named = any(pod.labels.get(key) for key in ("applicationId", "spark-app-selector"))
    made = _id_for(namespace, is_unique=keys.get(f"{_KEYS}generateUniqueAppId", "false") in TRUE)
    # No label may end with a hyphen, as an id that was cut may. Paddock then makes the id itself.
    if is_named or pod.annotations.get(APP_ID) or made.endswith("-"):
        return {}
    return {APP_ID: made, "applicationId": made}


def _id_for(namespace: str, *, is_unique: bool) -> str:
    if is_unique:
        # The uid is not known yet: Paddock replaces the suffix by it.
        return f"{namespace[:_LONGEST_NAMESPACE]}-uniqueautogen"
    return f"yunikorn-{namespace}-autogen"[:_LONGEST_ID]


def _queue(pod: NewPod, keys: Mapping[str, str]) -> dict[str, str]:
    """Labels for the queue: the pod's own, or the default one."""
    if named := pod.labels.get(QUEUE, ""):
        return {"queue": named}
    default = keys.get(f"{_KEYS}defaultQueue", "")
    if pod.labels.get("queue") or pod.annotations.get(QUEUE) or not _LABEL_VALUE.fullmatch(default):
        return {}
    return {QUEUE: default, "queue": default}
