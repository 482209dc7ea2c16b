"""The parts of a DaemonSet that Paddock reads, as they come from a watch or a list."""

from extender.wire.objects.budget import LabelSelector
from extender.wire.objects.pod import Wire


class DaemonSetMetadata(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""


class DaemonSetSpec(Wire, frozen=True):
    selector: LabelSelector | None = None


class WireDaemonSet(Wire, frozen=True):
    """A DaemonSet of apps/v1. Every part may be absent."""

    metadata: DaemonSetMetadata = DaemonSetMetadata()
    spec: DaemonSetSpec = DaemonSetSpec()
