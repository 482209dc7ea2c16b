"""Lines of the audit log, with what a request tells about its caller (ACT-6)."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from aiohttp import web

from extender.actions.audit import AuditLine, audit_id, groups_shown, shown
from extender.identity.caller import AuthenticatedUser


@dataclass(frozen=True, slots=True)
class Asked:
    """Request of a caller, as far as it could be read. Texts are those of the caller."""

    action: str = ""
    target: str = ""
    reason: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a request. ``result``: changed, unchanged or refused."""

    result: str
    status: int
    message: str


def audit_line(
    request: web.Request, user: AuthenticatedUser, asked: Asked, outcome: Outcome, *, now: float
) -> AuditLine:
    """Line for a request that has ended. ``now``: seconds since the epoch."""
    groups, left_out = groups_shown(user.groups)
    return AuditLine(
        time=datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
        user=shown(user.name),
        groups=groups,
        groups_left_out=left_out,
        source=shown(request.remote or ""),
        action=asked.action,
        target=shown(asked.target),
        reason=asked.reason,
        dry_run=asked.dry_run,
        result=outcome.result,
        status=outcome.status,
        message=shown(outcome.message),
        request_id=audit_id(request.headers.getall("Audit-Id", [])) or str(uuid.uuid4()),
    )


def one_line(text: str, *, longest: int = 256) -> str:
    """Text of a caller for an Event: one line of printable characters, at most ``longest`` of them."""
    return "".join(each if each.isprintable() else "?" for each in text[:longest])
