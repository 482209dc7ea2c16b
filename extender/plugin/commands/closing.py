"""Actions on queues, which the server carries out for administrators."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from extender.plugin.asked import Asked
from extender.plugin.completing import names_of
from extender.plugin.outcome import Problem
from extender.plugin.printing import Result
from extender.plugin.reaching import Server

_SPAN = re.compile(r"([0-9]{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

Name = Annotated[
    str, typer.Argument(metavar="QUEUE", help="Path of the queue.", autocompletion=names_of("queue"))
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")]


def close_queue(
    server: Server,
    asked: Asked,
    name: Name,
    reason: Annotated[str, typer.Option("--reason", help="Reason, which users of the queue see.")] = "",
    until: Annotated[
        str, typer.Option("--until", help="Time such as 2026-01-31T18:00:00Z, or a span such as 2h.")
    ] = "",
    dry_run: DryRun = False,
) -> Result:
    """Close a queue: what runs goes on, and applications of which nothing runs yet wait."""
    order: dict[str, Any] = {"action": "close", "queue": name, "dryRun": dry_run}
    if reason:
        order["reason"] = reason
    if until:
        order["until"] = _moment(until)
    return acted(server, order)


def open_queue(server: Server, asked: Asked, name: Name, dry_run: DryRun = False) -> Result:
    """Open a queue that was closed."""
    return acted(server, {"action": "open", "queue": name, "dryRun": dry_run})


def acted(server: Server, order: dict[str, Any]) -> Result:
    """Have an action carried out. Raises `Problem`."""
    found = server.act(json.dumps(order).encode())
    text = found["message"] + (" (dry run)" if found["dryRun"] else "")
    name = f"app/{found['application']}" if "application" in found else f"queue/{found['queue']}"
    return Result("Action", [found], [name], [text, *_listed(found)], single=True)


def _listed(found: dict[str, Any]) -> Iterator[str]:
    """Lines for the pods of an application, for what a move changes, and for controllers of ended pods."""
    verb = "moves" if found["action"] == "move" else "ends "
    yield from (f"  {verb}  {each}" for each in found.get("pods", ()))
    yield from (f"  change {each}" for each in found.get("changes", ()))
    yield from (f"  stays  {each}" for each in found.get("left", ()))
    yield from (f"  new pods of {each} will wait" for each in found.get("controllers", ()))


def span_of(text: str) -> int | None:
    """Seconds of a span such as 2h; None for another text."""
    span = _SPAN.fullmatch(text)
    return int(span[1]) * _SECONDS[span[2]] if span is not None else None


def _moment(text: str) -> str:
    """Time as RFC 3339 writes it. Raises `Problem`."""
    span = span_of(text)
    if span is not None:
        return (datetime.now(UTC) + timedelta(seconds=span)).isoformat(timespec="seconds")
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Problem("--until is no time with a zone, and no span such as 2h")
    return found.isoformat()
