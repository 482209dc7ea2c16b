"""Histories of explanations: a change that is said to free a pod does so, and less than that does not.

A random state is frozen. Every change of an explanation is made in a copy of the ledger. The events that
would report the change are applied, and cycles run at the same moment. The pod has its turn then, and so
have all members of its pod group that must start. With one unit less of any component, or without one of the
ended pods, it has none.

A pod that is out of reach has no turn even if its queues limit nothing, with a node beyond all demand. The
explanation of an application or of a pod group offers what frees its first pod.
"""

from collections import Counter
from collections.abc import Collection, Generator, Iterator
from random import Random
from typing import TypeVar
from unittest.mock import patch

from core.decisions.explanation import phrases, playing
from core.decisions.explanation.changes import find_changes
from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.obstacles import obstacles_of
from core.decisions.explanation.together import explain_application, explain_pod_group
from core.decisions.explanation.values import (
    Barrier,
    PodExplanation,
    Remedies,
    Remedy,
    TogetherExplanation,
)
from core.ids import PodUid
from core.ledger.trial.change import NO_CHANGE
from core.ledger.view import LedgerView
from core.reasons import Code
from tests.histories.explanation.changed import Copies, smaller
from tests.histories.explanation.frozen import Frozen, run_cycles
from tests.histories.explanation.kinds import Kinds

Found = TypeVar("Found")

FOUND: Counter[str] = Counter()
"""Outcomes of all searches so far, for the share of those that found nothing."""

EVERY: tuple[Code | Barrier, ...] = (*Code, *Barrier)
REACHED: Counter[Code | Barrier] = Counter()
"""Obstacles of all pods so far that were explained."""

VARIED = 3
"""Number of states of which one, on average, has pods of all kinds, such as members of gangs."""

CHECKED = 3
"""Waiting pods of one state, at most, whose kind does not matter."""

APPLICATIONS = 2
"""Applications of one state, at most, that are explained as a whole."""

BUDGET = 200_000
"""Units of work of one search. The states are small, so only the search itself can fail."""


def share_of_none() -> float:
    """Share of the searches that found nothing, among those that had something to find."""
    none = FOUND[Remedy.NONE_FOUND]
    return none / max(1, none + FOUND[Remedy.FOUND])


def unreached() -> frozenset[str]:
    """Obstacles that this process has not met so far."""
    return frozenset(each.value for each in EVERY if not REACHED[each])


def figures() -> str:
    """Outcomes of the searches that this process has made so far."""
    counts = ", ".join(f"{count} {name}" for name, count in sorted(FOUND.items()))
    reached = f"{len(EVERY) - len(unreached())} of {len(EVERY)} obstacles reached"
    return f": {counts}; share of none found {share_of_none():.1%}; {reached}"


# -- explanations --------------------------------------------------------------------------------------------


def remedies_of(world: Frozen, uid: PodUid) -> Remedies:
    """The search for changes, at once."""
    view = world.ledger.view
    record = view.pod(uid)
    assert record is not None
    obstacles, survey = _result(obstacles_of(view, record, now=world.now))
    return _result(find_changes(view, record, obstacles, survey))


def _result(steps: Generator[int, None, Found]) -> Found:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Found = end.value
            return found


def explain(world: Frozen, uid: PodUid) -> PodExplanation:
    """Explain a pod, and note what holds it."""
    found = explain_at_once(world.ledger.view, uid, now=world.now)
    assert found is not None
    REACHED.update(each.code for each in found.obstacles)
    assert phrases.verdict_on(found)
    return found


def list_obstacles(world: Frozen, besides: Collection[PodUid]) -> None:
    """Note what holds the other pods, which costs little without a search for changes."""
    for record in list(world.ledger.view.pods()):
        if record.uid not in besides:
            obstacles, _ = _result(obstacles_of(world.ledger.view, record, now=world.now))
            REACHED.update(each.code for each in obstacles)


def explain_together(world: Frozen, chance: Random) -> Iterator[TogetherExplanation]:
    """Explain some applications, and all pod groups."""
    view, now = world.ledger.view, world.now
    applications = sorted(each.id for each in view.applications())
    for app_id in chance.sample(applications, min(APPLICATIONS, len(applications))):
        found = _result(explain_application(view, app_id, app_id.namespace, now=now))
        assert found is not None
        yield found
    for key in sorted(groups_of(view)):
        found = _result(explain_pod_group(view, *key, now=now))
        assert found is not None
        yield found


