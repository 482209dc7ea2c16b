"""Steps of a removal, worked out from what the cluster has.

A step that is done is not in the next plan, so a removal can be interrupted at any point.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from core.workload.pod import OWN_GATE
from extender.removal.objects import Item, Listing
from extender.wire.annotations.gang import is_placeholder
from extender.wire.objects.sizing import MARKER_PREFIX

PART = "app.kubernetes.io/part-of=paddock"
"""Label of everything that the chart and the overlays render."""

ADMISSION = "/apis/admissionregistration.k8s.io"
CHANGING = (
    f"{ADMISSION}/v1/mutatingwebhookconfigurations",
    f"{ADMISSION}/v1/mutatingadmissionpolicybindings",
    f"{ADMISSION}/v1/mutatingadmissionpolicies",
    f"{ADMISSION}/v1beta1/mutatingadmissionpolicybindings",
    f"{ADMISSION}/v1beta1/mutatingadmissionpolicies",
)
PROTECTING = (
    f"{ADMISSION}/v1/validatingadmissionpolicybindings",
    f"{ADMISSION}/v1/validatingadmissionpolicies",
)
STORE = "paddock-actions"
"""ConfigMap of the orders."""
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/paddock-scheduler"
CONFIG_MAPS = (
    "yunikorn-configs",
    "yunikorn-defaults",
    "paddock-initial-queues",
    "paddock-installation",
    STORE,
)
"""ConfigMaps that only ``--purge`` deletes: queues, and what administrators ordered."""

SECRETS = ("paddock-serving", "paddock-authority")
"""Secrets with keys that only Paddock uses."""

WORKLOAD = "workload"
SCHEDULERS = ("yunikorn", "paddock")


@dataclass(frozen=True, slots=True)
class Deletion:
    """An object to delete, by its path."""

    path: str

    @property
    def text(self) -> str:
        """Return what is done, for the printed plan."""
        return f"delete {self.path}"


@dataclass(frozen=True, slots=True)
class Opening:
    """A pod's gate to remove. ``body``: a merge patch that fails if the pod changed meanwhile."""

    path: str
    body: bytes

    @property
    def text(self) -> str:
        """Return what is done, for the printed plan."""
        return f"remove the gate {OWN_GATE} from {self.path}"


Action = Deletion | Opening


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the plan. ``why``: what it is for."""

    name: str
    why: str
    actions: Sequence[Action]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Objects that a removal reads. Lists are by path; a path that is not served has no list.

    ``others``: paths of single objects that exist.
    """

    labelled: Mapping[str, Listing]
    pods: Sequence[Item]
    others: frozenset[str]
    namespace: str


def steps_of(cluster: Cluster, *, purge: bool) -> Iterator[Step]:
    """Steps with something to do, in their order."""
    for step in _all_steps(cluster, purge=purge):
        if step.actions:
            yield step


def _all_steps(cluster: Cluster, *, purge: bool) -> Iterator[Step]:
    # Before the changes: with mutation.require pods that were not changed are refused.
    yield Step("protection", "Nothing is refused for Paddock's sake.", _labelled(cluster, PROTECTING))
    yield Step("changes", "New pods get no gate, marker or name any more.", _labelled(cluster, CHANGING))
    why = "While it is there and Paddock is not, no namespace can finish deleting."
    yield Step("aggregated API", why, _labelled(cluster, (API_SERVICES,)))
    yield Step(
        WORKLOAD,
        "A running Paddock would make placeholders anew.",
        _labelled(cluster, (_deployments(cluster),)),
    )
    yield Step("gates", "Pods that wait behind Paddock's gate are scheduled.", tuple(_openings(cluster.pods)))
    yield Step("placeholders", "They hold capacity that no gang takes.", tuple(_placeholders(cluster.pods)))
    single = (LEASE, *(f"{_core(cluster)}/secrets/{name}" for name in SECRETS))
    yield Step("lease and certificate", "Nothing else uses them.", _existing(cluster, single))
    maps = tuple(f"{_core(cluster)}/configmaps/{name}" for name in CONFIG_MAPS) if purge else ()
    yield Step("queues", "Asked for by --purge.", _existing(cluster, maps))


