"""Choice of the pods that Paddock manages: the rule of DESIGN-7 and nothing else."""

from core.workload.pod import NamespaceFacts, PodFacts

SYSTEM_NAMESPACE = "kube-system"


def is_managed(
    pod: PodFacts, namespace: NamespaceFacts | None, *, scheduler_names: frozenset[str]
) -> bool | None:
    """True if a pod belongs to the queues. None if only its namespace can tell, and that is not known yet.

    By its scheduler name, by a prefixed key, or by its namespace's annotation. Pods of ``kube-system`` only
    by the annotation.
    """
    enabled = namespace is not None and namespace.enabled == "true"
    if pod.namespace == SYSTEM_NAMESPACE:
        return enabled
    if pod.scheduler_name in scheduler_names or pod.marked:
        return True
    return None if namespace is None else enabled
