"""The laws of preemption over all open plans together, computed from pods and queues alone. No tests.

An open plan is being carried out, or was offered to kube-scheduler. The rules are computed here from the
world, without the planner's code.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.queues.spec import QueueSpec

TYPES = ("memory", "vcore")
Size = Mapping[str, int]


@dataclass(frozen=True)
class Pod:
    """A running pod or an ask. ``node``: empty for an ask."""

    name: str
    app: str
    queue: str
    size: Size
    node: str
    priority: int
    opted_out: bool


@dataclass
class Scene:
    """The world in which a plan is judged, without the plan itself.

    ``nodes``: what each offers. ``ended``: running pods that plans in flight or kube-scheduler evict.
    ``promised``: asks whose capacity is on its way or reserved. ``taken``: the nodes of plans in flight.
    """

    queues: Mapping[str, QueueSpec]
    nodes: Mapping[str, Size]
    pods: Mapping[str, Pod]
    ended: frozenset[str] = frozenset()
    promised: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    caps: dict[str, Size] = field(default_factory=dict)

    def used(self, path: str, *, promises: bool, but: Iterable[str] = ()) -> dict[str, int]:
        """Amounts that remain in a queue and below it. ``promises``: True to include promised amounts."""
        out = {*self.ended, *but}
        used = dict.fromkeys(TYPES, 0)
        for pod in self.pods.values():
            counts = pod.node and pod.name not in out
            if (counts or (promises and pod.name in self.promised)) and is_in(pod, path):
                for name, amount in pod.size.items():
                    used[name] += amount
        return used

    def guaranteed(self, path: str) -> Size:
        spec = self.queues.get(path)
        return dict(spec.guaranteed.items()) if spec is not None and spec.guaranteed is not None else {}

    def says(self, path: str, key: str) -> str:
        spec = self.queues.get(path)
        return spec.properties.get(key, "") if spec is not None else ""


def up(path: str) -> list[str]:
    """The path and all above it."""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def is_in(pod: Pod, path: str) -> bool:
    return path in up(pod.queue)


def below_common(queue: str, other: str) -> list[str]:
    return [path for path in up(queue) if path not in up(other)]


def breaches(scene: Scene, ask: Pod, node: str, victims: Sequence[Pod]) -> list[str]:
    """Laws that a plan breaks beside all other open plans. Empty if it breaks none."""
    found = []
    if node in scene.taken:
        found.append(f"{node} is another plan's")
    found += [f"{each.name} goes for another plan already" for each in victims if each.name in scene.ended]
    for name in sorted({each.name for each in victims if not each.node}):
        found.append(f"{name} does not run")
    found += _order(victims, node)
    found += [f"LAW-2: {text}" for text in _undercut(scene, ask, victims)]
    found += [f"LAW-3: {each.name}" for each in victims if each.app == ask.app]
    found += [f"LAW-4: {text}" for text in _above_guarantee(scene, ask, victims)]
    found += [f"LAW-5: {text}" for text in _not_above(scene, ask, victims)]
    root = _fence_root(scene, ask)
    found += [f"LAW-6: {each.name}" for each in victims if not _may_take(scene, ask, each)]
    found += [f"LAW-7: {each.name}, fence {root}" for each in victims if not is_in(each, root)]
    found += [f"no room: {text}" for text in _no_capacity(scene, ask, node, victims)]
    return found


def reclaim_breaches(scene: Scene, path: str, victims: Sequence[str]) -> list[str]:
    """Faults of the victims of a quota reclaim (QCP-4, QCP-6)."""
    found = [f"{name} goes already" for name in victims if name in scene.ended]
    for name in victims:
        pod = scene.pods[name]
        if not (pod.node and is_in(pod, path)):
            found.append(f"{name} does not run in {path}")
        for each in up(pod.queue):
            left = scene.used(each, promises=False, but=victims)
            for kind, due in scene.guaranteed(each).items():
                if pod.size.get(kind) and left[kind] < due:
                    found.append(f"QCP-4: {each} is left {left[kind]} of {due} {kind} without {name}")
    return found


def _order(victims: Sequence[Pod], node: str) -> list[str]:
    """LAW-1: opted-out pods come after all others, on the node and elsewhere."""
    groups = [each for each in victims if each.node == node], [each for each in victims if each.node != node]
    wishes = [[each.opted_out for each in group] for group in groups]
    return [] if all(each == sorted(each) for each in wishes) else ["LAW-1: who opted out goes first"]


def _undercut(scene: Scene, ask: Pod, victims: Sequence[Pod]) -> Iterable[str]:
    names = [each.name for each in victims]
    for victim in victims:
        for path in below_common(victim.queue, ask.queue):
            left = scene.used(path, promises=False, but=names)
            for name, due in scene.guaranteed(path).items():
                if victim.size.get(name) and left[name] < due:
                    yield f"{path} is left {left[name]} of {due} {name} without {victim.name}"


def _above_guarantee(scene: Scene, ask: Pod, victims: Sequence[Pod]) -> Iterable[str]:
    rest = _rest_of_ask(scene, ask, but=[each.name for each in victims])
    if not any(name in rest for name in ask.size):
        yield f"{ask.queue} is guaranteed nothing of what {ask.name} asks for"
    for name, amount in ask.size.items():
        if name in rest and amount > rest[name]:
            yield f"{ask.name} asks for {amount} {name}, {rest[name]} left to the guarantee of {ask.queue}"


def _rest_of_ask(scene: Scene, ask: Pod, *, but: Iterable[str]) -> dict[str, int]:
    """Remainder of the guarantee: of the queue itself, or else the smallest above it (PRE-8)."""
    rest: dict[str, int] = {}
    own = bool(scene.guaranteed(ask.queue))
    for path in up(ask.queue)[: 1 if own else None]:
        used = scene.used(path, promises=True, but=but)
        for name, due in scene.guaranteed(path).items():
            rest[name] = min(due - used[name], rest.get(name, due - used[name]))
    return rest


def _not_above(scene: Scene, ask: Pod, victims: Sequence[Pod]) -> Iterable[str]:
    """LAW-5, one victim after the other. Capacity of earlier ones counts as the ask's."""
    before: list[Pod] = []
    hides = bool(scene.guaranteed(ask.queue))
    for victim in victims:
        rest: dict[str, int] = {}
        for path in up(victim.queue):
            shared = path in up(ask.queue)
            if shared and hides:
                continue
            used = scene.used(path, promises=shared, but=[each.name for each in before])
            for name, due in scene.guaranteed(path).items():
                handed = sum(each.size.get(name, 0) for each in before) if shared else 0
                left = due - used[name] - handed
                rest[name] = min(left, rest.get(name, left))
        if rest and not any(rest.get(name, 0) < 0 for name in ask.size):
            yield f"{victim.queue} is not above its guarantee: {rest}, for {victim.name}"
        before.append(victim)


