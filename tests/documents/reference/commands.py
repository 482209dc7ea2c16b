"""The page of the command line, read from the parsers."""

import argparse
from collections.abc import Iterator

from extender.configuration.settings import Settings
from tests.documents.reference.markdown import code, codes, page, sentence, table
from tests.documents.reference.meanings import meanings
from tests.interfaces.commands import parser_of, subcommands

_INTRO = """\
# Command line

The command `paddock` and its subcommands. `paddock COMMAND --help` prints the same.

Exit codes are 0 for success, 1 for failure and 2 for wrong arguments, unless a command says otherwise
below."""

_SETTINGS = """\
`paddock serve` also takes every [setting](settings.md#flags) as a flag. Each takes one text."""


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
    """Flags, or the name of a place, with what follows."""
    name = str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return f"{name} …" if action.nargs == "+" else name
    flag = ", ".join(action.option_strings)
    return flag if action.nargs == 0 else f"{flag} {name}"


def _default(action: argparse.Action) -> str:
    return "" if action.default in (None, False) else str(action.default)


def _meaning(action: argparse.Action) -> str:
    told = [sentence(action.help[:1].upper() + action.help[1:])] if action.help else []
    if action.choices:
        told.append(f"One of {codes(map(str, action.choices))}.")
    if not told and action.dest.endswith("_port"):
        told.append("Port of that listener.")
    return " ".join(told)
