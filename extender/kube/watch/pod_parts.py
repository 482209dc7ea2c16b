"""Parts of a pod that the sieve compares, as raw JSON."""

import msgspec

from extender.kube.connection.api import ObjectMeta

ABSENT = msgspec.Raw(b"")
"""A field that is not there."""


class MetadataRead(ObjectMeta, frozen=True, rename="camel", gc=False):
    """Metadata of a pod."""

    creation_timestamp: msgspec.Raw = ABSENT
    deletion_timestamp: msgspec.Raw = ABSENT
    labels: msgspec.Raw = ABSENT
    annotations: msgspec.Raw = ABSENT
    owner_references: msgspec.Raw = ABSENT


class ConditionRead(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A condition in a pod's status."""

    type: str = ""
    status: msgspec.Raw = ABSENT
    reason: msgspec.Raw = ABSENT
    message: msgspec.Raw = ABSENT
    last_transition_time: msgspec.Raw = ABSENT


class ContainerRead(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Status of a container."""

    name: str = ""
    allocated_resources: msgspec.Raw = ABSENT
    resources: msgspec.Raw = ABSENT


class StatusRead(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Status of a pod."""

    phase: msgspec.Raw = ABSENT
    nominated_node_name: msgspec.Raw = ABSENT
    resize: msgspec.Raw = ABSENT
    conditions: list[ConditionRead] | None = None
    container_statuses: list[ContainerRead] | None = None
    init_container_statuses: list[ContainerRead] | None = None


class PodRead(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A pod."""

    metadata: MetadataRead
    spec: msgspec.Raw = ABSENT
    status: StatusRead = StatusRead()


pod_parts_from = msgspec.json.Decoder(PodRead).decode
