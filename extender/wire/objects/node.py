"""The parts of a Node that Paddock reads, as they come from a watch, a list or an extender request body."""

from extender.wire.objects.pod import Quantities, Wire


class NodeMetadata(Wire, frozen=True):
    name: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None


class WireTaint(Wire, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Wire, frozen=True):
    unschedulable: bool = False
    taints: list[WireTaint] | None = None


class NodeStatus(Wire, frozen=True):
    allocatable: Quantities | None = None


class WireNode(Wire, frozen=True):
    """A Node. Every part may be absent."""

    metadata: NodeMetadata = NodeMetadata()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
