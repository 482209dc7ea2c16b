"""Trial cycles: what they give turns to, and that they leave the ledger as it is."""

from dataclasses import replace

import pytest

from core.ids import PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.trial.change import NO_CHANGE, Change, Raise
from core.ledger.trial.figures import limits_after
from core.queues.limit_state import LimitKey, LimitKind
from tests.builders import START, make_ledger, make_node, make_queue, record_of
from tests.core.decisions.explanation.scenes import cycled, observed
from tests.picture import picture_of

A, B = make_queue("root.a", max={"vcore": 1000}), make_queue("root.b", max={"vcore": 1000})
ASK = PodUid("uid-ask")


def contended() -> Ledger:
    """A full leaf with two pods that wait, and another leaf that is full, too."""
    ledger = make_ledger(A, B)
    observed(ledger, "runs", node="n1", app="first")
    observed(ledger, "older", app="older", created=1.0)
    observed(ledger, "ask", app="mine", created=2.0)
    observed(ledger, "other", queue="root.b", node="n1", app="other")
    observed(ledger, "beside", queue="root.b", app="beside")
    return cycled(ledger)


def raised(by: int) -> Change:
    return Change((Raise(LimitKey(LimitKind.QUEUE, A.path, "", "vcore"), by),))


def placed(ledger: Ledger, change: Change, below: list[str] | None = None) -> tuple[bool, set[str]]:
    """Pair: True if the ask has its turn in a trial, and the pods that have one."""
    paths = [QueuePath(each) for each in below] if below is not None else None
    trial = ledger.view.trial(ASK, change, paths)
    assert all(units >= 0 for units in trial.run())
    return trial.placed, set(trial.state.turns.of)


@pytest.mark.parametrize(
    ("by", "turns"), [(0, set()), (1000, {"uid-older"}), (2000, {"uid-older", "uid-ask"})]
)
def test_turns_are_given_in_the_order_of_a_cycle(by: int, turns: set[str]) -> None:
    change = raised(by) if by else NO_CHANGE
    assert placed(contended(), change) == ("uid-ask" in turns, turns)


def test_other_queues_are_left_out_where_they_cannot_gain() -> None:
    ledger = contended()
    change = replace(raised(2000), ended=(PodUid("uid-other"),))
    assert placed(ledger, change) == (True, {"uid-beside", "uid-older", "uid-ask"})
    assert placed(ledger, change, ["root.a"]) == (True, {"uid-older", "uid-ask"})


def test_a_trial_ends_once_the_ask_has_no_headroom() -> None:
    ledger = contended()
    assert placed(ledger, Change(ended=(PodUid("uid-other"),))) == (False, set())


def test_a_pod_that_ends_frees_its_queue_and_its_node() -> None:
    ledger = contended()
    ledger.apply(on.PodDeleted(PodUid("uid-older")), now=START)
    trial = cycled(ledger).view.trial(ASK, Change(ended=(PodUid("uid-runs"),)))
    assert len(list(trial.run())) > 0
    assert trial.placed
    held = {each.key.resource: each.used for each in limits_after(trial) if each.key.path == "root"}
    assert held["vcore"] == 2000


def test_a_new_node_is_used() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=500)), now=START)
    observed(ledger, "ask", app="mine")
    assert placed(cycled(ledger), NO_CHANGE)[0] is False
    assert placed(ledger, Change(node=make_node("n2", cpu=1000)))[0] is True


def test_a_trial_leaves_the_ledger_as_it_was() -> None:
    ledger = contended()
    before = picture_of(ledger)
    for change in (
        NO_CHANGE,
        raised(5000),
        Change(ended=(PodUid("uid-runs"),)),
        Change(node=make_node("n2")),
    ):
        placed(ledger, change)
    assert picture_of(ledger) == before
    assert record_of(ledger, "uid-ask").admission.woken_at is None


def test_a_turn_that_is_given_anew_first_counts_as_free() -> None:
    """A turn whose wake-up was postponed ends at the beginning of the next cycle."""
    ledger = contended()
    ledger.apply(on.PodDeleted(PodUid("uid-runs")), now=START)
    postpone_wake_up(cycled(ledger), PodUid("uid-older"))
    leaf = ledger.view.queue_of(record_of(ledger, "uid-older"))
    assert leaf is not None
    assert ledger.view.given.of(leaf).get("vcore") == 1000
    assert ledger.view.given_to_stay.of(leaf).get("vcore") == 0
    assert placed(ledger, NO_CHANGE) == (False, {"uid-older"})
    assert ledger.view.has_turn(PodUid("uid-older"))


def test_a_turn_that_comes_while_a_trial_begins_is_not_taken_back_there() -> None:
    ledger = contended()
    ledger.apply(on.PodDeleted(PodUid("uid-runs")), now=START)
    steps = ledger.view.trial(ASK, NO_CHANGE).run()
    next(steps)
    postpone_wake_up(cycled(ledger), PodUid("uid-older"))
    assert all(units >= 0 for units in steps)


def postpone_wake_up(ledger: Ledger, uid: PodUid) -> None:
    """Have the wake-up of a pod with a turn wait for the next cycle."""
    assert ledger.view.has_turn(uid)
    ledger.view._state.turns.unwoken.add(uid)
