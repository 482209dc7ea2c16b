"""Trials of changes for one ask, within a budget. Only a played cycle tells what a change does."""

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, field, replace

from core.ids import QueuePath
from core.ledger.pods.record import PodRecord
from core.ledger.trial.change import Change, Raise
from core.ledger.trial.changed_queues import ChangedQueues
from core.ledger.trial.figures import Figures
from core.ledger.trial.trial import Trial
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitKey
from core.resource import Resource
from core.workload.nodes.node import NodeFacts

UNITS_AT_MOST = 10_000
"""Units of work, of less than ten microseconds, for all trials of one explanation."""

RACED_AT_MOST = 10_000
"""Units of work for one race. A pod behind two thousand others has its answer in a tenth of a second."""

_UNITS_OF_DISMANTLING = 10

Play = Generator[int, None, Trial | None]


@dataclass(slots=True)
class Budget:
    """Work that trials may still cost, and how many were played. Keeps the queues that they copied."""

    left: int = field(default_factory=lambda: UNITS_AT_MOST)
    trials: int = 0
    copies: list[ChangedQueues] = field(default_factory=list)

    def is_over(self) -> bool:
        """True if nothing more is played."""
        return self.left <= 0

    def dismantle(self) -> Generator[int, None, None]:
        """Drop the copied queues of one trial after another. The trials must not be read any more."""
        while self.copies:
            self.copies.pop().dismantle()
            yield _UNITS_OF_DISMANTLING

    def dismantle_now(self) -> None:
        """Drop all copied queues, which refer to themselves. The trials must not be read any more."""
        for each in self.copies:
            each.dismantle()


def play(
    view: LedgerView, record: PodRecord, change: Change, budget: Budget, measure: Change | None = None
) -> Play:
    """Play a change. None if the budget does not suffice. ``measure``: see `Trial`."""
    below = _below(view, record, change)
    trial = yield from _played(view.trial(record.uid, change, below, measure=measure), budget)
    if trial is None or not trial.unsure:
        return trial
    exact = view.trial(record.uid, change, below, measure=measure, exact=True)
    return (yield from _played(exact, budget))


def _played(trial: Trial, budget: Budget) -> Play:
    budget.trials += 1
    steps = trial.run()
    try:
        for units in steps:
            budget.left -= units
            yield units
            if budget.is_over():
                return None
    finally:
        # Compiled steps clean up only if they are closed.
        steps.close()
        trial.dismantle()
        budget.copies += trial.copies
    return trial


def race(
    view: LedgerView, record: PodRecord, lifted: Collection[LimitKey], node: NodeFacts, budget: Budget
) -> Generator[int, None, Figures | None]:
    """Amounts that are taken up to the turn of an ask, with lifted limits and a node beyond all demand.

    None beyond its own budget, or where only a trial can tell.
    """
    budget.trials += 1
    found, left = view.race(record, lifted, node), RACED_AT_MOST
    try:
        for units in found.run():
            left -= units
            yield units
            if left <= 0:
                return None
        yield from found.dismantle()
    finally:
        found.dismantle_now()
    return found.figures


def may_change(view: LedgerView, record: PodRecord) -> bool:
    """True if the next cycle may find something else for other asks even without a change."""
    return view.cycle_wanted or view.gives_turns_anew or view.others_may_fit(record.uid)


def _below(view: LedgerView, record: PodRecord, change: Change) -> list[QueuePath] | None:
    """Queues whose asks may gain by a change. None for all.

    An ask of any other queue did not fit at its last check, unless a cycle is still to check it.
    """
    if change.is_wide or may_change(view, record):
        return None
    leaf = view.queue_of(record)
    return [*(each.key.path for each in change.raises), *([leaf.path] if leaf is not None else [])]


# -- components of a change ----------------------------------------------------------------------------------


def raised(amounts: Mapping[LimitKey, int]) -> tuple[Raise, ...]:
    """Raises by these amounts, in the order of their keys."""
    return tuple(Raise(key, amounts[key]) for key in sorted(amounts) if amounts[key] > 0)


def with_raise(change: Change, key: LimitKey, by: int) -> Change:
    """Return the change with another amount for one raise; without it for an amount of 0."""
    amounts = {each.key: each.by for each in change.raises}
    return replace(change, raises=raised({**amounts, key: by}))


def with_node_amount(change: Change, name: str, amount: int) -> Change:
    """Return the change with another amount of one resource on its new node."""
    node = change.node
    if node is None:
        return change
    amounts = {**dict(node.allocatable.items()), name: amount}
    return replace(change, node=resized(node, amounts))


def resized(node: NodeFacts, amounts: Mapping[str, int]) -> NodeFacts:
    """Node of another size."""
    return replace(node, allocatable=Resource(amounts))


def without(change: Change, at: int) -> Change:
    """Return the change without one of the ended pods."""
    return replace(change, ended=(*change.ended[:at], *change.ended[at + 1 :]))