def singles(namespace: str) -> tuple[str, ...]:
    """Paths of the single objects that a plan asks for."""
    folder = f"/api/v1/namespaces/{namespace}"
    maps = (f"{folder}/configmaps/{name}" for name in CONFIG_MAPS)
    secrets = (f"{folder}/secrets/{name}" for name in SECRETS)
    return (LEASE, *secrets, *maps, *_of_other_schedulers(namespace))


def labelled_paths(namespace: str) -> tuple[str, ...]:
    """Paths of the lists that a plan asks for, all by the label `PART`."""
    return (*CHANGING, *PROTECTING, API_SERVICES, f"/apis/apps/v1/namespaces/{namespace}/deployments")


def stranded(cluster: Cluster) -> Iterator[str]:
    """Sentences about pods that no scheduler will take as they are."""
    waiting = [each for each in cluster.pods if not each.spec.node_name and not each.is_over]
    named = sum(each.spec.scheduler_name in SCHEDULERS for each in waiting)
    marked = sum(each.has_request(MARKER_PREFIX) for each in waiting)
    if named:
        yield f"{named} waiting pods name the scheduler yunikorn or paddock. Create them again without it."
    if marked:
        yield (
            f"{marked} waiting pods request marker resources. Keep ignoredResourceGroups: [paddock.dev] in "
            "the scheduler's NodeResourcesFit until they are gone, or create them again."
        )


def is_called_from_elsewhere(cluster: Cluster) -> bool:
    """True if an object is there that only the modes service and kubeadm have. Overlays render no more."""
    return not cluster.others.isdisjoint(_of_other_schedulers(cluster.namespace))


def _of_other_schedulers(namespace: str) -> tuple[str, str]:
    """Paths of the Deployment of mode service, and of the Role for the Lease of kubeadm's kube-scheduler."""
    deployment = f"/apis/apps/v1/namespaces/{namespace}/deployments/paddock"
    return deployment, "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/paddock-lease"


def calls_from_elsewhere(configuration: Mapping[str, str]) -> bool:
    """True if the rendered configuration is for a scheduler that is not in Paddock's own pod."""
    return any("resourceName: kube-scheduler" in text for text in configuration.values())


def _labelled(cluster: Cluster, paths: Sequence[str]) -> tuple[Deletion, ...]:
    found = ((path, cluster.labelled.get(path)) for path in paths)
    return tuple(
        Deletion(f"{path}/{each.metadata.name}")
        for path, listing in found
        if listing
        for each in listing.items
    )


def _existing(cluster: Cluster, paths: Sequence[str]) -> tuple[Deletion, ...]:
    return tuple(Deletion(path) for path in paths if path in cluster.others)


def _openings(pods: Sequence[Item]) -> Iterator[Opening]:
    for pod in pods:
        gates = pod.spec.scheduling_gates or []
        left = [{"name": each.name} for each in gates if each.name != OWN_GATE]
        if len(left) < len(gates):
            # The version makes the patch fail if another party changed the gates meanwhile.
            meta = {"resourceVersion": pod.metadata.resource_version}
            body = {"metadata": meta, "spec": {"schedulingGates": left or None}}
            yield Opening(pod.path, msgspec.json.encode(body))


def _placeholders(pods: Sequence[Item]) -> Iterator[Deletion]:
    for pod in pods:
        if is_placeholder(pod.metadata.annotations or {}) and not pod.is_over:
            yield Deletion(pod.path)


def _deployments(cluster: Cluster) -> str:
    return f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments"


def _core(cluster: Cluster) -> str:
    return f"/api/v1/namespaces/{cluster.namespace}"
