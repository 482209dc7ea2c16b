"""Sieve of the watch of pods, for updates of pods on nodes that change no field that Paddock reads.

A kubelet writes the status of each of its pods several times. Only a digest of what Paddock reads is stored
for each pod, so a repetition costs no translation, and no event of the ledger.
"""

from typing import Protocol, TypeVar

import msgspec

from core.workload.pod import PodFacts
from extender.kube.connection.api import ObjectMeta
from extender.kube.watch.pod_parts import ABSENT, MetadataRead, PodRead, StatusRead, pod_parts_from
from extender.wire.objects.pod import WirePod
from extender.wire.translate import POD, pod_from

T_contra = TypeVar("T_contra", contravariant=True)

UNREAD_CONDITIONS = frozenset({"Initialized", "Ready", "ContainersReady", "PodReadyToStartContainers"})
"""Conditions of a pod that Paddock never reads. They change most often."""

_TERMINAL = (b'"Succeeded"', b'"Failed"')
_NODE = b'"nodeName":"'


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
        self._seen: PodRead | None = None
        self._whole: tuple[bytes, WirePod] | None = None
        self._digest = 0

    def __len__(self) -> int:
        return len(self._digests)

    def meta_of(self, raw: bytes) -> ObjectMeta:
        """Read a pod. Raises ValueError if it is invalid."""
        self._seen = self._whole = None
        if _NODE not in raw and (meta := self._read_whole(raw)) is not None:
            return meta
        pod = pod_parts_from(raw)
        if _NODE in raw:
            self._seen = pod
        return pod.metadata

    def _read_whole(self, raw: bytes) -> ObjectMeta | None:
        """Read a pod that passes always, and decode it in the same step. None for an invalid one."""
        try:
            pod = POD.decode(raw)
        except ValueError:
            return None
        self._whole, meta = (raw, pod), pod.metadata
        return ObjectMeta(meta.name, meta.namespace, meta.uid, meta.resource_version)

    def decode(self, raw: bytes) -> PodFacts:
        """Decode a pod, the one that was read last or any other. Raises ValueError if it is invalid."""
        known = self._whole
        return pod_from(known[1] if known is not None and known[0] is raw else POD.decode(raw))

    def is_repeat(self) -> bool:
        """True if a pod on a node was taken with the same facts before."""
        if self._seen is None:
            return False
        seen = self._seen
        self._digest = _digest(seen.metadata, seen.spec, seen.status)
        return self._digests.get(self._seen.metadata.uid) == self._digest

    def took(self, item: PodFacts) -> None:
        """Store the digest of a pod that has a node, and forget that of any other pod."""
        if item.node and self._seen is not None:
            self._digests[item.uid] = self._digest
        else:
            self._digests.pop(item.uid, None)

    def drop(self, key: str) -> None:
        """Forget a deleted pod."""
        self._digests.pop(key, None)

    def clear(self) -> None:
        """Forget all pods."""
        self._digests.clear()


def _digest(meta: MetadataRead, spec: msgspec.Raw, status: StatusRead) -> int:
    """Digest of every field from which facts are made, except the version. Its key is of this process.

    The API server writes equal values in equal bytes. Where it does not, an update counts as a change.
    """
    parts = [
        *(meta.name, meta.namespace, meta.uid),
        *(bytes(meta.creation_timestamp), bytes(meta.deletion_timestamp), bytes(meta.labels)),
        *(bytes(meta.annotations), bytes(meta.owner_references), bytes(spec)),
        *(bytes(status.phase) in _TERMINAL, bytes(status.nominated_node_name), bytes(status.resize)),
    ]
    for each in status.conditions or ():
        if each.type not in UNREAD_CONDITIONS:
            parts += (each.type, bytes(each.status), bytes(each.reason), bytes(each.message))
            parts.append(bytes(each.last_transition_time))
    for group in (status.container_statuses, status.init_container_statuses):
        parts.append("containers")
        for container in group or ():
            if container.allocated_resources is not ABSENT or container.resources is not ABSENT:
                parts += (container.name, bytes(container.allocated_resources), bytes(container.resources))
    return hash(tuple(parts))
