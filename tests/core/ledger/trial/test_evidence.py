"""Evidence of trials: when the amounts that were taken are known to be the smallest."""

from dataclasses import replace

import pytest

from core.ids import PodUid
from core.ledger.ledger import Ledger
from core.ledger.trial.change import Change, Raise
from core.ledger.trial.trial import Trial
from core.queues.limit_state import LimitKey, LimitKind
from tests.builders import make_ledger, make_node, make_queue
from tests.core.decisions.explanation.scenes import LIMITED, cycled, limited, observed
from tests.core.ledger.trial.test_trial import ASK, A, contended

HUGE = 2**60


def raised(key: LimitKey) -> Change:
    return Change((Raise(key, HUGE),))


def of_queue(path: str) -> LimitKey:
    return LimitKey(LimitKind.QUEUE, make_queue(path).path, "", "vcore")


def played(ledger: Ledger, change: Change, uid: str = "uid-ask") -> Trial:
    trial = ledger.view.trial(PodUid(uid), change)
    for _ in trial.run():
        pass
    return trial


def siblings(**of_leaves: object) -> Ledger:
    """Two leaves below a full queue, with pods that wait in both."""
    tenant = make_queue("root.t", leaf=False, max={"vcore": 1000})
    leaves = (make_queue(f"root.t.{name}", **of_leaves) for name in "ab")  # type: ignore[arg-type]
    ledger = make_ledger(tenant, *leaves)
    observed(ledger, "runs", queue="root.t.a", node="n1", app="first")
    observed(ledger, "ask", queue="root.t.a", app="mine")
    observed(ledger, "beside", queue="root.t.b", app="beside")
    return cycled(ledger)


def test_a_raise_is_tight_where_no_queues_are_compared() -> None:
    trial = played(contended(), raised(of_queue("root.a")))
    assert trial.placed
    assert trial.is_tight


@pytest.mark.parametrize("due", [None, {"vcore": 500}], ids=["by the max that is raised", "by guarantees"])
def test_a_raise_is_tight_only_if_shares_are_not_measured_by_it(due: dict[str, int] | None) -> None:
    trial = played(siblings(guaranteed=due), raised(of_queue("root.t")))
    assert trial.placed
    assert trial.is_tight == (due is not None)


def test_a_limit_of_a_user_is_never_tight_by_evidence_alone() -> None:
    ledger = make_ledger(limited("user", max=1000))
    observed(ledger, "runs", node="n1", app="first", identity=LIMITED)
    observed(ledger, "ask", app="second", identity=LIMITED)
    trial = played(cycled(ledger), raised(LimitKey(LimitKind.USER, A.path, "alice", "vcore")))
    assert trial.placed
    assert not trial.is_tight


def test_a_new_node_is_tight_only_if_all_turns_are_on_it() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    observed(ledger, "older", app="older", created=1.0)
    observed(ledger, "ask", app="mine", created=2.0)
    trial = played(cycled(ledger), Change(node=make_node("new", cpu=HUGE, memory=HUGE, pods=HUGE)))
    assert trial.placed
    assert trial.is_tight
    assert ASK in trial.state.turns.of


@pytest.mark.parametrize("due", [None, {"vcore": 500}], ids=["by the max that is raised", "by guarantees"])
def test_one_unit_less_is_known_to_fail_only_if_shares_are_not_measured_by_it(
    due: dict[str, int] | None,
) -> None:
    """The limit on applications is raised as well, so that the trial as a whole is not tight."""
    tenant = replace(make_queue("root.t", leaf=False, max={"vcore": 1000}), max_applications=2)
    ledger = make_ledger(tenant, *(make_queue(f"root.t.{name}", guaranteed=due) for name in "ab"))
    observed(ledger, "runs", queue="root.t.a", node="n1", app="first")
    observed(ledger, "also", queue="root.t.b", node="n1", app="second", cpu=0)
    observed(ledger, "ask", queue="root.t.a", app="mine")
    observed(ledger, "beside", queue="root.t.b", app="beside")
    vcores = of_queue("root.t")
    applications = LimitKey(LimitKind.QUEUE, vcores.path)
    trial = played(cycled(ledger), Change((Raise(vcores, 2000), Raise(applications, 2))))
    assert trial.placed
    assert not trial.is_tight
    assert trial.inert == (frozenset() if due is None else {(vcores.path, "vcore")})
