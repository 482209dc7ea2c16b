"""Whose pods are ours: the rule of DESIGN-7 and nothing else."""

from core.workload.pod import NamespaceFacts, PodFacts

SYSTEM_NAMESPACE = "kube-system"


def is_managed(
    pod: PodFacts, namespace: NamespaceFacts | None, *, scheduler_names: frozenset[str]
) -> bool | None:
    """Whether a pod belongs to the queues; None when only its namespace could tell and that is not known yet.

    By its scheduler name, by a prefixed key, or by its namespace's annotation; pods of ``kube-system`` by
    the annotation alone.
    """
    enabled = namespace is not None and namespace.enabled == "true"
    if pod.namespace == SYSTEM_NAMESPACE:
        return enabled
    if pod.scheduler_name in scheduler_names or pod.marked:
        return True
    return None if namespace is None else enabled
