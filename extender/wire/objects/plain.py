"""Objects of which little more than the metadata is read: namespaces and priority classes."""

from extender.wire.objects.pod import PodMetadata, Wire


class WireNamespace(Wire, frozen=True):
    """A Namespace. Only its metadata is read."""

    metadata: PodMetadata = PodMetadata()


class WirePriorityClass(Wire, frozen=True):
    """A PriorityClass."""

    metadata: PodMetadata = PodMetadata()
    value: int = 0
