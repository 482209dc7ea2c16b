"""Order of the applications of a leaf, and which of them are eligible (SORT-4 to SORT-8).

Pure comparisons.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from core.ids import AppId
from core.queues.properties import SortPolicy
from core.resource import Resource
from core.workload.states import AppState

OrderKey = tuple[object, ...]
"""Sort key of applications of one leaf. Keys of different policies are never compared."""


@dataclass(init=False, slots=True)
class Applicant:
    """An application of a leaf with pending asks.

    ``priority``: the highest of its pending asks (PRI-2). ``submitted``: APP-7. ``used``: amounts it holds
    without placeholders (SORT-7).
    """

    id: Final[AppId]
    priority: Final[int]
    submitted: Final[float]
    state: Final[AppState]
    used: Final[Resource]

    def __init__(self, id: AppId, priority: int, submitted: float, state: AppState, used: Resource) -> None:
        self.id = id
        self.priority = priority
        self.submitted = submitted
        self.state = state
        self.used = used


def order_key(
    applicant: Applicant, policy: SortPolicy, *, by_priority: bool, guaranteed: Resource | None
) -> OrderKey:
    """Sort key of an application, the lower first (SORT-5). Ends in the id.

    ``guaranteed``: of the leaf itself.
    """
    own: object = applicant.submitted
    if policy is SortPolicy.FAIR:
        own = usage_shares(applicant.used, guaranteed)
    return key_from(applicant.priority, own, applicant.submitted, applicant.id, by_priority=by_priority)


def key_from(priority: int, own: object, submitted: float, app_id: AppId, *, by_priority: bool) -> OrderKey:
    """Sort key as from `order_key`. ``own``: usage shares, or the time of submission if no usage counts."""
    if by_priority:
        return (-priority, own, submitted, app_id)
    return (own, -priority, submitted, app_id)


def usage_shares(used: Resource, guaranteed: Resource | None) -> tuple[float, ...]:
    """Usage of an application as shares of the leaf's guarantee, the largest first (SORT-7).

    Without a guarantee, amounts stand as they are. Tuples compare as RES-10 says: a trailing zero means
    nothing. Beside a side without more shares, a positive share is more and a negative one less.
    """
    shares = sorted((_share(name, amount, guaranteed) for name, amount in used.items()), reverse=True)
    while shares and shares[-1] == 0:
        shares.pop()
    return (*shares, 0.0)


def _share(name: str, amount: int, guaranteed: Resource | None) -> float:
    due = guaranteed.get(name) if guaranteed is not None else 0
    return amount / due if due else float(amount)


def eligible_applications(
    applicants: Sequence[Applicant], starting: Iterable[AppId], *, by_priority: bool
) -> frozenset[AppId]:
    """Applications of a ``stateaware`` leaf that are eligible (SORT-8).

    ``starting``: its Starting applications, pending or not. Eligible are all that run, and the first Starting
    one in the leaf's order. If none starts, one Accepted application is eligible too: the most important,
    then the oldest (DIV-4). Without priorities it is the oldest.
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
