"""Actions on applications, which the server carries out for administrators."""

from typing import Annotated, Any

import typer

from extender.plugin.asked import Asked
from extender.plugin.commands.closing import DryRun, acted, span_of
from extender.plugin.completing import names_of
from extender.plugin.outcome import Problem
from extender.plugin.printing import Result
from extender.plugin.reaching import Server

Name = Annotated[
    str, typer.Argument(metavar="APP", help="Id of the application.", autocompletion=names_of("app"))
]

Generated = Annotated[
    bool, typer.Option("--generated", help="Also for the application of all pods that name none.")
]


def end(
    server: Server,
    asked: Asked,
    name: Name,
    reason: Annotated[str, typer.Option("--reason", help="Reason, which its pods' Events show.")] = "",
    bar: Annotated[str, typer.Option("--bar", help="Span for which further pods of the id wait.")] = "10m",
    force: Annotated[
        bool, typer.Option("--force", help="Delete pods with their grace period, whatever budgets say.")
    ] = False,
    generated: Generated = False,
    dry_run: DryRun = False,
) -> Result:
    """End an application: evict its running pods, fail pending ones, and let its id wait for a time."""
    seconds = span_of(bar)
    if seconds is None:
        raise Problem("--bar is no span such as 10m")
    order: dict[str, Any] = {"action": "end", **_target(server, name), "bar": seconds, "dryRun": dry_run}
    order |= {"reason": reason} if reason else {}
    order |= {key: True for key, given in (("force", force), ("generated", generated)) if given}
    return acted(server, order)


def move(
    server: Server,
    asked: Asked,
    name: Name,
    queue: Annotated[
        str, typer.Argument(metavar="QUEUE", help="Path of the leaf.", autocompletion=names_of("queue"))
    ],
    reason: Annotated[str, typer.Option("--reason", help="Reason, which the audit log has.")] = "",
    generated: Generated = False,
    dry_run: DryRun = False,
) -> Result:
    """Move an application to another leaf, whole. Its pods stay on their nodes, and count there."""
    order: dict[str, Any] = {"action": "move", **_target(server, name), "queue": queue, "dryRun": dry_run}
    order |= {"reason": reason} if reason else {}
    order |= {"generated": True} if generated else {}
    return acted(server, order)


def lift(server: Server, asked: Asked, name: Name, dry_run: DryRun = False) -> Result:
    """Let the pods of an application's id run again after it was ended."""
    return acted(server, {"action": "lift", **_target(server, name), "dryRun": dry_run})


def _target(server: Server, name: str) -> dict[str, str]:
    return {"application": name, "namespace": server.namespace}
