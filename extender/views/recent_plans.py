"""Recent preemption plans with their receipts, for the admin port. Their number is bounded."""

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core.decisions.preemption.judging import Breach
from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import Plan

MOST = 200
"""Plans and refusals that are stored."""


class RecentPlans:
    """The latest plans and refusals. A refusal replaces the one before if it repeats its ask and reason."""

    def __init__(self, *, most: int = MOST) -> None:
        self._entries: deque[dict[str, Any]] = deque(maxlen=most)

    def note(self, outcome: Outcome, *, pod: str, how: str, now: float) -> None:
        """Add a plan, or why there is none.

        ``pod``: namespace and name of the ask. ``how``: ``tick``, or ``verb`` for a preempt call.
        """
        entry = {"at": _stamp(now), "pod": pod, "by": how, **_described(outcome)}
        last = self._entries[-1] if self._entries else None
        if last is not None and "refused" in entry and _same(last, entry):
            self._entries.pop()
        self._entries.append(entry)

    def note_breach(self, plan: Plan, breaches: Sequence[Breach], *, pod: str, now: float) -> None:
        """Add a plan that broke a law and was dropped."""
        found = [{"law": each.law, "victim": each.victim, "text": each.text} for each in breaches]
        self._entries.append({"at": _stamp(now), "pod": pod, "breaches": found, **_described(plan)})

    def latest_first(self) -> list[Mapping[str, Any]]:
        """All entries, as JSON objects."""
        return list(reversed(self._entries))


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    keys = ("pod", "by", "refused", "law")
    return all(one.get(key) == other.get(key) for key in keys)


def _described(outcome: Outcome) -> dict[str, Any]:
    if not isinstance(outcome, Plan):
        return {"refused": outcome.stop.value, "law": outcome.law, "why": outcome.as_dict()}
    victims = [f"{each.namespace}/{each.name}" for each in outcome.victims]
    return {
        "kind": outcome.kind.value,
        "queue": outcome.queue,
        "node": outcome.node,
        "victims": victims,
        "receipt": outcome.receipt.as_dict(),
    }


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
