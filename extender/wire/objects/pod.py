"""Fields of a Pod that Paddock reads, as in a watch, a list or the body of a call.

Field names are those of Kubernetes in camel case, and unknown fields are skipped. Go sends ``null`` for a nil
slice, map or time, so every collection may be None. These objects are short-lived: core values replace them.
"""

from typing import TypeAlias

import msgspec

Quantity: TypeAlias = str | int | float | None
"""An amount in JSON. Kubernetes reads a bare number as its text, and ``null`` as zero."""

Quantities: TypeAlias = dict[str, Quantity]


class Wire(msgspec.Struct, rename="camel", frozen=True, gc=False, omit_defaults=True):
    """A part of a Kubernetes object. The garbage collector ignores it, since it cannot contain cycles.

    Encoded, only for digests, it lacks what has the default.
    """


class OwnerReference(Wire, frozen=True):
    """A reference to the owner of an object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class PodMetadata(Wire, frozen=True):
    """Metadata of a pod, also used for other namespaced objects."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class WireResources(Wire, frozen=True):
    """A ``resources`` block without its limits, since only requests count (RES-3)."""

    requests: Quantities | None = None


class ContainerPort(Wire, frozen=True):
    """A port of a container."""

    host_port: int | None = None


class Container(Wire, frozen=True):
    """A container or init container."""

    name: str = ""
    restart_policy: str | None = None
    #: `WireResources`, as they are written: most pods have those of another pod.
    resources: msgspec.Raw = msgspec.Raw()
    ports: list[ContainerPort] | None = None


class SchedulingGate(Wire, frozen=True):
    """A scheduling gate of a pod."""

    name: str = ""


class ResourceClaim(Wire, frozen=True):
    """A resource claim of a pod."""

    name: str = ""


class PullSecret(Wire, frozen=True):
    """A reference to a secret for pulling images."""

    name: str = ""


class SelectorRequirement(Wire, frozen=True):
    """An expression of a node or label selector."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class SelectorTerm(Wire, frozen=True):
    """A term of a node selector."""

    match_expressions: list[SelectorRequirement] | None = None
    match_fields: list[SelectorRequirement] | None = None


class NodeSelector(Wire, frozen=True):
    """A node selector of core/v1. One of its terms must match."""

    node_selector_terms: list[SelectorTerm] | None = None


class NodeAffinity(Wire, frozen=True):
    """Required node affinity. Preferred terms are not read."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class PodTerm(Wire, frozen=True):
    """A required term of pod affinity or anti-affinity."""

    topology_key: str = ""


class PodAffinity(Wire, frozen=True):
    """Pod affinity or anti-affinity. Paddock only reads whether terms are required."""

    required: list[PodTerm] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Wire, frozen=True):
    """Affinity of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class SpreadConstraint(Wire, frozen=True):
    """A topology spread constraint of a pod."""

    when_unsatisfiable: str = ""


class VolumeSource(Wire, frozen=True):
    """A volume that restricts the nodes of its pod. Its contents do not matter."""


class Volume(Wire, frozen=True):
    """A volume of a pod."""

    persistent_volume_claim: VolumeSource | None = None
    ephemeral: VolumeSource | None = None


class PodToleration(Wire, frozen=True):
    """A toleration of a pod."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class SchedulingGroup(Wire, frozen=True):
    """Reference to a pod's PodGroup of Kubernetes itself, since 1.36."""

    pod_group_name: str = ""


class PodSpec(Wire, frozen=True):
    """Spec of a Pod."""

    scheduler_name: str = ""
    scheduling_group: SchedulingGroup | None = None
    node_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    overhead: Quantities | None = None
    resources: WireResources | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    scheduling_gates: list[SchedulingGate] | None = None
    resource_claims: list[ResourceClaim] | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    #: A list of `PodToleration`, as it is written: nearly all pods have the same ones.
    tolerations: msgspec.Raw = msgspec.Raw()
    termination_grace_period_seconds: int | None = None
    topology_spread_constraints: list[SpreadConstraint] | None = None
    volumes: list[Volume] | None = None
    image_pull_secrets: list[PullSecret] | None = None


class PodCondition(Wire, frozen=True):
    """A condition in a pod's status."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerStatus(Wire, frozen=True):
    """Status of a container, with the resources that a resize has changed."""

    name: str = ""
    allocated_resources: Quantities | None = None
    resources: WireResources | None = None


class PodStatus(Wire, frozen=True):
    """Status of a Pod."""

    phase: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    resize: str = ""
    conditions: list[PodCondition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None


class WirePod(Wire, frozen=True):
    """A Pod. Every field may be absent."""

    metadata: PodMetadata = PodMetadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
