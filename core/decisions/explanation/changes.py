"""Search for small changes that free an ask: raised limits, a new node, or ended pods."""

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass

from core.decisions.explanation.ending import pods_to_end
from core.decisions.explanation.minimal import minimal
from core.decisions.explanation.nodes import NodeSurvey
from core.decisions.explanation.playing import Budget, may_change, play, race, raised, resized
from core.decisions.explanation.shortages import Shortages, is_raisable, measured, shortages_of
from core.decisions.explanation.values import Barrier, Obstacle, Remedies, Remedy
from core.decisions.preemption.contention import state_aware_hold
from core.ids import NodeName
from core.ledger.pods.record import PodRecord
from core.ledger.trial.change import NO_CHANGE, Change
from core.ledger.trial.figures import figures_of, limits_after
from core.ledger.trial.trial import Trial
from core.ledger.view import LedgerView
from core.queues.limit_state import LimitKey, LimitKind
from core.queues.queue import Queue
from core.reasons import Code
from core.resource import Resource
from core.workload.application import Application
from core.workload.nodes.affinity import admits
from core.workload.nodes.matching import labels_for
from core.workload.nodes.node import NodeFacts

BEYOND_ALL = 2**60
"""Amount that lifts a limit altogether."""

ROUNDS = 4
"""Times that further limits are lifted, or that a change is extended by what others took."""

ROUNDS_OF_ENDING = 2
"""Choices of ended pods, at most. Each trial of one reads all queues, since asks of any may gain."""

LEFT_FOR_MORE = 1_500
"""Units of work that must be left to look for ended pods beside another change."""

MORE_AT_MOST = 2_500
"""Units of work that this search may cost."""

NEW_NODE = "new-node"

OUT_OF_REACH = frozenset[Code | Barrier](
    {
        *(Code.NOT_READY, Code.ACCESS_DENIED, Code.PLACEMENT_FAILED, Code.QUEUE_NOT_LEAF),
        *(Code.QUEUE_DRAINING, Code.GANG_TOO_LARGE, Code.GANG_NOT_FIFO, Code.RESERVATION_TIMEOUT),
        *(Code.APPLICATION_ENDED, Code.QUEUE_CLOSED),
        *(Code.STATE_AWARE_HOLD, Code.GANG_INCOMPLETE, Code.WAITING_FOR_PLACEHOLDER),
        *(Barrier.LEAVING, Barrier.FOREIGN_GATE, Barrier.BACK_OFF, Barrier.APPLICATION_BACK_OFF),
        *(Barrier.POD_GROUP_BACK_OFF, Barrier.NODES_NOT_JUDGED),
    }
)
"""Obstacles that neither capacity nor a higher limit lifts."""


SERVED_ANYWAY = frozenset[Code | Barrier](
    {Code.STATE_AWARE_HOLD, Barrier.BACK_OFF, Barrier.APPLICATION_BACK_OFF}
)
"""Obstacles that a cycle ignores for an ask with a reserved node, which it serves first (CYC-2)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Change that places the ask. ``is_tight``: True if nothing less does, as its trial has shown."""

    change: Change
    is_tight: bool = False
    #: Trial of exactly this change; None if there was none.
    trial: Trial | None = None


Search = Generator[int, None, Candidate | None]


def find_changes(
    view: LedgerView, record: PodRecord, obstacles: Iterable[Obstacle], survey: NodeSurvey
) -> Generator[int, None, Remedies]:
    """Changes that would free a waiting ask, each checked by a trial. `Remedies` says why there are none.

    ``obstacles`` and ``survey``: of the ask, as `obstacles_of` finds them.
    """
    leaf, app_id = view.queue_of(record), record.membership.application
    application = view.application(app_id) if app_id is not None else None
    lasting = OUT_OF_REACH - _passing(view, record, application)
    beyond = tuple(each.code for each in obstacles if each.code in lasting)
    if beyond or leaf is None or application is None:
        return Remedies(Remedy.OUT_OF_REACH, beyond=beyond)
    budget = Budget()
    try:
        found = yield from _within(view, record, leaf, application, survey, budget)
        yield from budget.dismantle()
        return found
    finally:
        budget.dismantle_now()