def _fence_root(scene: Scene, ask: Pod) -> str:
    for path in up(ask.queue):
        if path == "root" or scene.says(path, "preemption.policy") == "fence":
            return path
        cap, used = _cap(scene, path), scene.used(path, promises=True)
        if any(used[name] + ask.size.get(name, 0) > cap[name] for name in TYPES if name in cap):
            return path
    raise AssertionError


def _cap(scene: Scene, path: str) -> Size:
    """The smallest max on the way up, the cluster's included."""
    if path not in scene.caps:
        caps = {name: sum(size.get(name, 0) for size in scene.nodes.values()) for name in TYPES}
        for each in up(path):
            spec = scene.queues.get(each)
            for name, amount in spec.max.items() if spec is not None and spec.max is not None else ():
                caps[name] = min(caps.get(name, amount), amount)
        scene.caps[path] = {name: amount for name, amount in caps.items() if amount}
    return scene.caps[path]


def _may_take(scene: Scene, ask: Pod, victim: Pod) -> bool:
    """Both carried to the common ancestor, or a priority fence around the victim."""
    worth = ask.priority
    for path in below_common(ask.queue, victim.queue):
        worth = _offset(scene, path) + (0 if _is_fenced(scene, path) else worth)
    fair_game = False
    for path in reversed(below_common(victim.queue, ask.queue)):
        if _is_fenced(scene, path):
            if _offset(scene, path) > worth:
                return False
            fair_game = True
        else:
            worth -= _offset(scene, path)
    return fair_game or victim.priority <= worth


def _is_fenced(scene: Scene, path: str) -> bool:
    return scene.says(path, "priority.policy") == "fence"


def _offset(scene: Scene, path: str) -> int:
    return int(scene.says(path, "priority.offset") or "0")


def _no_capacity(scene: Scene, ask: Pod, node: str, victims: Sequence[Pod]) -> Iterable[str]:
    """Count the capacity of pods evicted before as free, also for a former plan of the ask."""
    free = dict(scene.nodes[node])
    names = {each.name for each in victims} | scene.ended
    for pod in scene.pods.values():
        if pod.node == node and pod.name not in names:
            free = {name: amount - pod.size.get(name, 0) for name, amount in free.items()}
    for name, amount in ask.size.items():
        if free.get(name, 0) < amount:
            yield f"{ask.name} asks for {amount} {name}, {free.get(name, 0)} free on {node} without victims"
