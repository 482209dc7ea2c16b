"""The API server of the quota's histories, and an observer of its state, both independent of Paddock.

The queue of an application is computed from the objects alone: from the first pod's labels at creation, its
namespace and its user.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.ids import NO_NODE, NodeName, PodUid
from core.queues.users.identity import Identity
from core.resource import Resource
from core.workload.pod import OWN_GATE, PodFacts
from tests.builders import START

LEAVES = ("root.a", "root.p.x", "root.p.y")
NOWHERE = "root.nope"
ACCESS: Mapping[str, tuple[str, ...]] = {"root.p.y": ("alice",)}
"""Users who may submit to a leaf, for leaves with restrictions."""

NODES = (NodeName("n1"), NodeName("n2"))
ALL = "*"
Limits = Mapping[str, int]
"""Millicores by queue; a queue without a max is absent."""

VERBS, FILTER, GATES = "verbs", "filter", "gates"
"""Calls by a pod's markers: filter and bind, or filter alone.

Without calls, the gate is the only guard.
"""


def chain(path: str) -> list[str]:
    names = path.split(".")
    return [".".join(names[:end]) for end in range(1, len(names) + 1)]


def leads_to(pod: PodFacts) -> str:
    """The leaf that follows from a pod's labels and its user; empty for none."""
    allowed = ACCESS.get(pod.queue, (pod.identity.user,))
    return pod.queue if pod.queue in LEAVES and pod.identity.user in allowed else ""


GUARANTEED: Limits = {"root.a": 2000, "root.p.x": 1000}
DOCUMENTS: tuple[Limits, ...] = (
    {"root.a": 4000, "root.p": 5000, "root.p.x": 3000, "root.p.y": 3000},
    {"root.a": 2000, "root.p": 3000, "root.p.y": 2000},
    {"root.a": 4000, "root.p.x": 2000},
)


def document_of(limits: Limits) -> str:
    def queue(path: str, *below: str) -> str:
        indent = "  " * (2 * path.count(".") + 1)
        amounts = [f"max: {{vcore: {limits[path]}m}}"] if path in limits else []
        amounts += [f"guaranteed: {{vcore: {GUARANTEED[path]}m}}"] if path in GUARANTEED else []
        most = f"{indent}  resources: {{{', '.join(amounts)}}}\n" if amounts else ""
        access = "alice" if path == "root.p.y" else '"*"' if path.count(".") or path == "root" else ""
        children = f"{indent}  queues:\n" + "".join(below) if below else ""
        own = f"{indent}  submitacl: {access}\n" if path in ("root.a", "root.p.x", "root.p.y") else ""
        return f"{indent}- name: {path.rpartition('.')[2]}\n{own}{most}{children}"

    tree = queue("root", queue("root.a"), queue("root.p", queue("root.p.x"), queue("root.p.y")))
    return "partitions:\n- name: default\n  queues:\n" + tree


@dataclass
class App:
    """``queue``: by its first pod; ``blurred``: True if a restart may have read its pods differently."""

    queue: str
    pods: set[PodUid] = field(default_factory=set)
    ever: set[PodUid] = field(default_factory=set)
    blurred: bool = False


