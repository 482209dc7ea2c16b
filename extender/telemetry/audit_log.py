"""Audit log: one line of JSON on standard output for each action of an administrator (ACT-6)."""

import json
import sys
from typing import TextIO

import msgspec

from extender.actions.audit import AuditLine


def write_audit_line(line: AuditLine, stream: TextIO | None = None) -> None:
    """Write a line at once. ``stream``: None for standard output.

    Only ASCII is written, so no text of a caller can end the line or change how the log is shown.
    """
    text = json.dumps(msgspec.to_builtins(line), ensure_ascii=True)
    target = stream or sys.stdout
    target.write(f"{text}\n")
    target.flush()
