"""Bodies of the API extender/v1: requests, decoded as far as a verb needs them, and encoded answers.

Source: staging/src/k8s.io/kube-scheduler/extender/v1/types.go and pkg/scheduler/extender.go. As in Go, the
case of keys in requests does not matter, but other cases take a slower path. Node lists stay raw bytes, since
an accepted list is sent back unchanged.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from core.errors import PaddockError
from core.ids import NodeName
from extender.wire.calls.bodies import (
    ANY_KEYS,
    ARGS,
    BIND,
    FULL,
    HEAD_OR_NULL,
    META,
    NAME_SET,
    NAMES,
    NODES,
    POD,
    POD_OF_CALL,
    BindArgs,
    CallArgs,
    PodHead,
)
from extender.wire.calls.body_report import report_on
from extender.wire.names import MOST_UID, is_namespace_name, is_node_name, is_object_name
from extender.wire.objects.pod import WirePod


class BadBody(PaddockError):
    """An invalid request body. The text names all of its errors."""


_NULL: Final = b"null"
_NO_POD: Final = "body has no Pod"

# A body that is nested too deeply for the decoder is invalid as well.
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


@dataclass(init=False, slots=True)
class NodeRequest:
    """A filter or prioritize call. Exactly one of its two node lists is not None, as raw JSON."""

    pod: Final[PodHead]
    body: Final[bytes]
    names: Final[bytes | None]
    nodes: Final[bytes | None]

    def __init__(self, pod: PodHead, body: bytes, names: bytes | None, nodes: bytes | None) -> None:
        self.pod = pod
        self.body = body
        self.names = names
        self.nodes = nodes

    @property
    def offered(self) -> int:
        """Number of nodes in a list of names, without decoding them. 0 for a list of whole objects."""
        return self.names.count(b",") + 1 if self.names is not None else 0

    @property
    def is_plain(self) -> bool:
        """True if no name of a node contains a character that JSON escapes."""
        return b"\\" not in (self.nodes or b"" if self.names is None else self.names)

    def node_name_set(self) -> set[NodeName]:
        """Names of the offered nodes, each once. Raises `BadBody`."""
        if self.names is None:
            return set(self.node_names())
        try:
            return NAME_SET.decode(self.names)
        except _UNREADABLE as error:
            raise BadBody(f"node list: {error}") from error

    def node_names(self) -> list[NodeName]:
        """Names of the offered nodes. Raises `BadBody`."""
        try:
            if self.names is not None:
                return NAMES.decode(self.names)
            return [node.metadata.name for node in NODES.decode(self.nodes or b"{}").items or ()]
        except _UNREADABLE as error:
            raise BadBody(f"node list: {error}") from error


@dataclass(frozen=True, slots=True)
class Victims:
    """Pods to evict from one node, and the number of disruption budgets that this would violate."""

    uids: tuple[str, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class PreemptRequest:
    """A preempt call, in either mode.

    ``victims``: by node. Includes nodes without victims.
    """

    pod: PodHead
    body: bytes
    victims: Mapping[str, Victims]


@dataclass(init=False, slots=True)
class BindRequest:
    """A bind call, with valid names."""

    name: Final[str]
    namespace: Final[str]
    uid: Final[str]
    node: Final[str]

    def __init__(self, name: str, namespace: str, uid: str, node: str) -> None:
        self.name = name
        self.namespace = namespace
        self.uid = uid
        self.node = node


def node_request_from(body: bytes) -> NodeRequest:
    """Decode a filter or prioritize body. Raises `BadBody`."""
    try:
        args = _args_from(body)
        pod = _pod_head(args)
        names, nodes = _given(args.names), _given(args.nodes)
        _check_shapes(names, nodes)
        return NodeRequest(pod, body, names, None if names is not None else nodes)
    except _UNREADABLE as error:
        raise BadBody(report_on("filter", body) or str(error)) from error


def preempt_request_from(body: bytes) -> PreemptRequest:
    """Decode a preempt body of either mode. Raises `BadBody`."""
    try:
        args = _args_from(body)
        pod = _pod_head(args)
        meta = _given(args.meta_victims)
        victims = _meta_victims(meta) if meta is not None else _full_victims(_given(args.victims) or b"{}")
        return PreemptRequest(pod, body, victims)
    except _UNREADABLE as error:
        raise BadBody(report_on("preempt", body) or str(error)) from error


def bind_request_from(body: bytes) -> BindRequest:
    """Decode a bind body. Raises `BadBody`, also for an empty or invalid name, uid or node."""
    try:
        args = BIND.decode(body)
    except _UNREADABLE as error:
        folded = _bind_in_any_case(body)
        if folded is None:
            raise BadBody(report_on("bind", body) or str(error)) from error
        args = folded
    if not (args.name and args.namespace and args.uid and args.node):
        raise BadBody("PodName, PodNamespace, PodUID and Node must not be empty")
    check_names(args.namespace, args.name, args.uid)
    if not is_node_name(args.node):
        raise BadBody("Node is no name of a node")
    return BindRequest(args.name, args.namespace, args.uid, args.node)


def check_names(namespace: str, name: str, uid: str) -> None:
    """Raise `BadBody` if no pod can have this namespace, name or uid (F-18)."""
    # These names become part of URLs, Events and stories.
    if not is_namespace_name(namespace):
        raise BadBody("the pod's namespace is no name of a namespace")
    if not is_object_name(name):
        raise BadBody("the pod's name is no name of a pod")
    if len(uid) > MOST_UID:
        raise BadBody(f"the pod's uid has more than {MOST_UID} characters")


def whole_pod_from(body: bytes) -> WirePod:
    """Decode the whole pod of a filter, prioritize or preempt body. Raises `BadBody`."""
    try:
        pod = POD_OF_CALL.decode(body).pod
        if pod is UNSET and "pod" in (parts := _parts_of(body)):
            pod = POD.decode(parts["pod"])
    except _UNREADABLE as error:
        raise BadBody(report_on("pod", bytes(_parts_of(body).get("pod", b"{}"))) or str(error)) from error
    if not isinstance(pod, WirePod):
        raise BadBody(_NO_POD)
    return pod


def _args_from(body: bytes) -> CallArgs:
    args = ARGS.decode(body)
    if args.pod is UNSET or _lists_nothing(args):
        return _args_in_any_case(body)
    return args


def _lists_nothing(args: CallArgs) -> bool:
    return all(_given(each) is None for each in (args.names, args.nodes, args.victims, args.meta_victims))


def _args_in_any_case(body: bytes) -> CallArgs:
    """Decode keys in any case, as Go's decoder does."""
    folded = _parts_of(body)
    return CallArgs(
        HEAD_OR_NULL.decode(folded["pod"]) if "pod" in folded else UNSET,
        folded.get("nodenames", UNSET),
        folded.get("nodes", UNSET),
        folded.get("nodenametovictims", UNSET),
        folded.get("nodenametometavictims", UNSET),
    )