@dataclass
class Api:
    """Pods as the server has them, and every change in order.

    ``created``: each pod as it was made. ``homes``: its application, also after its deletion.
    """

    pods: dict[PodUid, PodFacts] = field(default_factory=dict)
    log: list[tuple[PodUid, PodFacts | None]] = field(default_factory=list)
    version: int = 100
    made: int = 0
    kinds: dict[PodUid, str] = field(default_factory=dict)
    created: dict[PodUid, PodFacts] = field(default_factory=dict)
    apps: dict[tuple[str, str], App] = field(default_factory=dict)
    ended: set[tuple[str, str]] = field(default_factory=set)
    homes: dict[PodUid, App] = field(default_factory=dict)
    edited: set[PodUid] = field(default_factory=set)

    # -- what happens to pods ---------------------------------------------------------------------------

    def create(self, kind: str, *, user: str, node: str = "", gated: bool = True, **facts: Any) -> PodFacts:
        """Create a pod, with a gate if gates are its only guard. ``node``: node of a forced pod."""
        self.made += 1
        name = f"p{self.made}"
        own = (OWN_GATE,) if kind == GATES and gated and not node else ()
        pod = PodFacts(
            uid=PodUid(f"uid-{name}"),
            name=name,
            scheduler_name="yunikorn",
            created=START + self.made,
            node=NodeName(node),
            gates=own,
            asks_filter=kind != GATES,
            identity=Identity(user),
            marked=True,
            **facts,
        )
        self.kinds[pod.uid] = kind
        self.created[pod.uid] = pod
        self._file(pod, forced=bool(node))
        self.write(pod)
        return pod

    def _file(self, pod: PodFacts, *, forced: bool) -> None:
        """File a pod. A forced pod that no queue takes is in no application."""
        key, queue = (pod.namespace, pod.app_id), leads_to(pod)
        if forced and not queue and key not in self.apps:
            return
        app = self.apps.setdefault(key, App(queue))
        if not forced or app.queue == queue:
            app.pods.add(pod.uid)
            app.ever.add(pod.uid)
            self.homes[pod.uid] = app

    def write(self, pod: PodFacts) -> None:
        self.version += 1
        pod = replace(pod, version=self.version)
        self.pods[pod.uid] = pod
        self.log.append((pod.uid, pod))

    def change(self, uid: PodUid, **changes: Any) -> None:
        self.write(replace(self.pods[uid], **changes))

    def delete(self, uid: PodUid) -> None:
        self.version += 1
        del self.pods[uid]
        self.log.append((uid, None))
        for key, app in list(self.apps.items()):
            app.pods.discard(uid)
            if not app.pods:
                del self.apps[key]
                self.ended.add(key)

    def has_capacity(self, node: str, size: Resource) -> bool:
        used = sum(pod.size.get("vcore") for pod in self.pods.values() if pod.node == node)
        return used + size.get("vcore") <= CAPACITY

    # -- where they count -------------------------------------------------------------------------------

    def queue_of(self, uid: PodUid) -> str:
        """The leaf that a pod counts in, empty for none, `ALL` if that cannot be known."""
        app = self.homes.get(uid)
        if app is None:
            return ""
        if app.blurred:
            return ALL
        # An application without a queue is placed again by its next pod that has one.
        return app.queue or (ALL if any(leads_to(self.created[each]) for each in app.ever) else "")

    def blur(self) -> None:
        """Note a restart, which reads the present labels.

        Applications whose pods differ are not checked from then on.
        """
        for app in self.apps.values():
            led = {leads_to(self.created[uid]) for uid in app.pods}
            if led != {app.queue} or app.pods & self.edited:
                app.blurred = True

    def held(
        self, pods: Iterable[PodFacts], holds: Callable[[PodFacts], bool], *, but: PodUid
    ) -> dict[str, int]:
        """Millicores by queue of pods that hold something."""
        found: dict[str, int] = {}
        for pod in pods:
            queue = self.queue_of(pod.uid) if pod.uid in self.created else ""
            if pod.uid == but or queue in ("", ALL) or not holds(pod):
                continue
            for path in chain(queue):
                found[path] = found.get(path, 0) + pod.size.get("vcore")
        return found


CAPACITY = 3_000
"""Millicores of a node."""


def excess(limits: Limits, held: Mapping[str, int], queue: str, size: Resource) -> str:
    """The queue that one more pod would bring above its max, and the excess; empty for none."""
    for path in chain(queue):
        most = limits.get(path)
        if most is not None and held.get(path, 0) + size.get("vcore") > most:
            return f"{path} would hold {held.get(path, 0)} + {size.get('vcore')} of {most}"
    return ""


def has_node(pod: PodFacts) -> bool:
    return pod.node != NO_NODE
