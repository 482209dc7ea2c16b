"""Check that a change is minimal: with less of any component the ask is not placed."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace

from core.decisions.explanation.ending import freed_by
from core.decisions.explanation.playing import Budget, play, with_node_amount, with_raise, without
from core.decisions.explanation.shortages import Shortages, measured
from core.ids import ROOT, NodeName
from core.ledger.pods.record import PodRecord
from core.ledger.trial.change import Change
from core.ledger.trial.figures import figures_of
from core.ledger.trial.trial import Trial
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitKey, LimitKind

Checked = Generator[int, None, Change | None]


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a change with an amount. ``least``: no smaller amount can be enough, by arithmetic alone."""

    amount: int
    least: int
    #: Limit of a raise, or resource of the new node.
    of: LimitKey | str
    #: Change with another amount of it.
    changed: Callable[[Change, int], Change]


def components_of(change: Change, known: Shortages) -> Iterator[Component]:
    """Amounts of a change: each raise, and each resource of the new node."""
    lacking = known.of_limits
    for each in change.raises:
        key = each.key
        yield Component(
            each.by,
            lacking.get(key, 0),
            key,
            lambda given, by, key=key: with_raise(given, key, by),  # type: ignore[misc]
        )
    if change.node is None:
        return
    size, bound = known.record.facts.size, known.fits_nowhere
    for name, amount in change.node.allocatable.items():
        least = size.get(name) if bound else 0
        yield Component(
            amount,
            least,
            name,
            lambda given, by, name=name: with_node_amount(given, name, by),  # type: ignore[misc]
        )


def rules_out(view: LedgerView, known: Shortages, change: Change) -> bool:
    """True if an ask lacks capacity with a change of ended pods even if no other ask takes any."""
    ended = [each for each in map(view.pod, change.ended) if each is not None]
    for key, limit in known.limits.items():
        if limit.short > sum(freed_by(view, each, key) for each in ended):
            return True
    if not known.fits_nowhere:
        return False
    nodes = {each.node for each in ended}
    return not any(_takes(view, known, node, [each for each in ended if each.node == node]) for node in nodes)


def _takes(view: LedgerView, known: Shortages, node: NodeName, ended: list[PodRecord]) -> bool:
    """True if a node has the capacity for an ask once some pods on it have ended."""
    free = view.free_on(node)
    for name, amount in known.record.facts.size.items():
        if amount > 0 and free.get(name, 0) + sum(each.facts.size.get(name) for each in ended) < amount:
            return False
    return True


def minimal(
    view: LedgerView, known: Shortages, change: Change, budget: Budget, trial: Trial | None = None
) -> Checked:
    """The change with each component as small as it can be beside the others. None beyond the budget.

    The change places the ask. The result was played, and so was each smaller neighbour of it, unless
    arithmetic alone, or the course of the trial, rules that out.
    ``trial``: of this change; None if there was another one, or none.
    """
    while True:
        smaller = yield from _one_smaller(view, known, change, budget, trial)
        if smaller is None:
            return None
        if smaller[0] == change:
            return (yield from _without_empty_node(view, known, change, budget))
        change, trial = smaller


def _without_empty_node(view: LedgerView, known: Shortages, change: Change, budget: Budget) -> Checked:
    """The change without its node if nothing of that is needed. None beyond the budget."""
    if change.node is None or any(amount for _, amount in change.node.allocatable.items()):
        return change
    less = replace(change, node=None)
    trial = yield from play(view, known.record, less, budget)
    if trial is None:
        return None
    return less if trial.placed else change


def _needed(known: Shortages, change: Change, trial: Trial | None) -> set[LimitKey | str]:
    """Components of which one unit less leaves the ask out, as the trial of the change shows.

    The ask used them up, and they did not decide the order.
    """
    if trial is None or not trial.placed:
        return set()
    figures = figures_of(trial, known.record.facts.size, change.node)
    exact = measured(known, figures, [each.key for each in change.raises], None)
    found: set[LimitKey | str] = {
        each.key
        for each in exact.raises
        if each in change.raises and each.key.kind is LimitKind.QUEUE and _is_inert(trial, each.key)
    }
    # The free vcores of a node are also its place in the order of nodes.
    for name, amount in change.node.allocatable.items() if change.node is not None else ():
        is_used_up = known.fits_nowhere and name != "vcore" and figures.on_node.get(name) == amount
        if is_used_up and (ROOT, name) in trial.inert:
            found.add(name)
    return found


def _is_inert(trial: Trial, key: LimitKey) -> bool:
    return (key.path, key.resource) in trial.inert


def _one_smaller(
    view: LedgerView, known: Shortages, change: Change, budget: Budget, trial: Trial | None
) -> Generator[int, None, tuple[Change, Trial | None] | None]:
    """The change with one component lowered as far as possible, and its trial. None beyond the budget."""
    if trial is not None and not change.ended:
        exact = yield from _exact(view, known, change, budget, trial)
        if exact is None or exact[0] != change:
            return exact
    needed = _needed(known, change, trial)
    for part in list(components_of(change, known)):
        if part.amount <= part.least or part.of in needed:
            continue
        less = yield from play(view, known.record, part.changed(change, part.amount - 1), budget)
        if less is None:
            return None
        if less.placed:
            exact = yield from _exact(view, known, change, budget, less)
            if exact is None or exact[0] != change:
                return exact
            return (yield from _lowered(view, known, change, part, budget))
    for at in range(len(change.ended)):
        if rules_out(view, known, without(change, at)):
            continue
        less = yield from play(view, known.record, without(change, at), budget)
        if less is None:
            return None
        if less.placed:
            return without(change, at), less
    return change, None


def _exact(
    view: LedgerView, known: Shortages, change: Change, budget: Budget, trial: Trial
) -> Generator[int, None, tuple[Change, Trial | None] | None]:
    """The change with just what was used in a trial that placed the ask, if that is less and places it, too.

    Else the change as it is. None beyond the budget.
    """
    figures = figures_of(trial, known.record.facts.size, change.node)
    smaller = measured(known, figures, [each.key for each in change.raises], change.node)
    if smaller == change or not _is_less(smaller, change):
        return change, None
    again = yield from play(view, known.record, smaller, budget)
    if again is None:
        return None
    return (smaller, again) if again.placed else (change, None)


def _is_less(one: Change, other: Change) -> bool:
    """True if no amount of a change is larger than that of another one, which has the same limits."""
    amounts = {each.key: each.by for each in other.raises}
    if any(each.by > amounts.get(each.key, 0) for each in one.raises):
        return False
    if one.node is None or other.node is None:
        return one.node is other.node
    return all(amount <= other.node.allocatable.get(name) for name, amount in one.node.allocatable.items())


def _lowered(
    view: LedgerView, known: Shortages, change: Change, part: Component, budget: Budget
) -> Generator[int, None, tuple[Change, Trial | None] | None]:
    """Halve the range between an amount that fails and one that places the ask, until they are neighbours."""
    fails, places = part.least - 1, part.amount - 1
    while places - fails > 1:
        middle = (fails + places) // 2
        trial = yield from play(view, known.record, part.changed(change, middle), budget)
        if trial is None:
            return None
        if trial.placed:
            places = middle
        else:
            fails = middle
    return part.changed(change, places), None