def _parts_of(body: bytes) -> dict[str, Raw]:
    """The parts of a body under their keys in lower case."""
    return {key.lower(): value for key, value in ANY_KEYS.decode(body).items()}


def _bind_in_any_case(body: bytes) -> BindArgs | None:
    try:
        folded = {key.lower(): msgspec.json.decode(raw) for key, raw in ANY_KEYS.decode(body).items()}
        values = [folded[key] for key in ("podname", "podnamespace", "poduid", "node")]
    except (*_UNREADABLE, KeyError):
        return None
    return BindArgs(*values) if all(isinstance(value, str) for value in values) else None


def _given(raw: Raw | UnsetType) -> bytes | None:
    if isinstance(raw, UnsetType):
        return None
    value = bytes(raw)
    return None if value == _NULL else value


def _check_shapes(names: bytes | None, nodes: bytes | None) -> None:
    """Raise `BadBody` unless there is a node list of the right JSON type."""
    # An accepted list is sent back without being decoded.
    if names is None and nodes is None:
        raise BadBody("body has neither NodeNames nor Nodes")
    if names is not None and not names.startswith(b"["):
        raise BadBody("NodeNames: Input should be a valid array")
    if nodes is not None and not nodes.startswith(b"{"):
        raise BadBody("Nodes: Input should be an object")
    for what, raw in (("NodeNames", names), ("Nodes", nodes)):
        if raw is not None and not (raw.isascii() or _is_text(raw)):
            raise BadBody(f"{what}: Input should be UTF-8")


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pod_head(args: CallArgs) -> PodHead:
    head = args.pod
    if not isinstance(head, PodHead):
        raise BadBody(_NO_POD)
    if not head.metadata.uid:
        raise BadBody("Pod.metadata.uid is empty")
    return head