def groups_of(view: LedgerView) -> set[tuple[str, str]]:
    """Keys of all pod groups that have members."""
    found = (view.pod_group_of(record) for record in view.pods())
    return {group.key for group in found if group is not None}


# -- what must hold ------------------------------------------------------------------------------------------


def check(copies: Copies, uid: PodUid, found: Remedies) -> None:
    """Check every change of one pod's explanation, or that there can be none."""
    world, remedy = copies.world, found.remedy
    FOUND[remedy] += 1
    assert bool(found.changes) is (remedy is Remedy.FOUND), f"{uid}: {found}"
    if remedy is Remedy.NOTHING:
        assert copies.is_placed(uid, NO_CHANGE), f"{uid} has no turn without a change\n{world.trace()}"
    if remedy is Remedy.OUT_OF_REACH:
        assert found.beyond, f"{uid} is out of reach for no reason\n{world.trace()}"
        # Only kube-scheduler knows what a turn would be worth if it alone can judge the nodes.
        unknown = Barrier.NODES_NOT_JUDGED in found.beyond
        placed = not unknown and copies.is_placed_without_limits(uid)
        assert not placed, f"{uid} is not out of reach: {found}\n{world.trace()}"
    for change in found.changes:
        FOUND["ended" if change.ended else "node" if change.node else "raises"] += 1
        assert copies.is_placed(uid, change), f"{uid} has no turn with {change}\n{world.trace()}"
        for less in smaller(change):
            assert not copies.is_placed(uid, less), f"{uid} has its turn with {less}\n{world.trace()}"


def pod_of(world: Frozen, found: PodExplanation) -> PodUid:
    """Uid of an explained pod."""
    for record in world.ledger.view.pods():
        if (record.facts.namespace, record.facts.name) == (found.namespace, found.name):
            return record.uid
    raise AssertionError(f"no pod is {found}\n{world.trace()}")


def remedies_of_kinds(world: Frozen, chance: Random, made: Collection[PodUid]) -> dict[PodUid, Remedies]:
    """Offers to all pods that `Kinds` has ``made``, and to applications and pod groups as a whole."""
    explained = {uid: explain(world, uid) for uid in sorted(made)}
    list_obstacles(world, made)
    for whole in explain_together(world, chance):
        if whole.first is not None:
            known = explained.setdefault(pod_of(world, whole.first), whole.first)
            assert known == whole.first, f"{whole}\n{world.trace()}"
    found = {uid: each.remedies for uid, each in explained.items()}
    return {uid: remedies for uid, remedies in found.items() if remedies is not None}


def play(seed: int, *, varied: bool | None = None) -> None:
    """Play one history. Raises AssertionError with the seed and the state.

    ``varied``: True for a state with pods of all kinds; None to leave that to chance.
    """
    chance, kinds = Random(seed), Random(f"kinds {seed}")
    drawn = kinds.randrange(VARIED) == 0
    with patch.object(playing, "UNITS_AT_MOST", BUDGET):
        try:
            check_state(Frozen(chance), kinds if (drawn if varied is None else varied) else None)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None


def check_state(world: Frozen, kinds: Random | None) -> None:
    """Make a state, and check what its explanations offer. ``kinds``: None for a state of plain pods."""
    world.prepare()
    found: dict[PodUid, Remedies] = {}
    if kinds is not None:
        plain = {record.uid for record in world.ledger.view.pods()}
        Kinds(world, kinds).happen(lambda: run_cycles(world.ledger, now=world.now))
        made = {record.uid for record in world.ledger.view.pods()} - plain
        found = remedies_of_kinds(world, kinds, made)
    copies = Copies(world)
    waiting = [uid for uid in world.pending if not world.ledger.view.has_turn(uid)]
    for uid in world.chance.sample(waiting, min(CHECKED, len(waiting))):
        if uid not in found:
            found[uid] = remedies_of(world, uid)
    for uid, remedies in found.items():
        check(copies, uid, remedies)
