"""Exit codes of explanations, and numbers of events."""

from typing import Any

import pytest

from extender.plugin.commands import cluster
from extender.plugin.commands.explaining import code_of
from extender.plugin.outcome import NEVER, OK, WAITS
from extender.rest.model.events import Change, Detail, EventType


def of_pod(standing: str, *codes: str) -> dict[str, Any]:
    return {"of": "pod", "pod": {"standing": standing, "obstacles": [{"code": each} for each in codes]}}


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (of_pod("pending", "QuotaExceeded"), WAITS),
        # With its turn it still waits for kube-scheduler.
        (of_pod("pending"), WAITS),
        (of_pod("gated", "ForeignGate"), WAITS),
        (of_pod("leaving", "Leaving"), WAITS),
        (of_pod("pending", "GangTooLarge", "QuotaExceeded"), NEVER),
        (of_pod("bound"), OK),
        (of_pod("reserved"), OK),
        (of_pod("unmanaged"), OK),
        ({"of": "application", "phase": "Running", "pods": {"bound": 2}}, OK),
        ({"of": "application", "phase": "Running", "pods": {"bound": 2, "pending": 1}}, WAITS),
        ({"of": "application", "phase": "Rejected", "pods": {}}, NEVER),
    ],
)
def test_only_what_is_known_not_to_wait_ends_with_0(found: dict[str, Any], code: int) -> None:
    assert code_of(found) == code


@pytest.mark.rule("REST-38")
def test_each_number_of_an_event_has_a_name() -> None:
    assert cluster._DETAILS.keys() == {*Detail} - {Detail.PLAIN}
    assert cluster._CHANGES.keys() == {*Change}
    assert cluster._KINDS.keys() == {*EventType}
