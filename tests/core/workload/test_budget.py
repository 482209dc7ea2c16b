"""PodDisruptionBudgets: the pods that one covers, and allowed disruptions under one or several."""

from collections.abc import Mapping

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.workload.budget import BudgetFacts, covering, covers, disruptions_left, forbids
from core.workload.nodes.affinity import Requirement
from tests.builders import START, make_ledger, make_pod, make_queue

DB = {"app": "db", "tier": "data"}


def is_in(key: str, *values: str) -> Requirement:
    return Requirement(key, "In", values)


def budget(
    name: str = "b",
    *selector: Requirement,
    namespace: str = "default",
    allowed: int = 0,
) -> BudgetFacts:
    return BudgetFacts(namespace, name, selector or (is_in("app", "db"),), allowed)


def known(*budgets: BudgetFacts) -> dict[str, dict[str, BudgetFacts]]:
    found: dict[str, dict[str, BudgetFacts]] = {}
    for each in budgets:
        found.setdefault(each.namespace, {})[each.name] = each
    return found


@pytest.mark.parametrize(
    ("selector", "labels", "covered"),
    [
        pytest.param(None, DB, False, id="no selector covers none"),
        pytest.param((), DB, True, id="an empty one covers all"),
        pytest.param((), {}, True, id="an empty one covers a pod without labels"),
        pytest.param((is_in("app", "db"),), DB, True, id="label"),
        pytest.param((is_in("app", "web"),), DB, False, id="label of another value"),
        pytest.param((is_in("app", "db"), is_in("tier", "web")), DB, False, id="all must hold"),
        pytest.param((is_in("app", "web", "db"),), DB, True, id="one of several values"),
        pytest.param((Requirement("app", "NotIn", ("web",)),), DB, True, id="not in"),
        pytest.param((Requirement("app", "NotIn", ("web",)),), {}, True, id="not in, without the label"),
        pytest.param((Requirement("app", "NotIn", ("db",)),), DB, False, id="not in, and is"),
        pytest.param((Requirement("app", "Exists", ()),), DB, True, id="exists"),
        pytest.param((Requirement("app", "Exists", ()),), {}, False, id="exists not"),
        pytest.param((Requirement("app", "DoesNotExist", ()),), DB, False, id="must not exist"),
        pytest.param((Requirement("app", "DoesNotExist", ()),), {}, True, id="does not exist"),
        pytest.param((Requirement("app", "Like", ("db",)),), DB, False, id="an unknown operator"),
    ],
)
def test_pods_that_a_budget_covers(
    selector: tuple[Requirement, ...] | None, labels: Mapping[str, str], covered: bool
) -> None:
    assert covers(BudgetFacts("default", "b", selector, 0), labels) is covered


@pytest.mark.parametrize(
    ("budgets", "left"),
    [
        pytest.param((), None, id="none"),
        pytest.param((budget(allowed=2),), 2, id="one that allows two"),
        pytest.param((budget(allowed=0),), 0, id="one that allows none"),
        pytest.param((budget(allowed=-1),), 0, id="never below zero"),
        pytest.param((budget("a", allowed=3), budget("b", allowed=2)), 0, id="of two nobody is evicted"),
        pytest.param((budget(namespace="other"),), None, id="another namespace's"),
        pytest.param((budget("b", is_in("app", "web")),), None, id="of other pods"),
    ],
)
def test_what_is_left_for_a_pod(budgets: tuple[BudgetFacts, ...], left: int | None) -> None:
    found = known(*budgets)
    assert disruptions_left(found, "default", DB) == left
    assert forbids(found, "default", DB) is (left == 0)


def test_the_budgets_over_a_pod() -> None:
    mine, other = budget("a"), budget("c", is_in("app", "web"))
    assert covering(known(mine, other, budget(namespace="other")), "default", DB) == (mine,)


# -- what the ledger knows ---------------------------------------------------------------------------------


def test_budgets_come_change_and_go() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.ObjectObserved(on.BUDGETS, budget("a", allowed=1)), now=START)
    ledger.apply(on.ObjectObserved(on.BUDGETS, budget("b")), now=START)
    ledger.apply(on.ObjectObserved(on.BUDGETS, budget("a", allowed=0)), now=START)
    assert ledger.view.budgets == known(budget("a", allowed=0), budget("b"))
    ledger.apply(on.ObjectDeleted(on.BUDGETS, ("default", "a")), now=START)
    ledger.apply(on.ObjectDeleted(on.BUDGETS, ("default", "unheard-of")), now=START)
    ledger.apply(on.ObjectDeleted(on.BUDGETS, ("unheard-of", "a")), now=START)
    assert ledger.view.budgets == known(budget("b"))
    ledger.apply(on.ObjectDeleted(on.BUDGETS, ("default", "b")), now=START)
    assert ledger.view.budgets == {}


def test_an_object_that_a_list_lacks_is_deleted() -> None:
    ledger = make_ledger(make_queue("root.a"))
    present, absent = budget("a"), (budget("b"), budget("a", namespace="other"))
    for each in (present, *absent):
        ledger.apply(on.ObjectObserved(on.BUDGETS, each), now=START)
    ledger.apply(on.ObjectsListed(on.BUDGETS, frozenset({("default", "a")})), now=START)
    assert ledger.view.budgets == known(present)


@pytest.mark.parametrize("outcome", [EvictionOutcome.DONE, EvictionOutcome.NOT_FOUND])
def test_the_end_of_an_eviction_is_remembered(outcome: EvictionOutcome) -> None:
    ledger: Ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p", node="n1")), now=START)
    for uid in ("uid-p", "unheard-of"):
        ledger.apply(on.PodEvicted(PodUid(uid), outcome, Purpose.VICTIM), now=START)
    record = ledger.view.pod(PodUid("uid-p"))
    assert record is not None
    assert record.preemption.eviction is outcome
