"""Completion of the word at the cursor: commands, options, and names that the server knows.

A candidate becomes part of a command line, and names come from others. So only harmless names are candidates.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.main import get_command

from extender.plugin.asked import Asked
from extender.plugin.options import asked_from
from extender.plugin.outcome import OK, NotServed, Problem
from extender.plugin.paths import PARTITION
from extender.plugin.reaching import Server, kubectl

WITHIN = 1.0
"""Seconds within which the server must answer. Otherwise there are no names."""

AT_MOST = 500
"""Candidates of one completion."""

_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,252}")
"""Names that no shell expands, splits or takes for an option."""

_FILES_TOO, _NAMES_ONLY = 0, 4
"""Directives of kubectl: whether files are offered where there is no candidate."""

Complete = Callable[[typer.Context, str], list[str]]


def names_of(*kinds: str) -> Complete:
    """Completion by names of the first kind, and by names of the others after ``kind/``."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        asked = asked_from({key[6:]: each for key, each in ctx.params.items() if key.startswith("given_")})
        with Server(asked, within=WITHIN, forwards=False) as server:
            found = list(_prefixed(server, asked, kinds, incomplete))
        return sorted({each for each in found if each.startswith(incomplete)})[:AT_MOST]

    return complete


def _prefixed(server: Server, asked: Asked, kinds: Sequence[str], incomplete: str) -> Iterator[str]:
    for number, kind in enumerate(kinds):
        before = f"{kind}/"
        if not number and "/" not in incomplete:
            yield from _known(server, asked, kind)
        if len(kinds) > 1 and incomplete and (before.startswith(incomplete) or incomplete.startswith(before)):
            yield from (f"{before}{each}" for each in _known(server, asked, kind))


def _known(server: Server, asked: Asked, kind: str) -> Iterator[str]:
    """Harmless names of a kind. None if the server does not answer, since a completion shows no errors."""
    try:
        found = list(_NAMES[kind](server, asked))
    except (Problem, NotServed, KeyError, TypeError, AttributeError):
        return
    yield from (str(each) for each in found if _HARMLESS.fullmatch(str(each)))


def _queues(server: Server, _asked: Asked) -> Iterator[str]:
    waiting = [server.get(f"{PARTITION}/queues")]
    while waiting:
        queue = waiting.pop()
        yield queue["queuename"]
        waiting += queue.get("children") or ()


def _apps(server: Server, asked: Asked) -> Iterator[str]:
    for each in server.get(f"{PARTITION}/applications/active") or ():
        if not asked.namespace or each.get("namespace") == asked.namespace:
            yield each["applicationID"]


def _pods(server: Server, asked: Asked) -> Iterable[str]:
    """Pods of the namespace. The API server shows them also to users who may not read applications."""
    where = ["-n", asked.namespace] if asked.namespace else []
    if not asked.server:
        lines = kubectl(asked, "get", "pods", *where, "-o", "name", within=WITHIN).decode().split()
        return [each.removeprefix("pod/") for each in lines]
    entries: list[Mapping[str, Any]] = []
    for app in server.get(f"{PARTITION}/applications/active") or ():
        entries += [*(app.get("requests") or ()), *(app.get("allocations") or ())]
    tags = [each.get("allocationTags") or {} for each in entries]
    wanted = asked.namespace or "default"
    return [
        each["kubernetes.io/meta/podName"]
        for each in tags
        if each.get("kubernetes.io/meta/namespace") == wanted
    ]


def _listed(path: str, key: str) -> Callable[[Server, Asked], Iterable[str]]:
    return lambda server, _asked: [each[key] for each in server.get(f"{PARTITION}/{path}") or ()]


_NAMES: dict[str, Callable[[Server, Asked], Iterable[str]]] = {
    "queue": _queues,
    "app": _apps,
    "pod": _pods,
    "node": _listed("nodes", "nodeID"),
    "user": _listed("usage/users", "userName"),
    "group": _listed("usage/groups", "groupName"),
}


def one_of(*parts: str) -> Complete:
    """Completion by fixed words."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:  # noqa: ARG001 - typer wants both
        return [each for each in parts if each.startswith(incomplete)]

    return complete


# -- shells --------------------------------------------------------------------------------------------------


def complete(given: Sequence[str]) -> int:
    """Print candidates, one on each line. ``given``: the shell, then what it knows of the command line.

    bash: the line up to the cursor, and the characters that split words. zsh and kubectl: the words.
    """
    shell, *parts = given or ("",)
    breaks = ""
    if shell == "bash":
        line, breaks = parts[0], parts[1]
        parts = _split(line)[1:]
    found = _candidates(parts or [""])
    cut = _cut(parts[-1] if parts else "", breaks)
    for each in found:
        print(each[cut:])
    if shell == "kubectl":
        print(f":{_NAMES_ONLY if found else _FILES_TOO}")
    return OK


def for_kubectl() -> int:
    """Print candidates for kubectl, which runs ``kubectl_complete-paddock`` with the words."""
    return complete(("kubectl", *sys.argv[1:]))


def _candidates(parts: Sequence[str]) -> list[str]:
    """Whole words that may stand in the place of the last one."""
    from typer._completion_classes import ZshComplete

    from extender.plugin.main import app

    *before, incomplete = parts
    completion = ZshComplete(get_command(app(before)), {}, "kubectl-paddock", "")
    with open(os.devnull, "w") as nowhere:
        # Errors of the words before the cursor must not appear on the command line.
        stderr, sys.stderr = sys.stderr, nowhere
        try:
            found = [each.value for each in completion.get_completions([*before], incomplete)]
        except typer.TyperException:
            found = []
        finally:
            sys.stderr = stderr
    # An option keeps its name where its value is completed, as in --queue=root.
    option, equals, _ = incomplete.partition("=")
    name = option + equals if equals and option.startswith("-") else ""
    return [name + each for each in found]


def _split(line: str) -> list[str]:
    from typer._click.shell_completion import split_arg_string

    parts = split_arg_string(line)
    return [*parts, ""] if line[-1:].isspace() or not parts else parts


def _cut(word: str, breaks: str) -> int:
    """Number of characters before the last part of a word, which alone the shell replaces."""
    return max((word.rfind(each) + 1 for each in breaks if each in ":=@"), default=0)
