"""Transition tables as pages of docs/: ``python -m tests.architecture.phase_diagrams`` writes them."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from core.workload import pod_group_phase as groups
from core.workload.gangs import phase as gangs
from tests.architecture.reading.sources import ROOT

FOLDER = ROOT / "docs" / "architecture"

NOTICE = "<!-- Written by `python -m tests.architecture.phase_diagrams`; do not edit. -->"


class Table(NamedTuple):
    """A transition table. ``intro``: the sentences above it."""

    title: str
    intro: str
    initial: Enum
    following: Mapping[tuple[Any, Any], Enum]


PAGES: Mapping[str, tuple[Table, ...]] = {
    "gang-phases.md": (
        Table(
            "Phases of a gang",
            "A gang has one phase, kept in `GangProgress.phase`. The table is `NEXT` in"
            " `core/workload/gangs/phase.py`. An event that the table does not list for a phase raises"
            " `IllegalTransition`.",
            gangs.INITIAL,
            gangs.NEXT,
        ),
    ),
    "pod-group-phases.md": (
        Table(
            "Phases of a pod group",
            "A pod group has one phase, kept in `Group.phase`. The table is `NEXT` in"
            " `core/workload/pod_group_phase.py`. An event that the table does not list for a phase raises"
            " `IllegalTransition`.",
            groups.FIRST_PHASE,
            groups.NEXT,
        ),
        Table(
            "Phases of an attempt",
            "Members of a pod group start together in an attempt. Its phase is kept in"
            " `Group.attempt_phase`, and its table is `NEXT_OF_ATTEMPT` in the same module.",
            groups.FIRST_ATTEMPT,
            groups.NEXT_OF_ATTEMPT,
        ),
    ),
}


def page(tables: tuple[Table, ...]) -> str:
    """Markdown of one page: each table, and the meaning of each phase."""
    return "\n".join([NOTICE, *(line for table in tables for line in _section(table))])


def _section(table: Table) -> Iterator[str]:
    yield from ("", f"# {table.title}", "", *textwrap.wrap(table.intro, 110, break_on_hyphens=False), "")
    yield from (f"It begins as **{table.initial.value}**.", "")
    yield from ("| phase | event | next phase |", "| --- | --- | --- |")
    last = None
    for (phase, event), following in table.following.items():
        yield f"| {'' if phase is last else phase.value} | {event.value} | {following.value} |"
        last = phase
    yield from ("", "| phase | meaning |", "| --- | --- |")
    meanings = meanings_of(type(table.initial))
    for phase in type(table.initial):
        yield f"| {phase.value} | {meanings[phase.name]} |"
    yield ""


def meanings_of(phases: type[Enum]) -> dict[str, str]:
    """The text below each member of an enumeration, by its name."""
    (definition,) = ast.parse(inspect.getsource(phases)).body
    assert isinstance(definition, ast.ClassDef)
    return {
        member.targets[0].id: " ".join(str(text.value.value).split())
        for member, text in pairwise(definition.body)
        if isinstance(member, ast.Assign)
        and isinstance(member.targets[0], ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def write(folder: Path = FOLDER) -> None:
    """Write every page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, tables in PAGES.items():
        (folder / name).write_text(page(tables))


if __name__ == "__main__":
    write()
