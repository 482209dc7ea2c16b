"""The order of queues by priority and share, and of applications by policy (SORT-0 to SORT-8)."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from core.ids import AppId, QueuePath
from core.queues.headroom import fair_max
from core.queues.ordering import Contender, first_of
from core.queues.ordering import order_key as order_of_queues
from core.queues.properties import SortPolicy
from core.resource import Limit, Resource
from core.resource.shares import fair_share
from core.workload.ordering import Applicant, eligible_applications, order_key
from core.workload.states import AppState
from tests.builders import make_queue, make_tree


def contender(
    name: str, priority: int = 0, share: float = 0.0, *, by_priority: bool = True, **pending: int
) -> Contender:
    return Contender(
        QueuePath(name), order_of_queues(priority, share, by_priority=by_priority), Resource(pending)
    )


def in_order(contenders: Sequence[Contender]) -> list[str]:
    """Take items one after the other, and return their order."""
    left, taken = list(contenders), []
    while (first := first_of(left)) is not None:
        left.remove(first)
        taken.append(str(first.path))
    return taken


@pytest.mark.rule("SORT-1", "SORT-2")
@pytest.mark.parametrize(
    ("shares", "by_priority", "order"),
    [
        ((0.6, 200 / 300, 0.5, 0.5), True, ["q3", "q2", "q0", "q1"]),
        ((0.6, 200 / 300, 0.5, 0.5), False, ["q3", "q2", "q0", "q1"]),
        ((0.4, 1.0, 0.5, 0.5), False, ["q0", "q3", "q2", "q1"]),
        ((0.4, 1.0, 0.5, 0.5), True, ["q3", "q0", "q2", "q1"]),
    ],
)
def test_the_example_of_four_queues(shares: Sequence[float], by_priority: bool, order: list[str]) -> None:
    priorities = (1, 1, 1, 3)
    queues = [contender(f"q{at}", priorities[at], shares[at], by_priority=by_priority) for at in range(4)]
    assert in_order(queues) == order


@pytest.mark.rule("SORT-1")
@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        ({"vcore": 1}, {"vcore": 2}, "b"),
        ({"vcore": 2}, {"vcore": 1}, "a"),
        ({"vcore": 1}, {"vcore": 1, "memory": 1}, "b"),
        ({"vcore": 2, "memory": 1}, {"vcore": 1, "memory": 2}, "a"),
        ({"vcore": 1}, {"vcore": 1}, "a"),
    ],
)
def test_of_equals_the_one_that_asks_for_more_and_then_the_name(
    one: dict[str, int], other: dict[str, int], first: str
) -> None:
    assert in_order([contender("a", **one), contender("b", **other)])[0] == first


@pytest.mark.rule("SORT-3")
@pytest.mark.parametrize(
    ("used", "guaranteed", "fair", "share"),
    [
        ({"vcore": 100, "memory": 2500}, {"vcore": 1000, "memory": 5000}, {}, 0.5),
        (
            {"storage": 1000, "memory": 1000, "pods": 1000, "vcore": 1000},
            {"pods": 88888},
            {"storage": 2000, "memory": 99999, "vcore": 99999},
            0.5,
        ),
        ({"vcore": 10, "memory": 1000}, {"vcore": 0}, {"vcore": 5000, "memory": 5000}, 1.0),
        ({"vcore": 0, "memory": 1000}, {"vcore": -10}, {"memory": 2000}, 0.5),
        ({"vcore": -100}, {"vcore": 10}, {}, 0.0),
    ],
)
def test_the_examples_of_shares(
    used: dict[str, int], guaranteed: dict[str, int], fair: dict[str, int], share: float
) -> None:
    assert fair_share(Resource(used), Resource(guaranteed), Limit(fair)) == share


@pytest.mark.rule("SORT-3")
def test_the_example_of_a_fair_max() -> None:
    tree = make_tree(
        make_queue("root.p", leaf=False, max={"vcore": 50}),
        make_queue("root.p.a", max={"memory": 2000}),
        capacity={"vcore": 100, "memory": 1000},
    )
    leaf = tree.get("root.p.a")
    assert leaf is not None
    assert fair_max(leaf.chain) == Limit({"vcore": 50, "memory": 2000})


# -- applications ------------------------------------------------------------------------------------------


def applicant(
    name: str,
    *,
    priority: int = 0,
    submitted: float = 0.0,
    state: AppState = AppState.RUNNING,
    **used: int,
) -> Applicant:
    return Applicant(AppId(name, "default"), priority, submitted, state, Resource(used))


def ordered(
    applicants: Sequence[Applicant],
    policy: SortPolicy = SortPolicy.FIFO,
    *,
    by_priority: bool = True,
    guaranteed: dict[str, int] | None = None,
) -> list[str]:
    due = Resource(guaranteed) if guaranteed is not None else None
    key = {each.id: order_key(each, policy, by_priority=by_priority, guaranteed=due) for each in applicants}
    return [each.name for each in sorted(key, key=lambda app_id: key[app_id])]


@pytest.mark.rule("SORT-5", "APP-17")
@pytest.mark.parametrize(
    ("policy", "by_priority", "order"),
    [
        (SortPolicy.FIFO, True, ["late", "early", "middle"]),
        (SortPolicy.FIFO, False, ["early", "middle", "late"]),
        (SortPolicy.STATE_AWARE, True, ["late", "early", "middle"]),
        (SortPolicy.STATE_AWARE, False, ["early", "middle", "late"]),
        (SortPolicy.FAIR, True, ["late", "middle", "early"]),
        (SortPolicy.FAIR, False, ["middle", "late", "early"]),
    ],
)
def test_applications_that_each_policy_checks(
    policy: SortPolicy, by_priority: bool, order: list[str]
) -> None:
    applicants = [
        applicant("early", priority=1, submitted=1, vcore=30),
        applicant("middle", priority=1, submitted=2, vcore=10),
        applicant("late", priority=5, submitted=3, vcore=20),
    ]
    assert ordered(applicants, policy, by_priority=by_priority) == order


@pytest.mark.rule("SORT-5", "SORT-6")
def test_equals_go_by_submission_and_then_by_id() -> None:
    applicants = [applicant("b", submitted=1), applicant("a", submitted=1), applicant("c", submitted=0)]
    for offered in permutations(applicants):
        assert ordered(offered) == ["c", "a", "b"]
        assert ordered(offered, SortPolicy.FAIR) == ["c", "a", "b"]


@pytest.mark.rule("SORT-7")
@pytest.mark.parametrize("guaranteed", [None, {}, {"vcore": 500}])
@pytest.mark.parametrize(
    ("used", "order"),
    [
        ((100, 200, 300, 400), "0123"),
        ((100, 1000, 300, 400), "0231"),
        ((100, 1000, 300, -1000), "3021"),
    ],
)
def test_the_examples_of_usage(guaranteed: dict[str, int] | None, used: Sequence[int], order: str) -> None:
    applicants = [applicant(str(at), vcore=amount) for at, amount in enumerate(used)]
    assert "".join(ordered(applicants, SortPolicy.FAIR, guaranteed=guaranteed)) == order


@pytest.mark.rule("SORT-7")
def test_of_equal_usage_the_higher_priority() -> None:
    priorities = (0, 2, 0, 3)
    used = (100, 1000, 300, 1000)
    applicants = [applicant(str(at), priority=priorities[at], vcore=used[at]) for at in range(4)]
    assert "".join(ordered(applicants, SortPolicy.FAIR, by_priority=False)) == "0231"


@pytest.mark.rule("SORT-7")
@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        ({"vcore": 5, "memory": 1}, {"vcore": 5}, "b"),
        ({"vcore": 5, "memory": 0}, {"vcore": 5, "gpu": 1}, "a"),
        ({"vcore": 3, "memory": 4}, {"vcore": 4, "memory": 3}, "a"),
        ({"vcore": 9}, {"vcore": 1, "memory": 8}, "b"),
    ],
)
def test_usage_is_compared_from_the_largest_share_down(
    one: dict[str, int], other: dict[str, int], first: str
) -> None:
    assert ordered([applicant("a", **one), applicant("b", **other)], SortPolicy.FAIR)[0] == first


@pytest.mark.rule("SORT-8")
@pytest.mark.parametrize(
    ("pending", "states", "checked"),
    [
        ("0123", "AAAA", "0"),
        ("123", "AAAA", "1"),
        ("123", "SAAA", ""),
        ("123", "RAAS", "3"),
        ("0123", "RAAS", "03"),
        ("0123", "RAAR", "013"),
        ("0123", "SASR", "03"),
    ],
)
def test_the_worked_filter(pending: str, states: str, checked: str) -> None:
    known = {"A": AppState.ACCEPTED, "S": AppState.STARTING, "R": AppState.RUNNING}
    everyone = [applicant(str(at), submitted=at, state=known[state]) for at, state in enumerate(states)]
    starting = [each.id for each in everyone if each.state is AppState.STARTING]
    asking = [each for each in everyone if each.id.name in pending]
    assert (
        "".join(each.name for each in sorted(eligible_applications(asking, starting, by_priority=True)))
        == checked
    )


@pytest.mark.rule("SORT-8")
@pytest.mark.parametrize(("by_priority", "chosen"), [(True, "late"), (False, "early")])
def test_which_accepted_one_is_let_in(by_priority: bool, chosen: str) -> None:
    applicants = [
        applicant("early", priority=1, submitted=1, state=AppState.ACCEPTED),
        applicant("late", priority=9, submitted=2, state=AppState.ACCEPTED),
    ]
    assert eligible_applications(applicants, (), by_priority=by_priority) == {AppId(chosen, "default")}
