"""Paddock itself: its health, an overview that repeats, its page, versions and shell completion."""

import time
import webbrowser
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Annotated

import typer

from extender.plugin.asked import Asked
from extender.plugin.commands.queues import queues
from extender.plugin.completing import one_of
from extender.plugin.outcome import OK, UNREACHABLE, Problem
from extender.plugin.plain import plain
from extender.plugin.printing import Result, Rows
from extender.plugin.reaching import Server, note


def status(server: Server, asked: Asked) -> Result:
    """Show Paddock's health, with failing checks first. Status 2 if one fails."""
    found = server.get("/ws/v1/scheduler/healthcheck")
    (partition,) = server.get("/ws/v1/partitions")
    states = partition.get("applications") or {}
    table = Rows(("CHECK", "STATE", "DETAIL"))
    checks = sorted(found.get("HealthChecks") or (), key=lambda each: bool(each.get("Succeeded")))
    for each in checks:
        found_or_asked = each.get("DiagnosisMessage") or each.get("Description", "")
        table.add(each.get("Name", ""), "ok" if each.get("Succeeded") else "FAILS", found_or_asked)
    lines = [
        f"Healthy:       {'yes' if found.get('Healthy') else 'no'}",
        f"Nodes:         {partition.get('totalNodes', 0)}",
        f"Pods:          {partition.get('totalContainers', 0)}",
        "Applications:  "
        + (", ".join(f"{count} {name}" for name, count in sorted(states.items())) or "none"),
        "",
    ]
    code = OK if found.get("Healthy") else UNREACHABLE
    return Result("Health", [found], ["health/paddock"], [*lines, table], single=True, code=code)


def top(
    server: Server,
    asked: Asked,
    what: Annotated[
        str, typer.Argument(help="queues or users.", autocompletion=one_of("queues", "users"))
    ] = "queues",
    depth: Annotated[int, typer.Option("--depth", help="Levels of queues.")] = 2,
) -> Result:
    """Show usage repeatedly until interrupted, or once if the output is not a terminal."""
    from extender.plugin.commands.cluster import users
    from extender.plugin.printing import is_terminal

    asked.watch = is_terminal()
    if what == "users":
        return users(server, asked)
    if what != "queues":
        raise Problem("top shows queues or users")
    return queues(server, asked, depth=depth)


def open_page(
    server: Server,
    asked: Asked,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> int:
    """Forward a port to Paddock's leader and open its page, until interrupted."""
    url = server.forwarded_url()
    note(f"Paddock answers at {url} until you press Ctrl-C")
    if browser:
        webbrowser.open(url)
    server.wait()
    return OK


def own_version() -> str:
    """Version of this command."""
    try:
        return version_of("paddock")
    except PackageNotFoundError:
        return "unknown"


def version(server: Server, asked: Asked) -> Result:
    """Show the versions of this command and of the server. Warns if they are more than one minor apart."""
    here = own_version()
    (cluster,) = server.get("/ws/v1/clusters")
    build = (cluster.get("rmBuildInformation") or [{}])[0]
    there = str(build.get("buildVersion", "unknown"))
    if _minor(here) is not None and _minor(there) is not None and abs(_minor(here) - _minor(there)) > 1:  # type: ignore[operator]
        note("this command and the server are more than one minor version apart")
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(cluster.get("startTime", 0) / 1e9))
    found = {"client": here, "server": there, "started": since}
    lines = [f"Client: {here}", f"Server: {plain(there)}, since {since}"]
    return Result("Version", [found], ["version/paddock"], [*lines], single=True)


def _minor(text: str) -> int | None:
    parts = text.split(".")
    return (
        int(parts[0]) * 1000 + int(parts[1])
        if len(parts) > 1 and parts[0].isdigit() and parts[1].isdigit()
        else None
    )
