"""The laws of preemption over random trees, priorities, fences, offsets, nodes and resource types.

The rules are computed here from the pods alone, not by the planner's own code.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from core.decisions.preemption.judging import check_laws, outdated
from core.decisions.preemption.receipts import Plan
from core.ids import NodeName
from core.queues.spec import QueueSpec
from tests.core.preemption_world import World, queue

QUICK = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TYPES = ("vcore", "memory")
PARENTS = ("root.a", "root.ab", "root.abc")
LEAVES = ("root.x", "root.a.a", "root.a.ab", "root.ab.a", "root.ab.b", "root.abc.abc")
"""Names that are prefixes of others."""

Size = Mapping[str, int]


@dataclass(frozen=True)
class Pod:
    name: str
    queue: str
    size: tuple[tuple[str, int], ...]
    node: str
    priority: int
    created: float
    opted_out: bool


@dataclass(frozen=True)
class Scene:
    """Queues with running pods and asks. ``nodes``: sizes by name."""

    queues: tuple[QueueSpec, ...]
    nodes: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    pods: tuple[Pod, ...]
    asks: tuple[Pod, ...]

    def world(self, **options: bool) -> World:
        world = World(*self.queues, nodes={name: dict(size) for name, size in self.nodes}, **options)
        for pod in (*self.pods, *self.asks):
            world.pod(
                pod.name,
                pod.queue,
                dict(pod.size),
                node=NodeName(pod.node),
                priority=pod.priority,
                created=pod.created,
                allow_preemption="false" if pod.opted_out else "",
            )
        return world


SWITCHES: tuple[dict[str, str], ...] = (
    *({},) * 8,
    {"preemption_policy": "fence"},
    {"preemption_policy": "disabled"},
)
OFFSETS: tuple[dict[str, str], ...] = (
    *({},) * 6,
    {"priority_policy": "fence"},
    {"priority_policy": "fence", "priority_offset": "1"},
    {"priority_offset": "2"},
    {"priority_offset": "-1"},
)


def scene_of(rng: random.Random) -> Scene:
    """Build a scene.

    Nodes are full but for a bit, maxes of parents nearly used up, guarantees often what an ask wants. All of
    it may be over-committed.
    """
    names = [f"n{number}" for number in range(rng.randint(1, 3))]
    pods = tuple(
        replace(_pod(rng, f"p{number:02}", LEAVES[1:]), node=rng.choice(names))
        for number in range(rng.randint(3, 14))
    )
    asks = tuple(
        replace(_pod(rng, f"q{number}", LEAVES[:4], most=6), created=0.0)
        for number in range(rng.randint(1, 3))
    )
    nodes = []
    for name in names:
        held = dict.fromkeys(TYPES, rng.choice((0, 0, 0, 1, 7)))
        for pod in pods:
            for each, amount in pod.size if pod.node == name else ():
                held[each] += amount
        nodes.append((name, tuple(held.items())))
    return Scene(_queues(rng, pods, asks), tuple(nodes), pods, asks)


def _pod(rng: random.Random, name: str, leaves: Sequence[str], *, most: int = 3) -> Pod:
    size = {"memory": rng.randint(0, most), "vcore": rng.randint(1, most)}
    return Pod(
        name,
        rng.choice(leaves),
        tuple((each, amount) for each, amount in size.items() if amount),
        "",
        rng.randint(-1, 2),
        float(rng.randint(1, 5)),
        rng.random() < 0.2,
    )


def _queues(rng: random.Random, pods: Sequence[Pod], asks: Sequence[Pod]) -> tuple[QueueSpec, ...]:
    found = []
    for path in (*PARENTS, *LEAVES):
        used, due, cap = _used(pods, path), {}, {}
        if rng.random() < 0.3:
            due = {name: rng.randint(1, 9) for name in TYPES if rng.random() < 0.7}
        wanted = [ask for ask in asks if ask.queue == path]
        if wanted and rng.random() < 0.9:
            due = {
                name: used[name] + amount + rng.choice((-1, *(0,) * 6, 1, 3))
                for name, amount in wanted[0].size
            }
        if path in PARENTS and rng.random() < 0.3:
            cap = {name: max(1, used[name] + rng.randint(0, 3)) for name in TYPES if rng.random() < 0.7}
        guaranteed = {name: amount for name, amount in due.items() if amount > 0}
        properties = {**rng.choice(SWITCHES), **rng.choice(OFFSETS)}
        found.append(queue(path, leaf=path in LEAVES, guaranteed=guaranteed, max=cap, **properties))
    return tuple(found)


def scenes() -> st.SearchStrategy[Scene]:
    """Uniform distribution, unlike strategies that are composed of small choices."""
    return st.randoms(use_true_random=True).map(scene_of)


# -- what must hold, from the pods alone ------------------------------


def _covers(free: Size, size: Size) -> bool:
    return all(max(0, free.get(name, 0)) >= amount for name, amount in size.items())


def _used(pods: Iterable[Pod], path: str) -> dict[str, int]:
    used = dict.fromkeys(TYPES, 0)
    for pod in pods:
        if pod.node and (pod.queue == path or pod.queue.startswith(path + ".") or path == "root"):
            for name, amount in pod.size:
                used[name] += amount
    return used


def _up(path: str) -> list[str]:
    """The path and all above it."""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _below_common(victim: str, ask: str) -> list[str]:
    return [path for path in _up(victim) if path not in _up(ask)]


def _cap(scene: Scene, path: str) -> Size:
    """The smallest max on the way up, the cluster's included."""
    specs = {spec.path: spec for spec in scene.queues}
    caps = {name: sum(dict(size)[name] for _, size in scene.nodes) for name in TYPES}
    for each in _up(path):
        spec = specs.get(each)  # type: ignore[call-overload]
        for name, amount in spec.max.items() if spec is not None and spec.max is not None else ():
            caps[name] = min(caps[name], amount)
    return caps


