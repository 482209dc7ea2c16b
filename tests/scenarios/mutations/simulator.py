"""Mutations for parts of the simulator: kube-scheduler, controllers, restarts."""

from collections.abc import Callable
from typing import Any

from extender.simulator.scheduler.scheduling_queue import Place, Queued
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced


def _while_starting(entry: str, silenced: str, answer: Callable[[], Any], *, since: int = 0) -> Mutate:
    """While ``entry`` runs, ``silenced`` gives that answer. ``since``: not in starts before that moment."""
    under_way: list[str] = []

    def starting(rule: Rule, started: Any, *args: Any) -> None:
        if args and args[0].now < since:
            rule(started, *args)
            return
        under_way.append(entry)
        try:
            rule(started, *args)
        finally:
            under_way.pop()

    def answering_then(rule: Rule, *args: Any) -> Any:
        return answer() if under_way else rule(*args)

    return both(replaced(entry, starting), replaced(silenced, answering_then))


UNLISTED = _while_starting("paddock_starts", "live_pods", lambda: iter(()))
"""A restart that reads no pods."""

NOT_QUEUED = _while_starting("scheduler_starts", "scheduler_queues_pod", lambda: None, since=1)
"""A scheduler that tries no pod that it found when it started."""


def _by_creation(rule: Rule, queued: Queued) -> tuple[int, int, int]:
    return (0, queued.queued_at, queued.info.pod.seq)


def _pool_for_errors(rule: Rule, queue: Any, queued: Any, place: Place) -> None:
    rule(queue, queued, Place.POOL if place is Place.ERROR else place)


def _anywhere(rule: Rule, *args: Any, **more: Any) -> Any:
    """No pod asks for one node."""
    body = rule(*args, **more)
    return {**body, "spec": {key: value for key, value in body["spec"].items() if key != "affinity"}}


SIMULATOR: dict[str, Mutate] = {
    "daemon-set-pod": replaced("pod_of_entry", _anywhere),
    "killed-right-after-a-binding": UNLISTED,
    "nominated-node-is-kept": answering("scheduler_nominations", ()),
    "preemption-and-a-controller": answering("copies_of_pods", None),
    "preemption-never": answering("scheduler_may_preempt", ""),
    "preemption-prefers-pods-without-budget": answering("scheduler_sees_budget", False),
    "restart-forgets-nothing": UNLISTED,
    "restart-of-the-scheduler": NOT_QUEUED,
    "scheduler-order": replaced("scheduler_queue_order", _by_creation),
    "scheduler-samples-nodes": answering("scheduler_samples_nodes", 10**6),
    "scheduler-scores": answering("scheduler_scores", 0),
    "scheduler-taints-and-selectors": answering("why_not_on_node", ""),
    "scheduler-waits-after-an-error": replaced("scheduler_puts_back", _pool_for_errors),
}
