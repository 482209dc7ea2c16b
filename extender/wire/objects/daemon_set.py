"""Fields of a DaemonSet that Paddock reads, as in a watch or a list."""

from extender.wire.objects.budget import LabelSelector
from extender.wire.objects.pod import Wire


class DaemonSetMetadata(Wire, frozen=True):
    """Metadata of a DaemonSet."""

    name: str = ""
    namespace: str = ""
    uid: str = ""


class DaemonSetSpec(Wire, frozen=True):
    """Spec of a DaemonSet."""

    selector: LabelSelector | None = None


class WireDaemonSet(Wire, frozen=True):
    """A DaemonSet of apps/v1. Every field may be absent."""

    metadata: DaemonSetMetadata = DaemonSetMetadata()
    spec: DaemonSetSpec = DaemonSetSpec()