def _fence_root(scene: Scene, ask: Pod) -> str:
    specs = {str(spec.path): spec for spec in scene.queues}
    for path in _up(ask.queue):
        if path == "root" or specs[path].properties.get("preemption.policy") == "fence":
            return path
        used, cap = _used(scene.pods, path), _cap(scene, path)
        if any(used[name] + dict(ask.size).get(name, 0) > cap[name] for name in TYPES):
            return path
    raise AssertionError


def _may_take(scene: Scene, ask: Pod, victim: Pod) -> bool:
    """True if priorities allow it: both carried to the common ancestor, or a fence around the victim."""
    specs = {str(spec.path): spec for spec in scene.queues}
    worth = ask.priority
    for path in _below_common(ask.queue, victim.queue):
        worth = _offset(specs[path]) + (0 if _fenced(specs[path]) else worth)
    fair_game = False
    for path in reversed(_below_common(victim.queue, ask.queue)):
        if _fenced(specs[path]):
            if _offset(specs[path]) > worth:
                return False
            fair_game = True
        else:
            worth -= _offset(specs[path])
    return fair_game or victim.priority <= worth


def _fenced(spec: QueueSpec) -> bool:
    return spec.properties.get("priority.policy") == "fence"


def _offset(spec: QueueSpec) -> int:
    return int(spec.properties.get("priority.offset", "0"))


def _enough(scene: Scene, ask: Pod, node: str, evicted: Iterable[Pod]) -> bool:
    """True if the ask fits its node, its queues and its guarantee without those pods."""
    left = [pod for pod in scene.pods if pod not in list(evicted)]
    size = dict(ask.size)
    free = dict(dict(scene.nodes)[node])
    for pod in left:
        if pod.node == node:
            free = {name: amount - dict(pod.size).get(name, 0) for name, amount in free.items()}
    if not _covers(free, size):
        return False
    specs = {str(spec.path): spec for spec in scene.queues}
    guaranteed: dict[str, int] = {}
    for path in _up(ask.queue):
        used, spec = _used(left, path), specs.get(path)
        cap = spec.max if spec is not None else None
        if cap is not None and any(
            used[name] + size.get(name, 0) > amount for name, amount in cap.items() if name in size
        ):
            return False
        due = spec.guaranteed if spec is not None else None
        if due is None or (path != ask.queue and specs[ask.queue].guaranteed is not None):
            # A guarantee of its own beats those above it (PRE-8).
            continue
        for name, amount in due.items():
            lacks = amount - used[name]
            guaranteed[name] = min(lacks, guaranteed.get(name, lacks))
    return any(name in guaranteed for name in size) and all(
        amount <= guaranteed[name] for name, amount in size.items() if name in guaranteed
    )


def plans_of(scene: Scene, **options: bool) -> Iterable[tuple[Pod, Plan, list[Pod]]]:
    world = scene.world(**options)
    by_name = {pod.name: pod for pod in scene.pods}
    for ask in scene.asks:
        plan = world.plan(ask.name)
        if isinstance(plan, Plan):
            assert check_laws(world.ledger.view, plan) == ()
            assert outdated(world.ledger.view, plan) == ""
            yield ask, plan, [by_name[victim.name] for victim in plan.victims]


@pytest.mark.rule("LAW-3", "LAW-6", "LAW-7")
@settings(QUICK, max_examples=1000)
@given(scenes())
def test_victims_are_inside_the_fence_and_no_more_important(scene: Scene) -> None:
    for ask, _, victims in plans_of(scene):
        root = _fence_root(scene, ask)
        for victim in victims:
            assert victim.queue != ask.queue
            assert root == "root" or victim.queue.startswith(root + ".")
            assert _may_take(scene, ask, victim)


def test_there_are_plans_of_several_victims() -> None:
    """The laws would be empty without any plan."""
    several = find(
        scenes(),
        lambda scene: any(len(victims) > 2 for _, _, victims in plans_of(scene)),
        settings=settings(QUICK, max_examples=2000, phases=[Phase.generate]),
    )
    assert several.pods


