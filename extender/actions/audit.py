"""Lines of the audit log: one JSON object for each action, refused ones too (ACT-6)."""

import re
from collections.abc import Sequence

import msgspec

LONGEST_TEXT = 512
"""Characters of one text of a caller, at most."""

MOST_GROUPS = 50
_AUDIT_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


class AuditLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An action, by whom, and what became of it. Every text of a caller has a bounded length."""

    #: Time as RFC 3339 writes it.
    time: str
    user: str
    groups: tuple[str, ...]
    #: Number of further groups, which are left out.
    groups_left_out: int
    #: Address that the connection came from.
    source: str
    #: Name of the action; empty for a body that could not be read.
    action: str
    #: Queue as the caller wrote it.
    target: str
    reason: str
    dry_run: bool
    #: ``changed``, ``unchanged`` or ``refused``.
    result: str
    #: HTTP status of the answer.
    status: int
    #: Message of the answer.
    message: str
    #: Id in the audit log of the API server, or an own one.
    request_id: str
    #: Name of the line, by which a collector of logs finds it.
    event: str = "audit"
    level: str = "info"


def groups_shown(groups: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Groups for a line, and the number of those that are left out."""
    return tuple(shown(each) for each in groups[:MOST_GROUPS]), max(0, len(groups) - MOST_GROUPS)


def shown(text: str) -> str:
    """Text of a caller, cut to a bounded length."""
    return text[:LONGEST_TEXT]


def audit_id(headers: Sequence[str]) -> str | None:
    """Id that the API server gave a request. None unless there is exactly one valid id."""
    return headers[0] if len(headers) == 1 and _AUDIT_ID.fullmatch(headers[0]) else None
