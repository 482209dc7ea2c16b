"""Options of every command, added to the signature of the function that runs it."""

import functools
import inspect
import sys
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from extender.plugin.asked import Asked
from extender.plugin.outcome import INTERRUPTED, UNREACHABLE, NotServed, Problem
from extender.plugin.plain import plain
from extender.plugin.printing import Result, is_terminal, show
from extender.plugin.reaching import Server

WATCHED_EVERY = 2.0
"""Seconds between two outputs with ``--watch``."""

Command = Callable[..., Result | int]


def _option(annotation: Any, default: Any, *names: str, text: str) -> inspect.Parameter:
    name = names[-1].lstrip("-").replace("-", "_")
    return inspect.Parameter(
        f"given_{name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, typer.Option(*names, help=text)],
    )


OPTIONS = (
    _option(str, "", "-n", "--namespace", text="Namespace; default: that of the kubeconfig."),
    _option(bool, False, "-A", "--all-namespaces", text="All namespaces."),
    _option(str, "", "--context", text="Context of the kubeconfig."),
    _option(str, "", "--kubeconfig", text="File with the kubeconfig."),
    _option(str, "", "--as", text="User to impersonate."),
    _option(str, "", "--as-group", text="User group to impersonate."),
    _option(str, "", "--request-timeout", text="Time for one request, such as 10s."),
    _option(str, "", "--server", text="URL of Paddock's own port, asked without kubectl."),
    _option(str, "", "--namespace-of-paddock", text="Namespace of Paddock's pods; default: any."),
    _option(str, "table", "-o", "--output", text="json, yaml, wide, name or jsonpath=…"),
    _option(bool, False, "--no-headers", text="Tables without headers."),
    _option(str, "", "--sort-by", text="Column by which rows are sorted."),
    _option(bool, False, "-w", "--watch", text="Print again every two seconds."),
    _option(str, "human", "--units", text="human or raw."),
    _option(str, "auto", "--color", text="auto, always or never."),
    _option(bool, False, "-v", "--verbose", text="More details."),
)
"""Options that every command has."""

_OF_KUBECTL = ("context", "kubeconfig", "as", "as_group", "request_timeout")


def with_options(command: Command) -> Callable[..., None]:
    """The command for typer: it has the options, prints its result and ends with its exit code.

    ``command(server, asked, …)`` returns a `Result`, or an exit code.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())[2:]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        asked = asked_from({name[6:]: given.pop(name) for name in list(given) if name.startswith("given_")})
        raise typer.Exit(_ended(command, asked, given))

    positional = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    run.__signature__ = inspect.Signature([*positional, *OPTIONS])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*own, *OPTIONS)}
    del run.__wrapped__
    return run


def asked_from(options: Mapping[str, Any]) -> Asked:
    """Options as one value. A completion may know only some of them."""
    given = {each.name[6:]: options.get(each.name[6:]) or each.default for each in OPTIONS}
    flags = []
    for name in _OF_KUBECTL:
        if given[name]:
            flags.append(f"--{name.replace('_', '-')}={given[name]}")
    return Asked(
        namespace=given["namespace"],
        all_namespaces=given["all_namespaces"],
        kubectl=flags,
        server=given["server"],
        own_namespace=given["namespace_of_paddock"],
        output=given["output"],
        no_headers=given["no_headers"],
        sort_by=given["sort_by"],
        watch=given["watch"],
        raw_units=given["units"] == "raw",
        color=given["color"],
        verbose=given["verbose"],
    )


def _ended(command: Command, asked: Asked, given: dict[str, Any]) -> int:
    """Run a command, and return its exit code."""
    try:
        with Server(asked) as server:
            while True:
                found = command(server, asked, **given)
                if isinstance(found, int):
                    return found
                if asked.watch and is_terminal():
                    print("\x1b[2J\x1b[H", end="")
                show(found, asked)
                if not asked.watch:
                    return found.code
                sys.stdout.flush()
                time.sleep(WATCHED_EVERY)
    except Problem as error:
        print(f"kubectl paddock: {plain(error)}", file=sys.stderr)
        return error.code
    except NotServed as error:
        print(f"kubectl paddock: {plain(error)}", file=sys.stderr)
        return UNREACHABLE
    except KeyboardInterrupt:
        return INTERRUPTED
