"""DaemonSets, and pods as their controller, which does not run here, makes them."""

from e2e.cluster.client import Cluster, Object

QUEUE = "root.daemons"


def daemon_set(cluster: Cluster, name: str, *, label: str = "app") -> Object:
    """A DaemonSet that selects pods by a label, whose value is its name."""
    labels = {label: name}
    template = {"metadata": {"labels": labels}, "spec": cluster.pod("")["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": cluster.namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def bound_to(node: str) -> Object:
    """The affinity that ties a DaemonSet's pod to one node."""
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [named]}}
    }


def of_daemon_set(
    cluster: Cluster,
    name: str,
    *,
    node: str,
    uid: str,
    owner: str = "agents",
    app: str = "agents",
    cpu: str = "1",
) -> Object:
    """A pod of a DaemonSet.

    ``owner`` and ``uid``: of the DaemonSet that it names. ``app``: its label.
    """
    pod = cluster.pod(name, cpu=cpu, queue=QUEUE, spec={"affinity": bound_to(node)})
    reference = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": owner, "uid": uid, "controller": True}
    pod["metadata"]["ownerReferences"] = [reference]
    pod["metadata"]["labels"]["app"] = app
    return pod
