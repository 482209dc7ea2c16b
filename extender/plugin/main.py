"""Entry point of `kubectl-paddock`: the table of commands.

A module of commands is imported when one of its commands runs, so that the command starts soon.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]
from typer.main import get_command

from extender.plugin.commands.completion import COMPLETE
from extender.plugin.options import with_options
from extender.plugin.outcome import FAILED, INTERRUPTED, OK
from extender.plugin.plain import plain
from extender.plugin.table import COMMANDS

COMPLETING = "__complete"
"""First argument of the scripts that complete command lines."""

_ABOUT = """Ask Paddock about queues, applications and pods.

Only apply, close-queue, open-queue, end, lift and move change something.

Exit status: 0 done; 1 wrong use, or not found; 2 the server cannot be reached or is not ready;
3 the answer is no (explain: it waits; check: refused); 4 waiting does not help; 124 wait ran out of time.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == [COMPLETING]:
        from extender.plugin.completing import complete

        return complete(given[1:])
    name = "kubectl paddock" if Path(sys.argv[0]).name.startswith("kubectl") else "paddock"
    try:
        if COMPLETE in os.environ:
            completion_init()
        command = get_command(app(given))
        code = command.main(given, prog_name=name, complete_var=COMPLETE, standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        print(f"{name}: {plain(error.format_message())} See {name} --help.", file=sys.stderr)
        # Wrong use is 1 here, since 2 says that the server does not answer.
        return FAILED
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the output, as `head` does. Python would report that again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    return code if isinstance(code, int) else OK


def app(given: Sequence[str]) -> typer.Typer:
    """The application of typer. Only the module of the command that is named is imported, if one is."""
    made = typer.Typer(
        help=_ABOUT,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    wanted = next((each for each in given if each in COMMANDS), None)
    for name in COMMANDS if wanted is None else [wanted]:
        made.command(name)(command_of(name))
    if wanted is not None:
        # With one command only, typer would leave out its name.
        made.callback()(_no_options)
    return made


def command_of(name: str) -> Callable[..., None]:
    """The function of a command, with the options of all."""
    module, function = COMMANDS[name]
    found = getattr(import_module(f"extender.plugin.commands.{module}"), function)
    return found if module == "completion" else with_options(found)


def _no_options() -> None:
    """Take no options before the name of a command."""


if __name__ == "__main__":
    sys.exit(main())
