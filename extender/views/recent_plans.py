"""Recent preemption plans with their receipts, for the admin port. Their number is bounded."""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from core.decisions.preemption.judging import Breach
from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import Plan

PLANS, REFUSALS = 1_000, 200
"""Plans and refusals that are stored. Each is stored as text, of about 3 KB."""


class RecentPlans:
    """The latest plans and refusals. A refusal replaces the one before if it repeats its ask and reason."""

    def __init__(self, *, plans: int = PLANS, refusals: int = REFUSALS) -> None:
        # Refusals are frequent, so that they would push out the plans of a day.
        self._plans: deque[_Entry] = deque(maxlen=plans)
        self._refusals: deque[_Entry] = deque(maxlen=refusals)
        self._number = 0

    def note(self, outcome: Outcome, *, pod: str, how: str, now: float) -> None:
        """Add a plan, or why there is none.

        ``pod``: namespace and name of the ask. ``how``: ``tick``, or ``verb`` for a preempt call.
        """
        entry = {"at": _stamp(now), "pod": pod, "by": how, **_described(outcome)}
        if isinstance(outcome, Plan):
            self._add(self._plans, entry)
            return
        same = pod, how, outcome.stop.value, outcome.law
        if self._refusals and self._refusals[-1].same == same and self._is_last(self._refusals[-1]):
            self._refusals.pop()
        self._add(self._refusals, entry, same)

    def note_breach(self, plan: Plan, breaches: Sequence[Breach], *, pod: str, now: float) -> None:
        """Add a plan that broke a law and was dropped."""
        found = [{"law": each.law, "victim": each.victim, "text": each.text} for each in breaches]
        self._add(self._plans, {"at": _stamp(now), "pod": pod, "breaches": found, **_described(plan)})

    def latest_first(self) -> list[msgspec.Raw]:
        """All entries, as JSON objects."""
        entries = heapq.merge(self._plans, self._refusals, key=attrgetter("number"))
        return [each.text for each in entries][::-1]

    def _add(self, to: "deque[_Entry]", entry: Mapping[str, Any], same: tuple[str, ...] = ()) -> None:
        self._number += 1
        to.append(_Entry(self._number, same, msgspec.Raw(msgspec.json.encode(entry))))

    def _is_last(self, entry: "_Entry") -> bool:
        return entry.number == self._number


class _Entry(NamedTuple):
    number: int
    #: Ask and reason of a refusal, empty for a plan.
    same: tuple[str, ...]
    text: msgspec.Raw


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
