"""Orders to end applications: what they are about, and what they change in the store (ACT-20). Pure."""

from dataclasses import dataclass, replace

from core.ids import ROOT, AppId, QueuePath
from core.instants import has_come
from core.ledger.view import LedgerView
from core.workload.application import generated_name
from core.workload.ending import Ending
from extender.actions.stored import LONGEST_NAME, whole_second

SHORTEST_BAR = 1.0
"""Seconds of a bar, at least: what runs at the order has its node before that, although times are cut."""


@dataclass(frozen=True, slots=True)
class EndedApplication:
    """An application as an order finds it."""

    #: Queue whose right is needed. The root for an application without a queue.
    queue: QueuePath
    #: Creation of its youngest pod, in seconds since the epoch; 0 without a pod.
    through: float
    #: True if an order ends it already.
    ends: bool
    #: True if its id was made for its namespace (POD-4).
    is_generated: bool
    #: Names of the controllers of its pods, sorted.
    controllers: tuple[str, ...]
    #: Pods that the order ends, as ``namespace/name``, sorted.
    pods: tuple[str, ...]
    #: Pods that no order ends, sorted.
    left: tuple[str, ...]

    @classmethod
    def of(cls, view: LedgerView, app_id: AppId) -> "EndedApplication | None":
        """Describe a live application. None if there is none. Cost: O(its pods)."""
        keys = (app_id, app_id._replace(recovered=True))
        found = [each for key in keys if (each := view.application(key)) is not None]
        if not found:
            return None
        known = (view.pod(uid) for app in found for uid in app.pods)
        records = [each for each in known if each is not None]
        facts = [each.facts for each in records]
        left = {each.uid for each in records if view.is_exempt(each)}
        # Nobody has the right to the recovery queue but who has it to the root.
        queue = next((each.queue for each in found if each.queue and not each.id.recovered), None)
        return cls(
            queue if queue is not None else ROOT,
            max((each.created for each in facts), default=0.0),
            any(each.ends for each in found),
            app_id.name == generated_name(app_id.namespace),
            tuple(sorted({each.controller for each in facts if each.controller})),
            tuple(sorted(f"{each.namespace}/{each.name}" for each in facts if each.uid not in left)),
            tuple(sorted(f"{each.namespace}/{each.name}" for each in facts if each.uid in left)),
        )

    @classmethod
    def over(cls, queue: QueuePath) -> "EndedApplication":
        """Describe an application that has ended. ``queue``: as the order about it names it."""
        return cls(queue, 0.0, ends=False, is_generated=False, controllers=(), pods=(), left=())


@dataclass(frozen=True, slots=True)
class EndOrder:
    """Parts of an order that its author chooses. ``bar``: in seconds."""

    by: str
    reason: str
    bar: float
    force: bool = False


def ending_for(known: Ending | None, found: EndedApplication, order: EndOrder, *, now: float) -> Ending:
    """Order after a request. A repeated one keeps its time and its pods, while it is still followed.

    ``known``: the order about this id in the store, or None.
    """
    if known is not None and (found.ends or not has_come(known.until, now=now)):
        until = known.since + _bar_of(order)
        if (known.until, known.reason, known.force) == (until, order.reason, order.force):
            return known
        by = order.by[:LONGEST_NAME]
        return replace(known, by=by, until=until, reason=order.reason, force=order.force)
    since = whole_second(now)
    return Ending(
        order.by[:LONGEST_NAME],
        since,
        since + _bar_of(order),
        found.through,
        found.queue,
        order.reason,
        order.force,
    )


def _bar_of(order: EndOrder) -> float:
    return max(order.bar, SHORTEST_BAR)


def lifted(known: Ending, *, now: float) -> Ending:
    """Order whose bar is over. Equal to the known one if it is over already."""
    if has_come(known.until, now=now):
        return known
    return replace(known, until=max(whole_second(now), known.since + SHORTEST_BAR))
