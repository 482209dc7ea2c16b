"""Codes and refusal texts, Events, conditions, and reasons of failed pods."""

import contextlib
import io
import json

from core.reasons import Code, Refusal
from extender.cli import main
from tests.interfaces.product import ROOT, class_named
from tests.interfaces.tracing import OPEN, rows_of

_TYPES = {"True": "Warning", "False": "Normal"}


def codes() -> list[str]:
    """Refusal codes, in the order of their rank."""
    return [code.value for code in Code]


def events() -> list[str]:
    """``REASON TYPE KIND ACTION`` of every Event. Parts that depend on a run are open."""
    rows = rows_of(class_named("PostEvent"), ("reason", "warning", "kind", "action"))
    return sorted(
        f"{reason} {_TYPES[warning]} {kind} {action}".rstrip() for reason, warning, kind, action in rows
    )


def conditions() -> list[str]:
    """``TYPE STATUS REASON`` of every condition, then the reasons of pods that are set to Failed.

    The open reason is a refusal code.
    """
    rows = rows_of(class_named("SetCondition"), ("kind", "status", "reason"))
    failed = rows_of(class_named("MarkFailed"), ("reason",))
    return sorted([*(" ".join(row) for row in rows), *(f"phase Failed {reason}" for (reason,) in failed)])


# -- refusal texts -------------------------------------------------------------------------------------------

_FAULTS = ("BadBody", "CallFault", "DeadlinePassed", "NotLeading", "NotReady")
_PLAYED = (
    *("access-denied", "coscheduling-member-deleted-while-it-waits", "coscheduling-member-in-another-queue"),
    *("draining-takes-no-new-application", "gang-defined-by-its-first-pod", "gang-in-a-fair-queue"),
    *("gang-larger-than-its-namespace", "gang-larger-than-its-queue", "gang-of-three-priorities"),
    *("gang-larger-than-the-limit-of-its-user-fails", "gang-member-that-goes-to-another-node"),
    *("gang-second-where-one-application-may-run", "gang-that-its-driver-owns", "limit-of-a-group"),
    *("gang-whose-time-was-over-before", "limit-of-a-user", "limit-of-applications"),
    *("order-into-a-state-aware-queue-by-priority", "placement-refuses-a-parent", "quota-counts-pods"),
    *("quota-checks-requested-types-only", "restart-with-a-removed-queue"),
)
"""Scenarios in which pods are refused in each way that a scenario knows."""


def refusal_texts() -> list[str]:
    """Refusal texts of pods in some scenarios."""
    return sorted({text for name in _PLAYED for text in _refusals(name)})


def _refusals(scenario: str) -> set[str]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        main(["simulate", "--json", str(ROOT / "tests" / "scenarios" / f"{scenario}.yaml")])
    timeline = json.loads(output.getvalue())["timeline"]
    return {each["why"] for each in timeline if each["kind"] == "refused"}


def refusal_shapes() -> list[str]:
    """Texts of all refusals in the code, including rare ones. Parts that depend on a run are open."""
    rows = rows_of(Refusal, ("code", "subject", "limit"))
    refused = {Refusal(Code(code), subject, limit).text for code, subject, limit in rows if code != OPEN}
    return sorted(refused)


def fault_texts() -> list[str]:
    """``FAULT: TEXT`` of calls that are answered without a decision."""
    rows = {("Faulted", *row) for row in rows_of(class_named("Faulted"), ("message",))}
    for name in _FAULTS:
        rows |= {(name, *row) for row in rows_of(class_named(name), ("args",))}
    return sorted(f"{name}: {text}" for name, text in rows if text.strip(OPEN))
