"""Choice of running pods whose end would give an ask what it lacks. A trial checks the choice."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from core.decisions.explanation.holders import HOLDERS, holders_under
from core.decisions.explanation.shortages import Shortages
from core.ids import NO_NODE, AppId, NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitKey
from core.queues.users.limits import Tracked
from core.workload.states import AppState

ENDED_AT_MOST = 12
"""Pods of one change."""

NODES_TRIED = 4
"""Nodes on which pods may end, those that lack least first."""

PODS_PER_HOLDER = 200
"""Pods of one application that are compared."""

_COMPARED_PER_UNIT = 5

Gap = LimitKey | str
"""Limit, or resource of a node, of which something is missing."""


@dataclass(slots=True)
class Choice:
    """Pods chosen so far, and what is still missing."""

    gaps: dict[Gap, int]
    node: NodeName = NO_NODE
    chosen: list[PodRecord] = field(default_factory=list)

    @property
    def suffices(self) -> bool:
        """True if nothing is missing any more."""
        return not any(amount > 0 for amount in self.gaps.values())


def pods_to_end(
    view: LedgerView, known: Shortages, extra: Mapping[LimitKey, int]
) -> Generator[int, None, tuple[PodUid, ...]]:
    """Few pods whose end covers all gaps; empty for none. ``extra``: what others take before the ask."""
    gaps: dict[Gap, int] = {}
    for key, limit in known.limits.items():
        if limit.short:
            gaps[key] = limit.short
    for key, amount in extra.items():
        gaps[key] = gaps.get(key, 0) + amount
    candidates = yield from _under_limits(view, gaps)
    best: Choice | None = None
    for node in _nodes(known):
        yield 5
        choice = Choice({**gaps, **_lacking(view, known, node)}, node)
        on_node = _on_node(view, node) if node else ()
        yield from _choose(view, choice, [*candidates, *on_node])
        if choice.suffices and (best is None or len(choice.chosen) < len(best.chosen)):
            best = choice
    return tuple(each.uid for each in best.chosen) if best is not None else ()


def _nodes(known: Shortages) -> list[NodeName]:
    """Nodes to make capacity on. `NO_NODE` alone if a node takes the ask as it is."""
    if not known.survey.counts.fitting and not known.survey.counts.left:
        return known.survey.lacking[:NODES_TRIED]
    return [NO_NODE]


def _lacking(view: LedgerView, known: Shortages, node: NodeName) -> dict[Gap, int]:
    if not node:
        return {}
    free = view.free_on(node)
    size = known.record.facts.size.items()
    return {name: amount - free.get(name, 0) for name, amount in size if amount > free.get(name, 0)}


def _choose(view: LedgerView, choice: Choice, candidates: Iterable[PodRecord]) -> Generator[int, None, None]:
    """Take the pod that covers most, again and again, then drop those that are not needed.

    A step for each pod.
    """
    left = {each.uid: each for each in candidates}
    while not choice.suffices and left and len(choice.chosen) < ENDED_AT_MOST:
        best = min(
            left.values(), key=lambda each: (-_worth(view, choice, each), -each.facts.created, each.uid)
        )
        if _worth(view, choice, best) <= 0:
            return
        del left[best.uid]
        choice.chosen.append(best)
        _count(view, choice, best, -1)
        yield 1 + len(left) // _COMPARED_PER_UNIT
    for each in list(choice.chosen) if choice.suffices else ():
        _count(view, choice, each, 1)
        if choice.suffices:
            choice.chosen.remove(each)
        else:
            _count(view, choice, each, -1)


def _worth(view: LedgerView, choice: Choice, record: PodRecord) -> float:
    """Sum of the parts of the gaps that the end of a pod closes."""
    found = 0.0
    for gap, amount in choice.gaps.items():
        if amount > 0:
            found += min(1.0, _gives(view, choice, record, gap) / amount)
    return found


def _count(view: LedgerView, choice: Choice, record: PodRecord, sign: int) -> None:
    for gap in choice.gaps:
        choice.gaps[gap] += sign * _gives(view, choice, record, gap)


def _gives(view: LedgerView, choice: Choice, record: PodRecord, gap: Gap) -> int:
    """Amount that the end of a pod frees of a gap."""
    if isinstance(gap, str):
        return record.facts.size.get(gap) if record.node == choice.node else 0
    return freed_by(view, record, gap)


def freed_by(view: LedgerView, record: PodRecord, key: LimitKey) -> int:
    """Amount that the end of a pod frees under a limit."""
    application = view.application(record.membership.application) if record.membership.application else None
    leaf = view.queue_of(record)
    if application is None or leaf is None or key.path not in leaf.paths:
        return 0
    if key.name and Tracked(key.kind, key.name, key.path) not in application.claimant.tracked(key.path):
        return 0
    return record.facts.size.get(key.resource)


# -- candidates ----------------------------------------------------------------------------------------------


def _under_limits(view: LedgerView, gaps: Mapping[Gap, int]) -> Generator[int, None, list[PodRecord]]:
    """Pods of the largest holders under the limits that are short."""
    found: dict[PodUid, PodRecord] = {}
    for gap, amount in gaps.items():
        if isinstance(gap, str) or amount <= 0:
            continue
        for holder in (yield from holders_under(view, gap))[:HOLDERS]:
            application = view.application(AppId(holder.name, holder.namespace))
            uids = application.pods if application is not None else ()
            # Sorted, so that the same pods are compared whatever the order of the set.
            for uid in islice(sorted(uids), PODS_PER_HOLDER):
                record = view.pod(uid)
                if record is not None and may_end(view, record):
                    found[uid] = record
            yield 2
    return list(found.values())


def _on_node(view: LedgerView, node: NodeName) -> Iterator[PodRecord]:
    use = view.use_of(node)
    for uid in sorted(use.pods) if use is not None else ():
        record = view.pod(uid)
        if record is not None and may_end(view, record):
            yield record


def may_end(view: LedgerView, record: PodRecord) -> bool:
    """True for a plain running pod, whose end frees its size and has no other effect."""
    application = view.application(record.membership.application) if record.membership.application else None
    if application is None or application.queue is None or not record.node or not record.evictable:
        return False
    in_group = record.facts.placeholder or record.facts.pod_group is not None
    is_plain = application.gang_progress is None and application.state is AppState.RUNNING
    return is_plain and not in_group and record.gang.slot is None
