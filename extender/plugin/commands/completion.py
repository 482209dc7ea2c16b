"""Completion of the command line in shells."""

from typing import Annotated

import typer

from extender.plugin.completing import one_of
from extender.plugin.outcome import FAILED

SHELLS = ("bash", "zsh", "fish", "powershell", "kubectl")

COMPLETE = "_KUBECTL_PADDOCK_COMPLETE"
"""Variable by which the scripts of fish and PowerShell ask for completions."""

_BASH = """\
_kubectl_paddock() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(kubectl-paddock __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
}
complete -o default -F _kubectl_paddock kubectl-paddock
"""

_ZSH = """\
#compdef kubectl-paddock
_kubectl_paddock() {
    local -a found
    found=("${(@f)$(kubectl-paddock __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$found" ]]; then
        compadd -- "${found[@]}"
    else
        _files
    fi
}
if [[ "$funcstack[1]" == "_kubectl_paddock" ]]; then
    _kubectl_paddock "$@"
else
    compdef _kubectl_paddock kubectl-paddock
fi
"""

_KUBECTL = """\
#!/bin/sh
# kubectl runs this for words after `kubectl paddock`. It must be executable and be on the PATH by the name
# kubectl_complete-paddock.
exec kubectl-paddock __complete kubectl "$@"
"""

_OWN = {"bash": _BASH, "zsh": _ZSH, "kubectl": _KUBECTL}


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL",
            help="bash, zsh, fish or powershell; kubectl for the program that completes `kubectl paddock`.",
            autocompletion=one_of(*SHELLS),
        ),
    ],
) -> None:
    """Print the script that completes this command in a shell."""
    if shell not in SHELLS:
        typer.echo(f"kubectl paddock: there is no completion for {shell!a}", err=True)
        raise typer.Exit(FAILED)
    if shell in _OWN:
        typer.echo(_OWN[shell], nl=False)
        return
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    typer.echo(get_completion_script(prog_name="kubectl-paddock", complete_var=COMPLETE, shell=shell))