def _within(
    view: LedgerView,
    record: PodRecord,
    leaf: Queue,
    application: Application,
    survey: NodeSurvey,
    budget: Budget,
) -> Generator[int, None, Remedies]:
    if may_change(view, record) or view.is_in_demand(record.uid):
        # A cycle that is still to come may give the ask its turn. All others have left it out.
        trial = yield from play(view, record, NO_CHANGE, budget)
        if trial is not None and trial.placed:
            return Remedies(Remedy.NOTHING, trials=budget.trials)
    known = shortages_of(view, record, leaf, application, survey)
    found: list[Change] = []
    for search in (_by_raises, _by_node):
        if not found:
            found += yield from _smallest(view, known, search(view, known, budget), budget)
    # Another change is found beside the first only if that costs little.
    if not found or budget.left >= LEFT_FOR_MORE:
        budget.left = min(budget.left, MORE_AT_MOST) if found else budget.left
        ending = _by_ending(view, known, budget, found[0] if found else NO_CHANGE)
        found += yield from _smallest(view, known, ending, budget)
    if not found and not known.may_be_raised(known.of_limits):
        return Remedies(Remedy.OUT_OF_REACH, beyond=(Code.QUEUE_DRAINING,), trials=budget.trials)
    if not found and (yield from _stays_held(view, known, budget)):
        return Remedies(Remedy.OUT_OF_REACH, beyond=(Code.STATE_AWARE_HOLD,), trials=budget.trials)
    remedy = Remedy.FOUND if found else Remedy.NONE_FOUND
    return Remedies(remedy, tuple(found), trials=budget.trials, exhausted=budget.is_over())


def _passing(
    view: LedgerView, record: PodRecord, application: Application | None
) -> frozenset[Code | Barrier]:
    """Obstacles that are out of reach for most asks, but do not keep this one from its turn."""
    group = view.unopened(record)
    if group is not None:
        # A pod group, unlike a gang, is not refused for good. It starts once the max of its queue is raised.
        refused = application is None or application.refusal is not None
        return frozenset({Code.GANG_TOO_LARGE}) if group.complete and not refused else frozenset()
    if record.node_reservation.node:
        return SERVED_ANYWAY
    # The turn of an ask with a reserved node starts its application.
    starts = application is not None and not application.pods.isdisjoint(view.reserved_nodes.values())
    return frozenset({Code.STATE_AWARE_HOLD}) if starts else frozenset()


def _stays_held(view: LedgerView, known: Shortages, budget: Budget) -> Generator[int, None, bool]:
    """True if a ``stateaware`` leaf lets a rival in first, even if capacity and limits are beyond demand."""
    if state_aware_hold(view, known.application, known.leaf) is None:
        return False
    lifted, names = set(filter(is_raisable, known.limits)), set[str]()
    for queue in known.leaf.chain:
        # Rivals may need resources that the ask does not.
        named = queue.max.names() if queue.max is not None else ()
        names.update(named)
        lifted |= {LimitKey(LimitKind.QUEUE, queue.path, "", each) for each in named if not queue.is_root}
    node = _new_node(view, known)
    if node is not None:
        node = resized(node, dict.fromkeys({*names, *node.allocatable.names()}, BEYOND_ALL))
    trial = yield from play(view, known.record, _lifted(lifted, node), budget)
    return trial is not None and not trial.placed


def _smallest(
    view: LedgerView, known: Shortages, search: Search, budget: Budget
) -> Generator[int, None, list[Change]]:
    """The change that a search finds, made minimal. Empty for none."""
    candidate = yield from search
    if candidate is None:
        return []
    change = candidate.change
    if candidate.is_tight:
        return [change]
    smallest = yield from minimal(view, known, change, budget, candidate.trial)
    return [smallest] if smallest is not None else []


# -- raised limits -------------------------------------------------------------------------------------------


def _by_raises(view: LedgerView, known: Shortages, budget: Budget) -> Search:
    """Raises of all limits that bind, without a new node."""
    if known.lacks_node:
        return None
    return (yield from _covering(view, known, None, budget))


def _by_node(view: LedgerView, known: Shortages, budget: Budget) -> Search:
    """A new node, together with raises of the limits that bind.

    Also where a node would take the ask, if others take that node once the limits are raised.
    """
    node = _new_node(view, known)
    return (yield from _covering(view, known, node, budget)) if node is not None else None


def _new_node(view: LedgerView, known: Shortages) -> NodeFacts | None:
    """Smallest node that takes the ask and fills the gap of the cluster. None if no label admits it."""
    facts, missing = known.record.facts, known.of_cluster
    if known.record.daemon.required_node:
        return None
    labels = labels_for(facts.constraints)
    name, number = NodeName(NEW_NODE), 1
    while name in view.nodes:
        name, number = NodeName(f"{NEW_NODE}-{number}"), number + 1
    amounts = {each: max(amount, missing.get(each, 0)) for each, amount in facts.size.items() if amount > 0}
    node = NodeFacts(name, Resource(amounts), labels=labels or {})
    return node if labels is not None and admits(node, facts.constraints) else None


