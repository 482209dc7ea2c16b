"""The page of the command line, read from the parsers."""

import argparse
import re
from collections.abc import Iterator

from extender.configuration.settings import Settings
from tests.documents.reference.markdown import code, codes, page, sentence, table
from tests.documents.reference.meanings import meanings
from tests.interfaces.commands import parser_of, subcommands

_INTRO = """\
# Command line

The command `paddock` and its subcommands. `paddock COMMAND --help` prints the same.
`paddock --version` prints the version.

Exit codes are 0 for success, 1 for failure and 2 for wrong arguments, unless a command says otherwise
below."""

_SETTINGS = """\
`paddock serve` also takes every [setting](settings.md#flags) as a flag, with the values of that page."""

_DEFAULT = re.compile(r" \(default: (.*)\)$")


def commands_page() -> str:
    top = subcommands(parser_of([]))
    helped = {each.dest: each.help or "" for each in _choices(parser_of([]))}
    said = meanings("commands", top)
    return page(_INTRO, *(part for name in top for part in _command(name, helped[name], said[name])))


def _choices(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    (found,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return list(found._choices_actions)


def _command(name: str, helped: str, said: str) -> Iterator[str]:
    parser = subcommands(parser_of([name]))[name]
    rows = [
        (code(_shown(each)), code(_default(each)), _meaning(each))
        for each in parser._actions
        if each.dest != "help" and each.dest not in Settings.model_fields
    ]
    yield f"## paddock {name}"
    yield sentence(helped[:1].upper() + helped[1:]) + f" {said}"
    yield table(("argument", "default", "meaning"), rows)
    if name == "serve":
        yield _SETTINGS


def _shown(action: argparse.Action) -> str:
    """Flags or the name of a positional argument, with the metavar."""
    name = str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return f"{name} …" if action.nargs == "+" else name
    flag = ", ".join(action.option_strings)
    return flag if action.nargs == 0 else f"{flag} {name}"


def _default(action: argparse.Action) -> str:
    return "" if action.default in (None, False) else str(action.default)


def _meaning(action: argparse.Action) -> str:
    """Sentence about an argument. A default that has no column of its own stays in it."""
    text, default = action.help or "", _DEFAULT.search(action.help or "")
    if default is not None:
        text = text[: default.start()]
        if action.default is None:
            text = f"{text}. Default: {default[1]}"
    parts = [sentence(text[:1].upper() + text[1:])]
    if action.choices:
        parts.append(f"One of {codes(map(str, action.choices))}.")
    return " ".join(parts)
