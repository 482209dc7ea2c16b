"""Usage of users and groups from the ledger."""

from dataclasses import replace

import pytest

from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.spec import LimitSpec
from core.queues.users.identity import Identity
from core.resource import Limit
from extender.rest.facts import Facts
from extender.rest.members import members
from extender.rest.projection.usage import all_groups, all_users, one_group, one_user
from tests.builders import START, filtered, make_ledger, make_pod, make_queue

ALICE = Identity("alice", ("dev",))
LIMITS = (
    LimitSpec(("alice", "zoe"), (), Limit({"vcore": 3000}), 2),
    LimitSpec((), ("dev", "ops"), Limit({"vcore": 9000})),
)


def ledger_of(*limits: LimitSpec) -> Ledger:
    ledger = make_ledger(replace(make_queue("root.a"), limits=limits), make_queue("root.b"))
    ledger.apply(on.PodObserved(make_pod("p", node="n1", identity=ALICE)), now=START)
    ledger.apply(on.PodObserved(make_pod("q", app="app-2", queue="root.b", node="n1")), now=START)
    ledger.apply(on.GroupsResolved("alice", ("dev",)), now=START)
    return ledger


@pytest.mark.rule("REST-9")
def test_a_user() -> None:
    found = one_user(Facts(ledger_of(*LIMITS).view), "alice")
    assert found is not None
    used = {"pods": 1, "vcore": 1000}
    assert members(found) == {
        "userName": "alice",
        "groups": {"app-1": "dev"},
        "queues": {
            "queuePath": "root",
            "resourceUsage": used,
            "runningApplications": ["app-1"],
            "children": [
                {
                    "queuePath": "root.a",
                    "resourceUsage": used,
                    "runningApplications": ["app-1"],
                    "maxResources": {"vcore": 3000},
                    "maxApplications": 2,
                }
            ],
        },
    }


@pytest.mark.rule("REST-9", "REST-25")
def test_users_use_something_or_are_named_in_a_limit() -> None:
    facts = Facts(ledger_of(*LIMITS).view)
    assert [each.user_name for each in all_users(facts)] == ["alice", "nobody", "zoe"]
    assert one_user(facts, "bob") is None


@pytest.mark.rule("REST-9")
def test_groups_are_those_that_a_limit_names() -> None:
    facts = Facts(ledger_of(*LIMITS).view)
    assert [(each.group_name, each.applications) for each in all_groups(facts)] == [
        ("dev", ("app-1",)),
        ("ops", ()),
    ]
    assert one_group(facts, "none") is None


@pytest.mark.rule("REST-9")
def test_without_limits_of_groups_there_are_none() -> None:
    facts = Facts(ledger_of().view)
    assert all_groups(facts) == ()
    assert all("groups" not in members(each) for each in all_users(facts))


@pytest.mark.rule("REST-9")
def test_a_wildcard_makes_no_user() -> None:
    facts = Facts(ledger_of(LimitSpec(("*",), (), Limit({"vcore": 3000}))).view)
    assert one_user(facts, "bob") is None
    assert [each.user_name for each in all_users(facts)] == ["alice", "nobody"]


@pytest.mark.rule("REST-9", "REST-41")
def test_a_pod_between_filter_and_bind_is_not_used_yet() -> None:
    ledger = ledger_of()
    ledger.apply(on.PodObserved(make_pod("next", app="app-3", identity=ALICE)), now=START)
    filtered(ledger, "uid-next", now=START)
    found = one_user(Facts(ledger.view), "alice")
    assert found is not None
    assert found.queues is not None
    assert found.queues.resource_usage == {"pods": 1, "vcore": 1000}
