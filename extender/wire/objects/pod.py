"""The parts of a Pod that Paddock reads, as they come from a watch, a list or an extender request body.

Shapes only: field names are Kubernetes' in camel case, unknown fields are skipped. Go sends ``null`` for a
nil slice, map or time, so every collection is optional. Nothing here is kept: a pod becomes a core value.
"""

from typing import TypeAlias

import msgspec

Quantity: TypeAlias = str | int | float | None
"""An amount as JSON may write it: Kubernetes reads a bare number as its text, and ``null`` as zero."""

Quantities: TypeAlias = dict[str, Quantity]


class Wire(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """A piece of a Kubernetes object: a tree of plain values, of no interest to the garbage collector."""


class OwnerReference(Wire, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class PodMetadata(Wire, frozen=True):
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
    """A ``resources`` block. Its limits are not read: only requests count (RES-3)."""

    requests: Quantities | None = None


class ContainerPort(Wire, frozen=True):
    host_port: int | None = None


class Container(Wire, frozen=True):
    name: str = ""
    restart_policy: str | None = None
    resources: WireResources | None = None
    ports: list[ContainerPort] | None = None


class SchedulingGate(Wire, frozen=True):
    name: str = ""


class ResourceClaim(Wire, frozen=True):
    name: str = ""


class PullSecret(Wire, frozen=True):
    name: str = ""


class SelectorRequirement(Wire, frozen=True):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class SelectorTerm(Wire, frozen=True):
    match_expressions: list[SelectorRequirement] | None = None
    match_fields: list[SelectorRequirement] | None = None


class NodeSelector(Wire, frozen=True):
    node_selector_terms: list[SelectorTerm] | None = None


class NodeAffinity(Wire, frozen=True):
    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class PodTerm(Wire, frozen=True):
    topology_key: str = ""


class PodAffinity(Wire, frozen=True):
    """Of pods to pods, or against each other: all that is read is whether something is required."""

    required: list[PodTerm] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Wire, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class SpreadConstraint(Wire, frozen=True):
    when_unsatisfiable: str = ""


class VolumeSource(Wire, frozen=True):
    """Of a kind that is bound to nodes; what it says does not matter."""


class Volume(Wire, frozen=True):
    persistent_volume_claim: VolumeSource | None = None
    ephemeral: VolumeSource | None = None


class PodToleration(Wire, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class SchedulingGroup(Wire, frozen=True):
    """Kubernetes' own PodGroup of a pod, from 1.36 on."""

    pod_group_name: str = ""


class PodSpec(Wire, frozen=True):
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
    tolerations: list[PodToleration] | None = None
    termination_grace_period_seconds: int | None = None
    topology_spread_constraints: list[SpreadConstraint] | None = None
    volumes: list[Volume] | None = None
    image_pull_secrets: list[PullSecret] | None = None

    @property
    def native_group(self) -> str:
        """The name of its PodGroup, or empty."""
        return self.scheduling_group.pod_group_name if self.scheduling_group is not None else ""


class PodCondition(Wire, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerStatus(Wire, frozen=True):
    name: str = ""
    allocated_resources: Quantities | None = None
    resources: WireResources | None = None


class PodStatus(Wire, frozen=True):
    phase: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    resize: str = ""
    conditions: list[PodCondition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None


class WirePod(Wire, frozen=True):
    """A Pod. Every part may be absent, as in a body that names only what it must."""

    metadata: PodMetadata = PodMetadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
