"""A preemption of two pods for one, cut off by tests after each of its effects, and how it must end."""

import asyncio
from typing import NamedTuple

from e2e.stands.preemption import PREEMPTED_FOR, RESERVED, TRIGGERED, Contest, queue

QUEUES = {"root.poor": queue(guaranteed=2), "root.rich": queue()}
VICTIMS = ["rich-1", "rich-2"]
RIVALS = [f"rival-{at}" for at in range(3)]
"""Other pods that want the capacity which the victims leave."""

Effect = tuple[str, str, str]
"""An effect: method, path and body of the call that asks for it."""

EFFECTS: dict[str, Effect] = {
    "the ask is marked": ("PATCH", "/pods/poor$", f'"{TRIGGERED}":"'),
    "a victim is marked": ("PATCH", "/pods/rich-2$", f'"{PREEMPTED_FOR}":"'),
    "a victim is evicted": ("POST", "/pods/rich-2/eviction$", ""),
    "the other victim is marked": ("PATCH", "/pods/rich-1$", f'"{PREEMPTED_FOR}":"'),
    "the other victim is evicted": ("POST", "/pods/rich-1/eviction$", ""),
    "the node is nominated": ("PATCH", "/pods/poor/status$", '"nominatedNodeName":"'),
    "the record is taken off": ("PATCH", "/pods/poor$", f'"{RESERVED}":null'),
}
"""The effects in order: the newest two of three victims leave, each as soon as it can."""

MARKED = EFFECTS["a victim is marked"]
NOMINATED = EFFECTS["the node is nominated"]


async def until_done(here: Contest, effect: Effect, *, grace: int, cores: int = 2) -> None:
    """Run a preemption until ``effect`` is done and its answer is held.

    Three pods of one core hold a node. A pod of several cores is owed their capacity. kube-scheduler is
    stopped if the effect is `NOMINATED`.
    """
    await here.run("rich", 3, queue="root.rich", grace=grace)
    done = here.stand.proxy.hold_next(*effect)
    if effect == NOMINATED:
        # kube-scheduler may ask by itself, and be faster.
        await here.stand.scheduler.kill()
    await here.cluster.create_pod("poor", queue="root.poor", cpu=str(cores))
    # Enough for a failed attempt, its back-off of 15 s, and one more.
    await asyncio.wait_for(done.wait(), 45)


async def create_rivals(here: Contest) -> None:
    await here.cluster.create_pods(here.cluster.pod(name, queue="root.rich") for name in RIVALS)


class Evictions(NamedTuple):
    """Requests to evict a pod: those that the API server carried out, and those that it has not answered."""

    done: int
    under_way: int


def evictions(here: Contest) -> dict[str, Evictions]:
    """The requests to evict each victim so far."""
    proxy = here.stand.proxy
    paths = {name: f"/pods/{name}/eviction$" for name in VICTIMS}
    return {
        name: Evictions(proxy.accepted("POST", path), proxy.under_way("POST", path))
        for name, path in paths.items()
    }


async def until_over(here: Contest, before: dict[str, Evictions]) -> None:
    """Wait for the end: the victims were evicted, no other pod was, and no rival got in.

    ``before``: the requests of the killed process. What was done for it is not requested again.
    """
    await here.until_unmarked()
    assert sorted(here.exits.left) == VICTIMS
    after = evictions(here)
    # A request that was under way may meet one of the next process: both name one uid, and both succeed.
    for name in VICTIMS:
        former, whole = before[name], after[name]
        assert former.done + former.under_way <= 1, (name, before)
        asked_anew = 0 if former.done else 1
        assert 1 <= whole.done <= former.done + former.under_way + asked_anew, (name, before, after)
    assert not {*RIVALS} & {*here.course.bound}