@pytest.mark.rule("LAW-2", "DIV-9", "DIV-22")
@settings(QUICK, max_examples=800)
@given(scenes(), st.booleans())
def test_no_queue_falls_below_its_guarantee_short_of_the_common_ancestor(scene: Scene, whole: bool) -> None:
    specs = {str(spec.path): spec for spec in scene.queues}
    for ask, _, victims in plans_of(scene, whole_ask=whole):
        left = [pod for pod in scene.pods if pod not in victims]
        for victim in victims:
            for path in _below_common(victim.queue, ask.queue):
                due = specs[path].guaranteed
                used = _used(left, path)
                assert due is None or all(
                    used[name] >= amount for name, amount in due.items() if name in dict(victim.size)
                )


@pytest.mark.rule("DIV-23", "LAW-4", "PRE-10")
@settings(QUICK, max_examples=800)
@given(scenes())
def test_the_ask_fits_without_its_victims_and_not_beside_one_of_them(scene: Scene) -> None:
    for ask, plan, victims in plans_of(scene):
        assert _enough(scene, ask, plan.node, victims)
        for victim in victims:
            assert not _enough(scene, ask, plan.node, [each for each in victims if each != victim])


@pytest.mark.rule("DIV-23", "PRE-17")
@settings(QUICK, max_examples=500)
@given(scenes())
def test_as_yunikorn_the_victims_alone_add_up_to_the_ask(scene: Scene) -> None:
    for ask, plan, victims in plans_of(scene, whole_ask=True):
        assert _enough(scene, ask, plan.node, victims)
        for name, amount in ask.size:
            given_ = [dict(victim.size)[name] for victim in victims if name in dict(victim.size)]
            assert not given_ or sum(given_) >= amount


def shuffled(rng: random.Random, pods: Sequence[Pod]) -> list[Pod]:
    """Pods in any order. Pods of one second keep their order, which decides which one is newer."""
    order = list(pods)
    rng.shuffle(order)
    waiting = {
        created: [pod for pod in pods if pod.created == created] for created in {p.created for p in pods}
    }
    return [waiting[each.created].pop(0) for each in order]


@settings(QUICK, max_examples=300)
@given(scenes(), st.randoms(use_true_random=False))
def test_neither_the_order_of_updates_nor_the_names_of_queues_matter(
    scene: Scene, rng: random.Random
) -> None:
    names = {"a": "zz", "ab": "z", "abc": "aa", "x": "zzz", "b": "y"}

    def renamed(path: str) -> str:
        return ".".join(names.get(part, part) for part in path.split("."))

    pods, asks = shuffled(rng, scene.pods), shuffled(rng, scene.asks)
    other = Scene(
        tuple(
            replace(spec, path=renamed(spec.path), parent=renamed(spec.parent or "root"))  # type: ignore[arg-type]
            for spec in scene.queues
        ),
        scene.nodes,
        tuple(replace(pod, queue=renamed(pod.queue)) for pod in pods),
        tuple(replace(ask, queue=renamed(ask.queue)) for ask in asks),
    )
    found = {ask.name: (plan.node, victims) for ask, plan, victims in plans_of(scene)}
    again = {ask.name: (plan.node, victims) for ask, plan, victims in plans_of(other)}
    assert {name: (node, [each.name for each in victims]) for name, (node, victims) in found.items()} == {
        name: (node, [each.name for each in victims]) for name, (node, victims) in again.items()
    }


@settings(QUICK, max_examples=300)
@given(scenes())
def test_planning_leaves_everything_as_it_was(scene: Scene) -> None:
    world = scene.world()

    def everything() -> list[str]:
        return [
            f"{queue!r} {queue.allocated!r} {queue.reserved!r} {queue.pending!r} {queue.preempting!r}"
            for queue in world.tree
        ] + [repr(record) for record in world.ledger.view.pods()]

    before = everything()
    for ask in scene.asks:
        world.plan(ask.name)
    assert everything() == before


@settings(QUICK, max_examples=500)
@given(scenes(), st.booleans())
def test_with_victims_that_come_back_at_once_it_becomes_quiet(scene: Scene, whole: bool) -> None:
    """There are at most as many commits as running pods at the start, even with over-committed guarantees."""
    world = scene.world(whole_ask=whole)
    commits = 0
    while world.one_commit(recreate=True):
        commits += 1
        assert commits <= len(scene.pods)


@pytest.mark.rule("LAW-2", "LAW-4", "LAW-5")
@settings(QUICK, max_examples=600)
@given(scenes())
def test_a_queue_that_was_taken_from_cannot_take_back(scene: Scene) -> None:
    for ask in scene.asks:
        world = scene.world()
        plan = world.plan(ask.name)
        if not isinstance(plan, Plan):
            continue
        world.commit(ask.name, recreate=True)
        for victim in plan.victims:
            back = world.plan(f"{victim.uid}'")
            taken = {each.queue for each in back.victims} if isinstance(back, Plan) else set()
            assert ask.queue not in taken
