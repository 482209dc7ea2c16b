"""The played kube-scheduler's side of extender/v1: bodies as it sends them, answers as it reads them.

Source: pkg/scheduler/extender.go. ``nodeCacheCapable`` is on, as in every shipped configuration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import msgspec

from extender.simulator.scheduler.node_cache import PodInfo
from extender.simulator.scheduler.plugins import Status, Statuses, statuses_of

_encode = msgspec.json.encode
_decode = msgspec.json.decode


class CallFailed(Exception):
    """A call without an answer, or with an error as its answer. The attempt ends as a scheduler error."""


class ExtenderServer(Protocol):
    """The extender's verbs. Each takes a request body and raises `CallFailed` for any status but 200."""

    def filter(self, body: bytes) -> bytes:
        """Answer filter."""

    def prioritize(self, body: bytes) -> bytes:
        """Answer prioritize."""

    def preempt(self, body: bytes) -> bytes:
        """Answer preempt."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """The extender's answer to filter."""

    #: Names of the nodes that the extender left; None if it left every node offered.
    feasible: Sequence[str] | None
    #: Reasons that it gave for the other nodes.
    statuses: Statuses


@dataclass(frozen=True, slots=True)
class Victims:
    """Pods that would have to leave a node."""

    #: Pods to evict, the most important first.
    pods: tuple[PodInfo, ...]
    #: Number of them whose eviction violates a PodDisruptionBudget.
    violations: int


def call_filter(server: ExtenderServer, pod: bytes, names: bytes, offered: Sequence[str]) -> Filtered:
    """Offer nodes; ``names`` is ``offered`` encoded. Raises `CallFailed`."""
    answer = server.filter(_node_args(pod, names))
    if answer == b'{"NodeNames":' + names + b"}":
        return _ALL_FEASIBLE
    found = _read_filter(answer)
    if found.feasible is not None and not set(found.feasible) <= set(offered):
        raise CallFailed("extender claims a node that was not in the request")
    return found


@lru_cache(maxsize=64)
def _read_filter(answer: bytes) -> Filtered:
    """Read an answer. The same refusal comes thousands of times and names every node, hence the cache."""
    read: dict[str, Any] = {key.lower(): value for key, value in _decode(answer).items()}
    if read.get("error"):
        raise CallFailed(str(read["error"]))
    reasons = {
        **_statuses(read.get("failednodes") or {}, resolvable=True),
        **_statuses(read.get("failedandunresolvablenodes") or {}, resolvable=False),
    }
    return Filtered(read.get("nodenames") or (), statuses_of(reasons))


def _statuses(reasons: Mapping[str, str], *, resolvable: bool) -> dict[str, Status]:
    return {name: Status(resolvable, (text,)) for name, text in reasons.items()}


_ALL_FEASIBLE = Filtered(None, statuses_of({}))


def call_prioritize(server: ExtenderServer, pod: bytes, names: bytes) -> dict[str, int]:
    """Scores by node; a failed call gives none (CONTRACT-2.3)."""
    try:
        answer = server.prioritize(_node_args(pod, names))
    except CallFailed:
        return {}
    scores: dict[str, int] = {}
    for each in _decode(answer) if answer != b"[]" else ():
        scores[each["Host"]] = scores.get(each["Host"], 0) + each["Score"]
    return scores


def call_preempt(
    server: ExtenderServer, pod: bytes, victims: Mapping[str, Victims]
) -> dict[str, tuple[list[str], int]]:
    """Uids of victims and budget violations by node.

    Raises `CallFailed`, also for a node without victims.
    """
    meta = {
        node: {"Pods": [{"UID": info.uid} for info in each.pods], "NumPDBViolations": each.violations}
        for node, each in victims.items()
    }
    body = b'{"Pod":' + pod + b',"NodeNameToVictims":null,"NodeNameToMetaVictims":' + _encode(meta) + b"}"
    answer = _decode(server.preempt(body)).get("NodeNameToMetaVictims") or {}
    found = {}
    for node, each in answer.items():
        uids = [pod["UID"] for pod in each.get("Pods") or ()]
        if not uids:
            raise CallFailed(f'expected at least one victim pod on node "{node}"')
        found[node] = uids, int(each.get("NumPDBViolations") or 0)
    return found


def bind_body(name: str, namespace: str, uid: str, node: str) -> bytes:
    """The body of a bind call."""
    return _encode({"PodName": name, "PodNamespace": namespace, "PodUID": uid, "Node": node})


def bind_error(answer: bytes) -> str:
    """The error of a bind call; empty if the pod is bound."""
    return str(_decode(answer).get("Error") or "")


def encoded_names(names: Sequence[str]) -> bytes:
    """Names of nodes as JSON."""
    return _encode(names)


def _node_args(pod: bytes, names: bytes) -> bytes:
    return b'{"Pod":' + pod + b',"Nodes":null,"NodeNames":' + names + b"}"
