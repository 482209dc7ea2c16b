"""The played API server: objects with versions, the calls that change them, and a report of every change.

The rules of the real one hold here: which pods may be bound, what a patch changes, when a deleted pod
disappears. A reader gets each change as it was made. A late reader therefore sees the object as it was then.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from core.ids import PodUid
from core.workload.nodes.node import NodeFacts
from core.workload.pod import GATE_OPENED, OWN_GATE, NamespaceFacts, PriorityClassFacts
from extender.simulator.cluster.clock import Clock, Kind
from extender.simulator.cluster.played_objects import Change, Node, NodeChange, Pod, PodChange
from extender.simulator.scenario.model import PodEntry
from extender.simulator.scenario.objects import Json, stamp, uid_of
from extender.wire import kinds
from extender.wire.translate import POD, pod_from

_encode = msgspec.json.encode


class Refusal(Exception):
    """A call that the API server refuses.

    ``absent``: there is no such object. ``node``: where the pod is bound instead.
    """

    def __init__(self, message: str, *, absent: bool = False, node: str = "") -> None:
        super().__init__(message)
        self.absent = absent
        self.node = node


class PlayedApi:
    """The objects of the cluster and the calls that change them.

    ``publish`` receives every change, in order. ``on_deleted`` receives each pod that begins to leave.
    ``post_pod`` creates a pod of Paddock's own, with all that policies do to it, and raises `Refusal`. Pods
    that ended or were deleted stay known, for the reports.
    """

    def __init__(self, clock: Clock, publish: Callable[[Change], None]) -> None:
        self._clock = clock
        self._publish = publish
        self._version = 0
        self._seq = 0
        self.pods: dict[PodUid, Pod] = {}
        self.named: dict[str, list[Pod]] = {}
        self._live: dict[tuple[str, str], Pod] = {}
        self.nodes: dict[str, Node] = {}
        self.all_nodes: list[Node] = []
        self.namespaces: dict[str, NamespaceFacts] = {}
        self.priority_classes: dict[str, Json] = {}
        self.on_deleted: Callable[[Pod], None] = _ignore_deletion
        self.post_pod: Callable[[Json], None] = _ignore_pod

    @property
    def version(self) -> int:
        """The newest resourceVersion in use."""
        return self._version

    # -- what stands still ------------------------------------------------------------------------------

    def add_namespace(self, body: Json) -> None:
        """Add a namespace."""
        facts = kinds.NAMESPACES.read(_encode(body))
        self.namespaces[facts.name] = facts

    def add_priority_class(self, body: Json) -> None:
        """Add a PriorityClass."""
        self.priority_classes[body["metadata"]["name"]] = body

    def priority_class_facts(self) -> Iterator[PriorityClassFacts]:
        """Every PriorityClass as core reads it."""
        for body in self.priority_classes.values():
            yield kinds.PRIORITY_CLASSES.read(_encode(body))

    # -- nodes --------------------------------------------------------------------------------------------

    def add_node(self, body: Json) -> Node:
        """Add a node. Raises `Refusal` for a name that is taken."""
        name = body["metadata"]["name"]
        if name in self.nodes:
            raise Refusal(f"node {name} exists already")
        node = Node(name, body, self._node_facts(body), self._clock.now)
        self.nodes[name] = node
        self.all_nodes.append(node)
        self._publish(NodeChange(node, node.facts))
        return node

    def cordon(self, name: str, *, unschedulable: bool) -> None:
        """Cordon a node, or end that."""
        node = self._node(name)
        if node.body["spec"]["unschedulable"] != unschedulable:
            node.body["spec"]["unschedulable"] = unschedulable
            node.facts = self._node_facts(node.body)
            self._publish(NodeChange(node, node.facts))

    def remove_node(self, name: str) -> None:
        """Remove a node; the pods on it are deleted at the same instant (format, rule 13)."""
        node = self._node(name)
        for pod in [pod for pod in self._live.values() if pod.node == name]:
            self.remove(pod, ended="" if pod.terminal else "deleted")
        del self.nodes[name]
        node.removed = self._clock.now
        self._publish(NodeChange(node, node.facts, deleted=True))

    def _node(self, name: str) -> Node:
        if name not in self.nodes:
            raise Refusal(f"there is no node {name}")
        return self.nodes[name]

    def _node_facts(self, body: Json) -> NodeFacts:
        body["metadata"]["resourceVersion"] = self._next_version()
        return kinds.NODES.read(_encode(body))

    # -- pods ----------------------------------------------------------------------------------------------

    def live_pods(self) -> Iterator[Pod]:
        """Every pod that exists, in order of creation, including pods that have ended."""
        return iter([pod for pod in self.pods.values() if pod.exists])

    def pod_named(self, namespace: str, name: str) -> Pod | None:
        """The pod of that name that exists now, or None."""
        return self._live.get((namespace, name))

    def create_pod(self, body: Json, *, entry: PodEntry | None, root: str, created: int) -> Pod:
        """Create a pod. Raises `Refusal` for a taken name, even of a pod that is still terminating."""
        meta = body["metadata"]
        key = meta["namespace"], meta["name"]
        known = self._live.get(key)
        if known is not None and not known.terminal:
            raise Refusal(f"there is a pod {meta['name']} already")
        if known is not None:
            self.remove(known, ended=known.ended)
        self._seq += 1
        uid = PodUid(uid_of(self._seq))
        meta["uid"] = uid
        if key[0] not in self.namespaces:
            raise Refusal(f"there is no namespace {key[0]}")
        pod = Pod(uid, *key, self._seq, body, entry, root, created)
        self.pods[uid] = self._live[key] = pod
        self.named.setdefault(pod.name, []).append(pod)
        if pod.node:
            self._run(pod, since=created)
        self._changed(pod)
        return pod

    def bind(self, pod: Pod | None, uid: str, node: str) -> None:
        """Assign a pod to a node, as pkg/registry/core/pod/storage/storage.go does. Raises `Refusal`."""
        if pod is None:
            raise Refusal("pod not found", absent=True)
        if pod.uid != uid:
            raise Refusal("the UID in the precondition does not match the pod's")
        if pod.deleting:
            raise Refusal(f"pod {pod.name} is being deleted, cannot be assigned to a host")
        if pod.node:
            raise Refusal(f"pod {pod.name} is already assigned to node {pod.node}", node=pod.node)
        if pod.body["spec"].get("schedulingGates"):
            raise Refusal(f"pod {pod.name} has non-empty .spec.schedulingGates")
        pod.body["spec"]["nodeName"] = node
        self._run(pod, since=self._clock.now)
        self._changed(pod)

    def _run(self, pod: Pod, *, since: int) -> None:
        """Write the status that API server and kubelet give a bound pod: it runs from its Binding on."""
        status = pod.body["status"]
        status.pop("nominatedNodeName", None)
        others = [each for each in status.get("conditions", ()) if each["type"] != "PodScheduled"]
        scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(since)}
        status["conditions"] = [*others, scheduled]
        status["phase"], status["startTime"] = "Running", stamp(since)
        pod.bound_at = since
        run_for = pod.entry.run_for if pod.entry is not None else None
        if run_for is not None:
            self._clock.at(since + run_for, Kind.RUN_END, lambda: self._run_ended(pod))

    def _run_ended(self, pod: Pod) -> None:
        if pod.exists and not pod.terminal and not pod.deleting:
            self.finish(pod, "Succeeded")

    def finish(self, pod: Pod, phase: str) -> None:
        """Let a pod succeed or fail. Raises `Refusal` for a pod that has no node or has ended already."""
        if pod.terminal:
            raise Refusal(f"pod {pod.name} is {pod.phase} already")
        if phase == "Succeeded" and not pod.node:
            raise Refusal(f"pod {pod.name} has no node, so it cannot complete")
        pod.body["status"]["phase"] = phase
        pod.ended = phase.lower()
        pod.deleted_at = self._clock.now
        self._changed(pod)

    def annotate(self, pod: Pod, annotations: Mapping[str, str | None]) -> None:
        """Set annotations; None removes one."""
        updated = dict(pod.body["metadata"].get("annotations") or {})
        for key, value in annotations.items():
            if value is None:
                updated.pop(key, None)
            else:
                updated[key] = value
        if updated != (pod.body["metadata"].get("annotations") or {}):
            pod.body["metadata"]["annotations"] = updated
            self._changed(pod)

    def open_gate(self, pod: Pod, gate: str = OWN_GATE, *, noted: bool = True) -> None:
        """Remove a gate. ``noted``: as Paddock does it, with a note on the pod (F-7)."""
        gates = pod.body["spec"].get("schedulingGates") or []
        left = [each for each in gates if each["name"] != gate]
        if left != gates:
            pod.body["spec"]["schedulingGates"] = left
            if gate == OWN_GATE and noted:
                pod.body["metadata"].setdefault("annotations", {})[GATE_OPENED] = "true"
            self._changed(pod)

    def set_status(self, pod: Pod, condition: Json | None, *, nominated: str | None = None) -> None:
        """Write a condition and, unless None, the nominated node.

        A patch that changes nothing is not recorded.
        """
        status = pod.body["status"]
        before = status.get("conditions") or []
        conditions = before
        if condition is not None and condition not in before:
            conditions = [each for each in before if each["type"] != condition["type"]] + [condition]
        if nominated is not None and nominated == pod.nominated:
            nominated = None
        if conditions is before and nominated is None:
            return
        status["conditions"] = conditions
        if nominated is not None:
            status["nominatedNodeName"] = nominated
        self._changed(pod)

    def resize(self, pod: Pod, requests: Mapping[str, str]) -> None:
        """Resize a pod in place and at once: its spec, and on a node its status too (RES-5)."""
        container = pod.body["spec"]["containers"][0]
        wanted = {**container.get("resources", {}).get("requests", {}), **requests}
        container["resources"] = {**container.get("resources", {}), "requests": wanted}
        self._changed(pod)

    def delete(self, pod: Pod, *, why: str = "deleted", grace: int | None = None) -> None:
        """Begin to delete a pod.

        The pod disappears after its grace period, or at once if it has no node or has ended. ``grace``:
        milliseconds instead of the pod's own; 0 also ends a deletion that has begun.
        """
        if pod.deleting:
            if grace == 0:
                self.remove(pod, ended=pod.ended)
            return
        if grace is None:
            own = pod.body["spec"].get("terminationGracePeriodSeconds", 0) * 1000
            grace = pod.entry.grace if pod.entry is not None else own
        if not pod.terminal:
            pod.ended = why
        pod.body["metadata"]["deletionTimestamp"] = stamp(self._clock.now + grace)
        if grace == 0 or not pod.node or pod.terminal:
            self.remove(pod, ended=pod.ended)
            return
        self._changed(pod)
        self._clock.at(self._clock.now + grace, Kind.POD_REMOVAL, lambda: self.remove(pod, ended=pod.ended))
        self.on_deleted(pod)

    def remove(self, pod: Pod, *, ended: str) -> None:
        """Remove a pod. Its controller learns of it now, unless it learned when the deletion began."""
        if not pod.exists:
            return
        reported = "deletionTimestamp" in pod.body["metadata"] and pod.facts.deleting
        pod.exists = False
        pod.ended = ended or pod.ended
        if not pod.terminal:
            pod.deleted_at = self._clock.now
        pod.body["metadata"].setdefault("deletionTimestamp", stamp(self._clock.now))
        del self._live[pod.namespace, pod.name]
        self._changed(pod, deleted=True)
        if not reported and not pod.terminal:
            self.on_deleted(pod)

    def _changed(self, pod: Pod, *, deleted: bool = False) -> None:
        pod.body["metadata"]["resourceVersion"] = self._next_version()
        pod.raw = _encode(pod.body)
        pod.facts = pod_from(POD.decode(pod.raw))
        self._publish(PodChange(pod, pod.facts, pod.raw, deleted))

    def _next_version(self) -> str:
        self._version += 1
        return str(self._version)


def _ignore_deletion(pod: Pod) -> None:
    """Do nothing, before a controller is attached."""
    del pod


def _ignore_pod(body: Json) -> None:
    """Do nothing, before policies are attached."""
    raise Refusal(f"pod {body['metadata']['name']} is not admitted yet")


def conditions_of(body: Mapping[str, Any], kind: str) -> Json:
    """A pod's condition of one type; empty without one."""
    found: Json = next((each for each in body["status"].get("conditions", ()) if each["type"] == kind), {})
    return found