def _meta_victims(raw: bytes) -> dict[str, Victims]:
    return {
        node: Victims(tuple(pod.uid for pod in victims.pods or () if pod), victims.violations)
        for node, victims in META.decode(raw).items()
        if victims is not None
    }


def _full_victims(raw: bytes) -> dict[str, Victims]:
    return {
        node: Victims(tuple(pod.metadata.uid for pod in victims.pods or () if pod), victims.violations)
        for node, victims in FULL.decode(raw).items()
        if victims is not None
    }


# -- answers -------------------------------------------------------------------------------------------

NO_PRIORITIES: Final = b"[]"
NO_PREEMPTION: Final = b"{}"
BOUND: Final = b"{}"
_NEXT_HOST: Final = ',{"Host":"'


def priorities(bands: Iterable[tuple[int, Sequence[NodeName]]], *, plain: bool) -> bytes:
    """Scores of nodes, where higher is better (CONTRACT-2.3).

    ``bands``: each score with its nodes.
    ``plain``: True if no name needs an escape. Those of real nodes need none.
    """
    made = _host_priorities if plain else _escaped_host_priorities
    return b"[" + b",".join([made(score, names) for score, names in bands if names]) + b"]"


def _escaped_host_priorities(score: int, names: Sequence[NodeName]) -> bytes:
    return b",".join([b'{"Host":%b,"Score":%d}' % (msgspec.json.encode(name), score) for name in names])


def _host_priorities(score: int, names: Sequence[NodeName]) -> bytes:
    """``{"Host": name, "Score": score}`` for each of the names, without the list's brackets."""
    # Joined as text, since replacing separators in bytes takes several times as long.
    tail = f'","Score":{score}}}'
    return f'{{"Host":"{(tail + _NEXT_HOST).join(names)}{tail}'.encode()


def accepted(request: NodeRequest) -> bytes:
    """Answer that accepts every offered node. The list is sent back unchanged."""
    if request.names is not None:
        return b'{"NodeNames":' + request.names + b"}"
    return b'{"Nodes":' + (request.nodes or _NULL) + b"}"


def accepted_besides(request: NodeRequest, besides: Collection[NodeName], text: str) -> bytes:
    """Answer that accepts the offered nodes except ``besides``, which get one text. Raises `BadBody`."""
    left = b',"FailedAndUnresolvableNodes":' + unresolvable_nodes(besides, text) + b"}"
    if request.names is not None:
        taken = [name for name in request.node_names() if name not in besides]
        return b'{"NodeNames":' + msgspec.json.encode(taken) + left
    try:
        nodes = msgspec.json.decode(request.nodes or b"{}")
        items = [each for each in nodes["items"] if each["metadata"]["name"] not in besides]
    except (*_UNREADABLE, KeyError, TypeError) as error:
        raise BadBody(f"Nodes: {error}") from error
    return b'{"Nodes":' + msgspec.json.encode({**nodes, "items": items}) + left


def refused(request: NodeRequest, unresolvable: bytes) -> bytes:
    """Answer that accepts no node. ``unresolvable``: the reasons, from `unresolvable_nodes`."""
    # One list must be present: kube-scheduler takes an answer with neither as "no node" without a reason.
    empty = b'"NodeNames":[]' if request.names is not None else b'"Nodes":{"metadata":{},"items":[]}'
    return b"{" + empty + b',"FailedAndUnresolvableNodes":' + unresolvable + b"}"


def unresolvable_nodes(names: Iterable[str], text: str) -> bytes:
    """JSON object that maps every node to one text."""
    value = b":" + msgspec.json.encode(text)
    return b"{" + b",".join(msgspec.json.encode(name) + value for name in names) + b"}"


def faulted(message: str) -> bytes:
    """Answer that fails a filter or bind call. kube-scheduler shows the text in the pod's Events."""
    return msgspec.json.encode({"Error": message})


def preemption(victims: Mapping[str, Victims]) -> bytes:
    """Answer with the remaining candidate nodes and their victims (CONTRACT-2.5)."""
    # A node without victims must not be among them.
    return msgspec.json.encode(
        {
            "NodeNameToMetaVictims": {
                node: {"Pods": [{"UID": uid} for uid in each.uids], "NumPDBViolations": each.violations}
                for node, each in victims.items()
                if each.uids
            }
        }
    )
