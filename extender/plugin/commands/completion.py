"""Completion of the command line in shells."""

from typing import Annotated

import typer

from extender.plugin.outcome import FAILED

SHELLS = ("bash", "zsh", "fish", "powershell")

COMPLETE = "_KUBECTL_PADDOCK_COMPLETE"
"""Variable by which the scripts ask for completions."""


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
) -> None:
    """Print the script that completes this command in a shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    if shell not in SHELLS:
        typer.echo(f"kubectl paddock: there is no completion for {shell!a}", err=True)
        raise typer.Exit(FAILED)
    typer.echo(get_completion_script(prog_name="kubectl-paddock", complete_var=COMPLETE, shell=shell))
