"""Sieve of the watch of pods, for updates of pods on nodes that change no field that Paddock reads.

A kubelet writes the status of each of its pods several times. Only a digest of what Paddock reads is stored
for each pod, so a repetition costs no translation, and no event of the ledger.
"""

from typing import Final, Protocol, TypeVar

import msgspec

from core.workload.pod import PodFacts
from extender.kube.connection.api import ObjectMeta
from extender.kube.watch.pages import identified_from
from extender.wire.objects.pod import ContainerStatus, PodStatus, WirePod
from extender.wire.translate import POD, TERMINAL, pod_from

T_contra = TypeVar("T_contra", contravariant=True)

UNREAD_CONDITIONS: Final = frozenset({"Initialized", "Ready", "ContainersReady", "PodReadyToStartContainers"})
"""Conditions of a pod that Paddock never reads. They change most often."""

_encode = msgspec.json.Encoder().encode


class Sieve(Protocol[T_contra]):
    """Holds back updates that change nothing. Its methods are called in the order of the watch."""

    def meta_of(self, raw: bytes, /) -> ObjectMeta:
        """Read an object as raw JSON, and return its metadata. Raises ValueError if it is invalid."""

    def is_repeat(self) -> bool:
        """True if the object that was read last was taken with the same contents before."""

    def took(self, item: T_contra, /) -> None:
        """Note that the object that was read last was decoded and taken."""

    def drop(self, key: str, /) -> None:
        """Note that an item was deleted."""

    def clear(self) -> None:
        """Forget all items, since a list takes the place of everything."""


class BoundPods:
    """Sieve of pods that have a node.

    A pod without a node passes always: its version counts, since bodies of calls are compared with it.
    Memory: about 150 bytes for each pod on a node.
    """

    def __init__(self) -> None:
        self._digests: dict[str, int] = {}
        self._read: tuple[bytes, WirePod] | None = None
        self._digest = 0

    def __len__(self) -> int:
        return len(self._digests)

    def meta_of(self, raw: bytes) -> ObjectMeta:
        """Read a pod. Raises ValueError if its metadata is invalid."""
        self._read = None
        try:
            pod = POD.decode(raw)
        except ValueError:
            return identified_from(raw).metadata
        self._read, meta = (raw, pod), pod.metadata
        return ObjectMeta(meta.name, meta.namespace, meta.uid, meta.resource_version)

    def decode(self, raw: bytes) -> PodFacts:
        """Decode a pod, the one that was read last or any other. Raises ValueError if it is invalid."""
        known = self._read
        return pod_from(known[1] if known is not None and known[0] is raw else POD.decode(raw))

    def is_repeat(self) -> bool:
        """True if a pod on a node was taken with the same facts before."""
        if self._read is None or not self._read[1].spec.node_name:
            return False
        pod = self._read[1]
        self._digest = _digest(pod)
        return self._digests.get(pod.metadata.uid) == self._digest

    def took(self, item: PodFacts) -> None:
        """Store the digest of a pod that has a node, and forget that of any other pod."""
        if item.node:
            self._digests[item.uid] = self._digest
        else:
            self._digests.pop(item.uid, None)

    def drop(self, key: str) -> None:
        """Forget a deleted pod."""
        self._digests.pop(key, None)

    def clear(self) -> None:
        """Forget all pods."""
        self._digests.clear()


def _digest(pod: WirePod) -> int:
    """Digest of every field from which facts are made, except the version. Its key is of this process."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    conditions = [each for each in status.conditions or () if each.type not in UNREAD_CONDITIONS]
    parts = (
        meta.name,
        meta.namespace,
        meta.uid,
        meta.creation_timestamp,
        meta.deletion_timestamp,
        meta.labels,
        meta.annotations,
        meta.owner_references,
        spec,
        status.phase in TERMINAL,
        status.nominated_node_name,
        status.resize,
        conditions,
        _statuses(status),
    )
    return hash(_encode(parts))


def _statuses(status: PodStatus) -> tuple[list[ContainerStatus] | None, ...]:
    """Statuses of all containers if one says what a resize has changed. Otherwise they are only names."""
    groups = status.container_statuses, status.init_container_statuses
    for group in groups:
        for each in group or ():
            if each.allocated_resources or each.resources:
                return groups
    return ()
