"""Which application of a leaf goes first, and which may be looked at (SORT-4 to SORT-8). Pure comparisons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.ids import AppId
from core.queues.properties import SortPolicy
from core.resource import Resource
from core.workload.states import AppState

OrderKey = tuple[object, ...]
"""Sorts applications of one leaf; keys of different policies are never compared."""


@dataclass(frozen=True, slots=True)
class Applicant:
    """An application of a leaf with something pending.

    ``priority``: the highest of its pending asks (PRI-2); ``submitted``: APP-7; ``used``: what it holds,
    placeholders left out (SORT-7).
    """

    id: AppId
    priority: int
    submitted: float
    state: AppState
    used: Resource


def order_key(
    applicant: Applicant, policy: SortPolicy, *, by_priority: bool, guaranteed: Resource | None
) -> OrderKey:
    """The lower goes first (SORT-5); ends in the id. ``guaranteed``: the leaf's own."""
    priority = -applicant.priority
    own: object = applicant.submitted
    if policy is SortPolicy.FAIR:
        own = usage_shares(applicant.used, guaranteed)
    front = (priority, own) if by_priority else (own, priority)
    return (*front, applicant.submitted, applicant.id)


def usage_shares(used: Resource, guaranteed: Resource | None) -> tuple[float, ...]:
    """What an application uses, of the leaf's guarantee or as it is, the largest first (SORT-7).

    Tuples compare as RES-10 says: a trailing zero says nothing, and beside one that has no more shares a
    positive one is more and a negative one less.
    """
    shares = sorted((_share(name, amount, guaranteed) for name, amount in used.items()), reverse=True)
    while shares and shares[-1] == 0:
        shares.pop()
    return (*shares, 0.0)


def _share(name: str, amount: int, guaranteed: Resource | None) -> float:
    due = guaranteed.get(name) if guaranteed is not None else 0
    return amount / due if due else float(amount)


def may_be_looked_at(
    applicants: Sequence[Applicant], starting: Iterable[AppId], *, by_priority: bool
) -> frozenset[AppId]:
    """Who of a ``stateaware`` leaf takes part (SORT-8). ``starting``: its Starting ones, pending or not.

    All that run; of those that start the first in the leaf's order; and one that is Accepted, when none
    starts: the most important and then oldest one, or without priorities the oldest (DIV-4).
    """
    in_order = sorted(
        applicants,
        key=lambda each: order_key(each, SortPolicy.FIFO, by_priority=by_priority, guaranteed=None),
    )
    chosen = {each.id for each in in_order if each.state not in (AppState.ACCEPTED, AppState.STARTING)}
    chosen.update(each.id for each in _first(in_order, AppState.STARTING))
    if not any(True for _ in starting):
        chosen.update(each.id for each in _first(in_order, AppState.ACCEPTED))
    return frozenset(chosen)


def _first(in_order: Sequence[Applicant], state: AppState) -> list[Applicant]:
    return [each for each in in_order if each.state is state][:1]
