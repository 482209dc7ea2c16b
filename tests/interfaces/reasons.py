"""Codes, and what is written of pods and ConfigMaps: Events, conditions, reasons of failed pods."""

from core.reasons import Code
from tests.interfaces.product import class_named
from tests.interfaces.tracing import rows_of

_TYPES = {"True": "Warning", "False": "Normal"}


def codes() -> list[str]:
    """Refusal codes, in the order in which the first that applies wins."""
    return [code.value for code in Code]


def events() -> list[str]:
    """``REASON TYPE KIND ACTION`` of every Event; what only a run can tell is open."""
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
