"""Write of a queue document: compared by the server, confirmed by the user, written by the user's kubectl."""

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from extender.configuration.edit import EditRefused, check_edit, document_in
from extender.plugin.applying.config_map import ConfigMap
from extender.plugin.applying.differing import lines_of, refusal_of
from extender.plugin.applying.replicas import Replica, Replicas
from extender.plugin.asked import Asked
from extender.plugin.commands.closing import span_of
from extender.plugin.commands.documents import FileOption, read
from extender.plugin.outcome import FAILED, OK, OUT_OF_TIME, UNREACHABLE, WAITS, Problem
from extender.plugin.plain import plain
from extender.plugin.reaching import Server, note

CHECKED_EVERY = 1.0
"""Seconds between two looks at the instances that lag."""


def apply(
    server: Server,
    asked: Asked,
    filename: FileOption,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Have the API server check the write, and write nothing.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write although Argo CD, Flux or Helm owns the ConfigMap.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until every instance of Paddock has the document.")
    ] = True,
    deadline: Annotated[str, typer.Option("--deadline", help="Longest wait, a span such as 60s.")] = "60s",
) -> int:
    """Write a queue document into the ConfigMap, after a look at what it would change.

    Status 3 if the document is refused, 124 if an instance does not have it in time.
    """
    seconds = span_of(deadline)
    if seconds is None:
        raise Problem("--deadline is no span such as 60s")
    if asked.server:
        raise Problem("apply writes by kubectl: leave out --server")
    body = read(filename)
    found = server.post("/ws/v1/compare-conf", body)
    if not found.get("allowed"):
        _show(refusal_of(found))
        return WAITS
    target = found.get("configMap")
    if not target:
        raise Problem("the server reads its queues from a file, so no ConfigMap counts")
    config_map = ConfigMap.read(asked, target["namespace"], target["name"])
    code = _written(config_map, target["key"], body.decode(), found, asked, _Choice(yes, dry_run, force))
    if code != OK or dry_run or not wait:
        return code
    if found.get("needsRestart"):
        note("hot refresh is off: the document counts after a restart of Paddock")
        return OK
    with Replicas(asked, target["namespace"]) as replicas:
        return _awaited(replicas, found["checksum"], seconds)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Options of a write."""

    yes: bool
    dry_run: bool
    force: bool


def _show(lines: Iterable[str]) -> None:
    for each in lines:
        print(plain(each))


def _written(
    config_map: ConfigMap, key: str, text: str, found: dict[str, Any], asked: Asked, choice: _Choice
) -> int:
    """Show what changes, ask, and write. Returns an exit code. Raises `Problem`."""
    name = f"ConfigMap {config_map.namespace}/{config_map.name}"
    if document_in(config_map.found, key) == text:
        print(f"{name} has this document already.")
        return OK
    try:
        check_edit(config_map.found, key, force=choice.force)
    except EditRefused as error:
        raise Problem(str(error).replace("use force", "use --force")) from None
    _show(lines_of(found, raw=asked.raw_units))
    if config_map.exists and config_map.checksum(key) != found.get("inForce"):
        note(f"{name} has a document that is not in force; it is replaced, too")
    if not (choice.yes or choice.dry_run) and not _confirmed(name):
        print("Nothing was written.")
        return FAILED
    config_map.write(asked, key, text, dry_run=choice.dry_run)
    print(f"{name} would be written (dry run)." if choice.dry_run else f"{name} is written.")
    return OK


def _confirmed(name: str) -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Problem("no terminal to ask at: repeat the command with --yes, or with --dry-run")
    return typer.confirm(f"Write {name}?", default=False)


def _awaited(replicas: Replicas, checksum: str, seconds: int) -> int:
    """Wait until every instance has the document. Names those that lag."""
    until = time.monotonic() + seconds
    while True:
        found = replicas.found()
        lagging = [each for each in found if each.checksum != checksum]
        if found and not lagging:
            print(f"Each instance has the document: {', '.join(plain(each.name) for each in found)}.")
            return OK
        if time.monotonic() >= until:
            return _late(found, lagging)
        time.sleep(CHECKED_EVERY)


def _late(found: list[Replica], lagging: list[Replica]) -> int:
    if not found:
        note("no pod of Paddock is found to ask")
        return UNREACHABLE
    for each in lagging:
        print(plain(f"{each.name} lags: {each.why}" + (f"; it refused: {each.error}" if each.error else "")))
    return OUT_OF_TIME
