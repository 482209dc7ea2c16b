"""A slot is freed, and kube-scheduler knows of it before Paddock does."""

import asyncio
import time

import pytest

from e2e.cluster.client import Cluster, message_of
from e2e.stands.course import Course, say
from e2e.stands.stand import Stand, eventually
from e2e.stands.timing import took

WATCH = "^/api/v1/pods$"
"""Path of Paddock's watch of pods."""

PROMPT = 0.1
"""Seconds from the event to the wake-up, at most (DESIGN-3), with some more for the Binding."""

ROUNDS = 5
AFTER_BACK_OFF = 1.5
"""Seconds after which no back-off of kube-scheduler's is left."""


@pytest.mark.timed
async def test_a_pod_refused_before_the_event_is_woken_at_once(cluster: Cluster) -> None:
    """The call is refused, so the pod is in its back-off when it is woken.

    No other pod waits for kube-scheduler, which then takes it out before its time (SchedulerPopFromBackoffQ).
    """
    course = Course()
    async with Stand(cluster, {"a": {"max": {"vcore": "1"}}}, proxied=True) as stand:
        stand.pods.listeners.append(course.on_pod)
        await cluster.add_nodes(1)
        await cluster.create_pod("p0", queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "the first is bound")
        heard = [await _next_takes_the_slot(cluster, stand, at) for at in range(1, ROUNDS + 1)]
    names = [f"p{at}" for at in range(1, ROUNDS + 1)]
    woken = [course.woken[name][0] - at for name, at in zip(names, heard, strict=True)]
    bound = [course.bound[name] - course.woken[name][-1] for name in names]
    say("event to woken", woken)
    say("woken to bound", bound)
    took("event to woken, at most", max(woken), at_most=PROMPT)
    assert all(len(course.woken[name]) == 1 for name in names)
    took("woken to bound, half of them", sorted(bound)[ROUNDS // 2], at_most=PROMPT)


async def _next_takes_the_slot(cluster: Cluster, stand: Stand, at: int) -> float:
    """Let a pod wait for the slot before it, be refused again beside the free slot, and take it.

    Returns the time at which Paddock hears that the slot is free.
    """
    name = f"p{at}"
    await cluster.create_pod(name, queue="root.a")
    await stand.pods.until(lambda: "QuotaExceeded" in message_of(stand.pods.named(name)), "it is refused")
    await asyncio.sleep(AFTER_BACK_OFF)
    before = await _refusals(stand)
    stand.proxy.freeze(WATCH)
    await cluster.delete_pod(f"p{at - 1}")

    async def is_refused_again() -> bool:
        return await _refusals(stand) > before

    await eventually(is_refused_again, "it is refused beside the free slot")
    heard = time.monotonic()
    stand.proxy.thaw()
    await stand.pods.until(lambda: stand.pods.named(name) in stand.pods.bound(), "it takes the slot")

    async def known() -> bool:
        return await stand.paddock.metric("paddock_queue_allocated", queue="root.a", resource="vcore") == 1000

    await eventually(known, "Paddock knows of it")
    return heard


async def _refusals(stand: Stand) -> float:
    return await stand.paddock.metric("paddock_decisions_total", verb="filter", code="QuotaExceeded")
