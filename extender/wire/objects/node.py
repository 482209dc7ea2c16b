"""Fields of a Node that Paddock reads, as in a watch, a list or the body of a call."""

from extender.wire.objects.pod import Quantities, Wire


class NodeMetadata(Wire, frozen=True):
    """Metadata of a Node."""

    name: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None


class WireTaint(Wire, frozen=True):
    """A taint of a node."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Wire, frozen=True):
    """Spec of a Node."""

    unschedulable: bool = False
    taints: list[WireTaint] | None = None


class NodeStatus(Wire, frozen=True):
    """Status of a Node."""

    allocatable: Quantities | None = None


class WireNode(Wire, frozen=True):
    """A Node. Every field may be absent."""

    metadata: NodeMetadata = NodeMetadata()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