def _covering(view: LedgerView, known: Shortages, node: NodeFacts | None, budget: Budget) -> Search:
    """The change that covers what the ask lacks, and what others take before it."""
    lacking = known.of_limits
    if not known.may_be_raised(lacking):
        return None
    figures = (yield from race(view, known.record, lacking, node, budget)) if node is not None else None
    if figures is not None:
        return Candidate(measured(known, figures, lacking, node), is_tight=True)
    change = Change(raised(lacking))
    # Others mostly take a part of a new node, so that exactly what is lacking is not enough.
    if node is None and change != NO_CHANGE:
        trial = yield from play(view, known.record, change, budget)
        if trial is None or trial.placed:
            return Candidate(change, trial=trial) if trial is not None else None
    keys = set(lacking)
    for _ in range(ROUNDS):
        trial = yield from play(view, known.record, _lifted(keys, node), budget, NO_CHANGE)
        if trial is None:
            return None
        if trial.placed:
            return (yield from _settled(view, known, trial, keys, node, budget))
        more = {each.key for each in limits_after(trial) if each.short and is_raisable(each.key)} - keys
        if not more or not known.may_be_raised(more):
            return None
        keys |= more
    return None


def _settled(
    view: LedgerView,
    known: Shortages,
    trial: Trial,
    keys: set[LimitKey],
    node: NodeFacts | None,
    budget: Budget,
) -> Search:
    """The change that allows what was taken in a trial with lifted limits.

    Shares are measured by the found change then, which may change what is taken, until that is the same.
    """
    size = known.record.facts.size
    change = measured(known, figures_of(trial, size, node), keys, node)
    for _ in range(ROUNDS):
        if trial.is_tight:
            return Candidate(change, is_tight=True)
        if not trial.is_plain:
            break
        again = yield from play(view, known.record, _lifted(keys, node), budget, change)
        if again is None:
            return None
        if not again.placed:
            break
        before, change, trial = change, measured(known, figures_of(again, size, node), keys, node), again
        if change == before and trial.is_plain:
            return Candidate(change, is_tight=trial.is_tight)
    return (yield from _extended(view, known, change, budget))


def _lifted(keys: Iterable[LimitKey], node: NodeFacts | None) -> Change:
    """The change that lifts limits altogether, and makes the node as large as can be."""
    huge = None if node is None else resized(node, dict.fromkeys(node.allocatable.names(), BEYOND_ALL))
    return Change(raised(dict.fromkeys(keys, BEYOND_ALL)), node=huge)


def _extended(view: LedgerView, known: Shortages, change: Change, budget: Budget) -> Search:
    """The change, extended while others take what it adds. None if it never suffices."""
    for _ in range(ROUNDS):
        trial = yield from play(view, known.record, change, budget)
        if trial is None or trial.placed:
            return Candidate(change, trial=trial) if trial is not None else None
        gaps = {each.key: each.short for each in limits_after(trial) if each.short and is_raisable(each.key)}
        amounts = {each.key: each.by for each in change.raises}
        if not gaps or not known.may_be_raised(gaps):
            return None
        more = {key: amounts.get(key, 0) + gaps.get(key, 0) for key in {*amounts, *gaps}}
        change = Change(raised(more), node=change.node)
    return None


# -- ended pods ----------------------------------------------------------------------------------------------


def _by_ending(view: LedgerView, known: Shortages, budget: Budget, beside: Change) -> Search:
    """Running pods whose end would free the ask.

    ``beside``: change that frees it, too, and tells what others take before it.
    """
    gaps: Mapping[LimitKey, int] = known.of_limits
    if any(not key.resource for key in gaps) or _is_larger(beside.node, known):
        return None
    extra = {each.key: each.by - gaps.get(each.key, 0) for each in beside.raises}
    for _ in range(ROUNDS_OF_ENDING if beside == NO_CHANGE else 1):
        ended = yield from pods_to_end(view, known, extra)
        if not ended:
            return None
        change = Change(ended=ended)
        trial = yield from play(view, known.record, change, budget)
        if trial is None or trial.placed:
            return Candidate(change, trial=trial) if trial is not None else None
        after = {each.key: each.short for each in limits_after(trial) if each.short and each.key.resource}
        if not after:
            return None
        for key, short in after.items():
            extra[key] = extra.get(key, 0) + short
    return None


def _is_larger(node: NodeFacts | None, known: Shortages) -> bool:
    """True if others take a part of a new node, as they would of what ends."""
    size = known.record.facts.size
    return node is not None and any(amount > size.get(name) for name, amount in node.allocatable.items())
