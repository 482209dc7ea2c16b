"""ACT-4, ACT-5: the stored text is bounded, and read strictly."""

import json
from typing import Any

import pytest

from core.ids import QueuePath
from core.queues.queue import Closure
from extender.actions.stored import (
    LONGEST_REASON,
    MOST_BYTES,
    MOST_ENTRIES,
    Actions,
    StoreFull,
    Unreadable,
    actions_from,
    text_of,
    without_ended,
)

START = 1_767_225_600.0
A = QueuePath("root.a")
ENTRY: dict[str, Any] = {"queue": "root.a", "by": "ann", "since": "2026-01-01T00:00:00Z"}


def of(*entries: dict[str, Any], **more: Any) -> str:
    return json.dumps({"version": 1, "closedQueues": entries, **more})


@pytest.mark.rule("ACT-3")
def test_what_is_stored_is_read_again() -> None:
    actions = Actions(
        {
            A: Closure("ann", START, "drain \x1b]0;x\x07\u2028[red]", START + 60),
            QueuePath("root"): Closure("system:serviceaccount:x:y", START),
        }
    )
    assert actions_from(text_of(actions)) == actions
    assert text_of(actions_from(text_of(actions))) == text_of(actions)


def test_nothing_stored_is_nothing_ordered() -> None:
    assert actions_from(None) == Actions()


@pytest.mark.rule("ACT-5")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("[]", id="a list"),
        pytest.param("{}", id="no version"),
        pytest.param('{"version": 2}', id="a later version"),
        pytest.param(of(ended=[]), id="a member of a later version"),
        pytest.param(of({**ENTRY, "force": True}), id="an unknown member of an entry"),
        pytest.param(of({"queue": "root.a"}), id="an entry without its user"),
        pytest.param(of({**ENTRY, "since": "2026-01-01T00:00:00"}), id="a time without a zone"),
        pytest.param(of({**ENTRY, "until": "soon"}), id="no time"),
        pytest.param(of({**ENTRY, "until": 5}), id="a number"),
        pytest.param(of(ENTRY, ENTRY), id="a queue named twice"),
        pytest.param(of({**ENTRY, "queue": "root.A"}), id="capitals"),
        pytest.param(of({**ENTRY, "queue": "other.a"}), id="no path below root"),
        pytest.param(of({**ENTRY, "queue": ""}), id="no path"),
        pytest.param(of({**ENTRY, "reason": "x" * (LONGEST_REASON + 1)}), id="a reason that is too long"),
        pytest.param('"\\ud800"', id="half a character"),
        pytest.param("x" * (MOST_BYTES + 1), id="too many bytes"),
        pytest.param(
            of(*({**ENTRY, "queue": f"root.q{each}"} for each in range(MOST_ENTRIES + 1))),
            id="too many entries",
        ),
    ],
)
def test_a_text_that_is_not_understood_counts_for_nothing(text: str) -> None:
    with pytest.raises(Unreadable):
        actions_from(text)


@pytest.mark.rule("ACT-4")
@pytest.mark.parametrize(
    ("entries", "reason"), [(MOST_ENTRIES + 1, ""), (999, "x" * LONGEST_REASON)], ids=["entries", "bytes"]
)
def test_a_full_store_takes_nothing_more(entries: int, reason: str) -> None:
    with pytest.raises(StoreFull):
        text_of(
            Actions({QueuePath(f"root.q{each}"): Closure("ann", START, reason) for each in range(entries)})
        )


@pytest.mark.rule("ACT-4")
def test_as_many_as_there_is_place_for_are_read_again() -> None:
    most = Actions({QueuePath(f"root.q{each}"): Closure("ann", START) for each in range(MOST_ENTRIES)})
    assert actions_from(text_of(most)) == most


def test_what_has_ended_is_left_out() -> None:
    ends = Actions({A: Closure("ann", START, until=START + 60), QueuePath("root.b"): Closure("ann", START)})
    assert without_ended(ends, now=START + 59) == ends
    assert set(without_ended(ends, now=START + 60).closed) == {"root.b"}
