"""Records of limits, and of applications that a limit holds back."""

from dataclasses import replace

import pytest

from core.decisions.decision import Admitted, Refused
from core.ids import AppId
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import LimitSpec
from core.reasons import Code, Refusal, SentRefusal
from core.resource import Limit
from extender.rest.memory.limits import LimitRecords
from extender.rest.model.events import EventRecord
from tests.builders import START, make_ledger, make_partition, make_queue

APP = AppId("app-1", "default")
A = make_queue("root.a")


def heard(records: list[EventRecord]) -> list[tuple[str, int, int, str]]:
    """Object, change, detail and reference of the new records."""
    found = [
        (each.object_id, each.event_change_type, each.event_change_detail, each.reference_id)
        for each in records
    ]
    records.clear()
    return found


@pytest.mark.rule("REST-38")
def test_an_application_that_a_limit_holds_back_and_releases() -> None:
    records: list[EventRecord] = []
    limits = LimitRecords(records.append)
    verdicts = [
        *(Code.MAX_APPLICATIONS_REACHED, Code.MAX_APPLICATIONS_REACHED),
        *(Code.GROUP_MAX_APPLICATIONS_REACHED, Code.QUOTA_EXCEEDED, Code.USER_MAX_APPLICATIONS_REACHED),
    ]
    for code in verdicts:
        sent = SentRefusal(code, code, 1, None, 0.0)
        limits.decided(APP, Refused(Refusal(code, "root.a"), sent, ()), now=START)
    limits.decided(APP, Admitted(()), now=START)
    assert [detail for _, _, detail, _ in heard(records)] == [213, 214, 215, 216, 215, 216]


@pytest.mark.rule("REST-38")
def test_limits_of_users_and_groups_come_and_go() -> None:
    records: list[EventRecord] = []
    limits = LimitRecords(records.append)
    entry = LimitSpec(("alice",), ("dev",), Limit({"vcore": 1000}), 1)
    steps = (
        ((entry,), [("dev", 1, 601, "root.a"), ("alice", 1, 600, "root.a")]),
        ((entry,), []),
        (
            (replace(entry, groups=(), max_applications=2),),
            [("dev", 3, 601, "root.a"), ("alice", 1, 600, "root.a")],
        ),
    )
    for entries, wanted in steps:
        ledger = make_ledger(A)
        document = make_partition(replace(A, limits=entries))
        ledger.apply(on.Configured(document, LedgerSettings()), now=START)
        limits.configured(ledger.view, now=START)
        assert heard(records) == wanted
