"""ACT-4, ACT-5: the stored text is bounded, and read strictly."""

import json
from dataclasses import replace
from typing import Any

import pytest

from core.ids import AppId, QueuePath
from core.queues.queue import Closure
from core.workload.ending import Ending
from core.workload.moving import MoveOrder
from extender.actions.stored import (
    LONGEST_REASON,
    MOST_BYTES,
    MOST_ENTRIES,
    Actions,
    StoreFull,
    Unreadable,
    actions_from,
    text_of,
    without_past,
)

START = 1_767_225_600.0
A = QueuePath("root.a")
ONE = AppId("one", "a")
ENDING = Ending("ann", START, START + 600, START - 60, "root.a", "runaway")
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
        pytest.param('{"version": 4}', id="a later version"),
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
    assert without_past(ends, now=START + 59, ends=_none, is_move_over=_none) == ends
    assert set(without_past(ends, now=START + 60, ends=_none, is_move_over=_none).closed) == {"root.b"}


@pytest.mark.rule("ACT-4")
def test_an_order_stays_until_its_application_has_ended_and_its_bar_is_over() -> None:
    actions = Actions({}, {ONE: ENDING})
    assert without_past(actions, now=START + 599, ends=_none, is_move_over=_none) == actions
    assert (
        without_past(actions, now=START + 600, ends=lambda app_id: app_id == ONE, is_move_over=_none)
        == actions
    )
    assert without_past(actions, now=START + 600, ends=_none, is_move_over=_none) == Actions()


def _none(_: AppId) -> bool:
    return False


@pytest.mark.rule("ACT-3")
def test_an_ended_application_is_read_again_and_the_older_version_is_read() -> None:
    actions = Actions(
        {A: Closure("ann", START)}, {ONE: ENDING, AppId("one", "b"): replace(ENDING, force=True)}
    )
    assert actions_from(text_of(actions)) == actions
    assert actions_from(of(ENTRY)) == Actions({A: Closure("ann", START)})


@pytest.mark.rule("ACT-5")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"until": None}, id="no end of the bar"),
        pytest.param({"through": "2026-01-01T00:00:00"}, id="a time without a zone"),
        pytest.param({"queue": "ROOT"}, id="a path that no queue has"),
        pytest.param({"namespace": ""}, id="no namespace"),
        pytest.param({"pods": []}, id="an unknown member"),
        pytest.param({}, id="an entry of a later version"),
    ],
)
def test_an_ended_application_is_read_strictly(change: dict[str, Any]) -> None:
    found = json.loads(text_of(Actions({}, {ONE: ENDING})))
    found["endedApplications"][0] |= change
    found["version"] = 2 if change else 1
    with pytest.raises(Unreadable):
        actions_from(json.dumps(found))


def test_no_application_is_named_twice() -> None:
    found = json.loads(text_of(Actions({}, {ONE: ENDING})))
    found["endedApplications"] *= 2
    with pytest.raises(Unreadable, match="twice"):
        actions_from(json.dumps(found))


MOVE = MoveOrder("ann", START, QueuePath("root.b"), A, "carol", "too much")


@pytest.mark.rule("ACT-30")
def test_a_moved_application_is_read_again() -> None:
    actions = Actions({A: Closure("ann", START)}, {ONE: ENDING}, {ONE: MOVE, AppId("one", "b"): MOVE})
    assert actions_from(text_of(actions)) == actions
    assert json.loads(text_of(actions))["version"] == 3


@pytest.mark.rule("ACT-5")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"queue": None}, id="no queue"),
        pytest.param({"source": "ROOT.a"}, id="a source that no queue has"),
        pytest.param({"queue": "else.a"}, id="a queue outside of the root"),
        pytest.param({"namespace": ""}, id="no namespace"),
        pytest.param({"since": "2026-01-01T00:00:00"}, id="a time without a zone"),
        pytest.param({"pods": []}, id="an unknown member"),
        pytest.param({}, id="an entry of a later version"),
    ],
)
def test_a_moved_application_is_read_strictly(change: dict[str, Any]) -> None:
    found = json.loads(text_of(Actions({}, {}, {ONE: MOVE})))
    found["movedApplications"][0] |= change
    found["version"] = 3 if change else 2
    with pytest.raises(Unreadable):
        actions_from(json.dumps(found))


def test_no_application_is_moved_twice() -> None:
    found = json.loads(text_of(Actions({}, {}, {ONE: MOVE})))
    found["movedApplications"] *= 2
    with pytest.raises(Unreadable, match="twice"):
        actions_from(json.dumps(found))


@pytest.mark.rule("ACT-34")
def test_a_move_stays_until_its_application_has_ended() -> None:
    actions = Actions({}, {}, {ONE: MOVE, AppId("two", "a"): MOVE})
    left = without_past(actions, now=START, ends=_none, is_move_over=lambda app_id: app_id == ONE)
    assert set(left.moved) == {AppId("two", "a")}


@pytest.mark.rule("ACT-4")
def test_moves_count_for_the_bound_on_entries() -> None:
    moves = {AppId(f"app-{at}", "a"): MOVE for at in range(MOST_ENTRIES)}
    text_of(Actions({}, {}, moves))
    with pytest.raises(StoreFull):
        text_of(Actions({A: Closure("ann", START)}, {}, moves))
