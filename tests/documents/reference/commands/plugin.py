"""The page of `kubectl paddock`, read from its commands."""

import inspect
from collections.abc import Iterator
from typing import Any, get_args

from typer.models import ArgumentInfo, OptionInfo

from extender.plugin.main import command_of
from extender.plugin.options import OPTIONS
from extender.plugin.table import COMMANDS
from tests.documents.reference.markdown import code, codes, page, table

_INTRO = """\
# kubectl paddock

The command asks Paddock about queues, applications and pods.
Only `apply`, `close-queue`, `open-queue`, `end`, `lift` and `move` change something.
Install the wheel: `kubectl paddock` finds `kubectl-paddock` on the `PATH`. On Windows, use `pipx install`.
On Linux and macOS one file does, which needs Python 3.11 or later and no library.
`make plugin` makes it in `dist`, with an archive and a manifest for krew.
krew installs these without a network by `--manifest` and `--archive`.
`paddock` has the same commands, but its own `check` and `simulate`, which read files without a server.

It runs `kubectl get --raw` for the aggregated API, so your kubeconfig and your rights count.
If that API does not answer, the command forwards a port to the pod that leads. A note says so.

Everything that the server sends is shown as plain text.
Control characters and bidirectional marks are escaped.
`-o json` has the objects of the [REST interface](rest.md).
`NO_COLOR`, `TERM=dumb` and a pipe turn colours off.

## Completion

`source <(kubectl-paddock completion bash)` completes words after `kubectl-paddock`. zsh has the same.
kubectl completes words after `kubectl paddock` by `kubectl_complete-paddock`, which the wheel installs.
Elsewhere, save the output of `kubectl paddock completion kubectl` by that name on the `PATH`, executable.

Queues, applications, pods, users, user groups and nodes are completed, as far as you may read them.
The server has a second to answer. Names that a shell would expand or split are left out."""

_CODES = (
    ("0", "Done."),
    ("1", "Wrong use, or not found."),
    ("2", "The server cannot be reached, is not ready, or a check of its health fails."),
    ("3", "The answer is no: the pod waits, or the document is refused."),
    ("4", "The answer is no, and waiting does not help."),
    ("124", "`wait` ran out of time."),
)


def plugin_page() -> str:
    """Options of all commands, exit codes, then each command with what is its own."""
    parts = [_INTRO, "## Exit codes", table(("code", "meaning"), _CODES), "## Options of every command"]
    parts.append(table(("option", "default", "meaning"), [_row(each) for each in OPTIONS]))
    for name in COMMANDS:
        function = command_of(name)
        parts += [f"## {name}", inspect.cleandoc(function.__doc__ or "")]
        rows = list(_own(function))
        if rows:
            parts.append(table(("argument", "default", "meaning"), rows))
    return page(*parts)


def _own(function: Any) -> Iterator[tuple[str, str, str]]:
    common = {each.name for each in OPTIONS}
    for each in inspect.signature(function, eval_str=True).parameters.values():
        if each.name not in common:
            yield _row(each)


def _row(parameter: inspect.Parameter) -> tuple[str, str, str]:
    info = next(
        each for each in get_args(parameter.annotation) if isinstance(each, ArgumentInfo | OptionInfo)
    )
    # typer keeps the first name in the place of a default.
    names = (
        (info.default, *(info.param_decls or ()))
        if isinstance(info, OptionInfo)
        else (_shown(info, parameter),)
    )
    default = "" if parameter.default in (inspect.Parameter.empty, "", False) else code(parameter.default)
    return codes(str(each) for each in names), default, str(info.help)


def _shown(info: ArgumentInfo, parameter: inspect.Parameter) -> str:
    return info.metavar if isinstance(info.metavar, str) else parameter.name.upper()
