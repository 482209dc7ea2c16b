"""ACT-1, ACT-7: requests are read strictly, and a repeated one changes nothing."""

import json
from typing import Any

import pytest

from core.ids import QueuePath
from core.queues.queue import Closure
from extender.actions.requested import (
    CloseQueue,
    NotValid,
    OpenQueue,
    action_of,
    changed,
    check_request,
    request_from,
)
from extender.actions.stored import Actions

START = 1_767_225_600.0
A = QueuePath("root.a")


def asked(**members: Any) -> bytes:
    return json.dumps({"action": "close", "queue": "root.a", **members}).encode()


def test_a_request_is_read() -> None:
    found = request_from(asked(reason="drain", until="2026-01-01T01:00:00+01:00", dryRun=True))
    assert isinstance(found, CloseQueue)
    assert found.until is not None
    assert (action_of(found), found.dry_run, found.until.timestamp()) == ("close", True, START)


@pytest.mark.rule("ACT-1")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"{}",
        b'"close"',
        asked(action="delete"),
        asked(action=["close"]),
        asked(user="admin"),
        asked(by="admin"),
        asked(queue=""),
        asked(queue="x" * 513),
        asked(queue=None),
        asked(reason="x" * 257),
        asked(until="2026-01-01T00:00:00"),
        asked(until=10**12),
        asked(dryRun="true"),
        asked(action="open", until="2026-01-01T00:00:00Z"),
    ],
)
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(NotValid):
        request_from(body)


def test_a_queue_is_not_closed_until_a_time_that_has_passed() -> None:
    with pytest.raises(NotValid):
        check_request(request_from(asked(until="2026-01-01T00:00:00Z")), now=START)
    check_request(request_from(asked(until="2026-01-01T00:00:00Z")), now=START - 1)


@pytest.mark.rule("ACT-7")
def test_a_repeated_request_changes_nothing() -> None:
    closing = request_from(asked(reason="drain"))
    once = changed(Actions(), closing, A, by="ann", now=START + 0.7)
    assert once.closed == {A: Closure("ann", START, "drain")}
    assert changed(once, closing, A, by="bob", now=START + 60) == once
    opening = OpenQueue(queue="root.a")
    assert changed(once, opening, A, by="bob", now=START) == Actions()
    assert changed(Actions(), opening, A, by="bob", now=START) == Actions()


@pytest.mark.rule("ACT-7")
def test_another_end_replaces_the_former_one() -> None:
    once = changed(Actions(), request_from(asked()), A, by="ann", now=START)
    longer = request_from(asked(until="2026-01-01T02:00:00Z"))
    assert changed(once, longer, A, by="bob", now=START + 60).closed == {
        A: Closure("bob", START, "", START + 7200)
    }


def test_what_has_ended_goes_with_the_next_change() -> None:
    ended = Actions({QueuePath("root.b"): Closure("ann", START, until=START + 1)})
    assert set(changed(ended, request_from(asked()), A, by="ann", now=START + 2).closed) == {"root.a"}
