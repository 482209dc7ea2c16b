"""The audit finds every error in a pod group. Each of its fields is corrupted in turn."""

from collections.abc import Callable
from dataclasses import fields

import pytest

from core.ids import PodUid
from core.ledger.audit.rounds import audit
from core.ledger.state.state import State
from core.workload.pod_group import Group, MemberPhase
from core.workload.pod_group_phase import AttemptEvent
from tests.builders import make_ledger
from tests.core.ledger.podgroups.play import KEY, A, seen


def group_in(state: State) -> Group:
    return state.podgroups.known[KEY]


CORRUPTIONS: list[tuple[str, Callable[[State], object]]] = [
    ("pod group of uid-p", lambda state: setattr(state.pods.records[PodUid("uid-p")], "pod_group", None)),
    ("phase of uid-p", lambda state: group_in(state).phases.update({PodUid("uid-p"): MemberPhase.BOUND})),
    ("pod group: any of uid-p", lambda state: state.podgroups.known.clear()),
    (
        "waits in bind of uid-p",
        lambda state: setattr(state.pods.records[PodUid("uid-p")].placement, "waits_bind", True),
    ),
    (
        "pod group: strangers of default/g",
        lambda state: group_in(state).phases.update({PodUid("x"): MemberPhase.AWAY}),
    ),
    ("pod group: counts of default/g", lambda state: group_in(state).counts.update({MemberPhase.BOUND: 1})),
    ("pod group: sizes of default/g", lambda state: group_in(state).sizes.clear()),
    ("pod group: alike of default/g", lambda state: group_in(state).alike.clear()),
    ("pod group: ages of default/g", lambda state: group_in(state).ages.clear()),
    ("pod group: first of default/g", lambda state: setattr(group_in(state), "first", None)),
    ("pod group: min-available of default/g", lambda state: setattr(group_in(state), "min_available", 9)),
    ("pod group: complete of default/g", lambda state: setattr(group_in(state), "complete", True)),
    ("pod group: turns timed as open", lambda state: setattr(group_in(state), "timed_open", True)),
    ("pod group: watched of default/g", lambda state: group_in(state).move_attempt(AttemptEvent.BEGUN)),
    (
        "pod group: attempt while open of default/g",
        lambda state: setattr(group_in(state), "min_available", 0),
    ),
    ("pod group: touched of default/g", lambda state: state.podgroups.touched.update({KEY: None})),
    ("pod group: any of default/g", lambda state: group_in(state).phases.clear()),
]


@pytest.mark.corrupts_ledger
@pytest.mark.parametrize(("what", "corrupt"), CORRUPTIONS, ids=[each[0] for each in CORRUPTIONS])
def test_a_corrupted_group_is_named(what: str, corrupt: Callable[[State], object]) -> None:
    ledger = make_ledger(A)
    for name in ("p", "q"):
        seen(ledger, name)
    if "while open" in what:
        group_in(ledger._state).move_attempt(AttemptEvent.BEGUN)
    else:
        assert audit(ledger._state) == ()
    corrupt(ledger._state)
    assert any(drift.what.startswith(what) for drift in audit(ledger._state)), audit(ledger._state)


def test_no_field_of_a_group_is_forgotten() -> None:
    audited = {"phases", "counts", "ages", "sizes", "alike", "first", "min_available", "complete"}
    audited |= {"timed_open"}
    history = {
        *(
            "key",
            "queue",
            "phase",
            "attempt_phase",
            "attempt_since",
            "leased",
            "wait_until",
            "timeouts",
            "ignored",
            "backs_off_until",
        ),
        *("degraded_since", "complete_since", "warned"),
    }
    assert {each.name for each in fields(Group)} == audited | history
