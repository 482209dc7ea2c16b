"""Bodies of the API extender/v1, as msgspec decodes them."""

import msgspec
from msgspec import UNSET, Raw, UnsetType

from core.ids import NO_NODE, NodeName
from extender.wire.objects.pod import Wire, WirePod


class HeadMetadata(Wire, frozen=True):
    """Metadata of a pod that most calls need."""

    uid: str
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class PodHead(Wire, frozen=True):
    """Identity and version of a pod, which is all that most calls need."""

    metadata: HeadMetadata


class CallArgs(msgspec.Struct):
    """Parts of a filter, prioritize or preempt call."""

    pod: PodHead | UnsetType | None = msgspec.field(default=UNSET, name="Pod")
    names: Raw | UnsetType = msgspec.field(default=UNSET, name="NodeNames")
    nodes: Raw | UnsetType = msgspec.field(default=UNSET, name="Nodes")
    victims: Raw | UnsetType = msgspec.field(default=UNSET, name="NodeNameToVictims")
    meta_victims: Raw | UnsetType = msgspec.field(default=UNSET, name="NodeNameToMetaVictims")


class PodOfCall(msgspec.Struct):
    """The whole pod of such a call."""

    pod: WirePod | UnsetType | None = msgspec.field(default=UNSET, name="Pod")


class _NamedMetadata(Wire, frozen=True):
    name: NodeName = NO_NODE


class _Named(Wire, frozen=True):
    metadata: _NamedMetadata = _NamedMetadata()


class _NodeList(Wire, frozen=True):
    items: list[_Named] | None = None


class _MetaPod(msgspec.Struct, frozen=True):
    uid: str = msgspec.field(name="UID")


class _MetaVictims(msgspec.Struct, frozen=True):
    pods: list[_MetaPod | None] | None = msgspec.field(default=None, name="Pods")
    violations: int = msgspec.field(default=0, name="NumPDBViolations")


class _FullVictims(msgspec.Struct, frozen=True):
    pods: list[PodHead | None] | None = msgspec.field(default=None, name="Pods")
    violations: int = msgspec.field(default=0, name="NumPDBViolations")


class BindArgs(msgspec.Struct, frozen=True):
    """A bind call."""

    name: str = msgspec.field(name="PodName")
    namespace: str = msgspec.field(name="PodNamespace")
    uid: str = msgspec.field(name="PodUID")
    node: str = msgspec.field(name="Node")


ARGS = msgspec.json.Decoder(CallArgs)
ANY_KEYS = msgspec.json.Decoder(dict[str, Raw])
HEAD_OR_NULL: msgspec.json.Decoder[PodHead | None] = msgspec.json.Decoder(PodHead | None)
POD = msgspec.json.Decoder(WirePod)
POD_OF_CALL = msgspec.json.Decoder(PodOfCall)
NAMES = msgspec.json.Decoder(list[NodeName])
NAME_SET = msgspec.json.Decoder(set[NodeName])
NODES = msgspec.json.Decoder(_NodeList)
META = msgspec.json.Decoder(dict[str, _MetaVictims | None])
FULL = msgspec.json.Decoder(dict[str, _FullVictims | None])
BIND = msgspec.json.Decoder(BindArgs)
