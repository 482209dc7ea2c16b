"""Phases change only by their tables, the tables are complete, and the pages in docs/ show them."""

import ast
from collections.abc import Callable, Mapping
from enum import Enum
from itertools import product
from typing import Any

import pytest

from core.errors import IllegalTransition
from core.workload import pod_group_phase as groups
from core.workload.gangs import phase as gangs
from core.workload.gangs.phase import GangEvent, GangPhase
from core.workload.gangs.progress import GangProgress
from tests.architecture.phase_diagrams import FOLDER, PAGES, Table, meanings_of, page
from tests.architecture.reading.sources import Source, sources

TABLES = [table for tables in PAGES.values() for table in tables]

MOVES = {"core.workload.gangs.progress": ["phase"], "core.workload.pod_group": ["phase", "attempt_phase"]}
"""Modules that assign a phase, and the fields: each in a method `move…` of its class."""


def assigned(read: list[Source]) -> Mapping[str, list[str]]:
    """Phases that each module assigns after the creation of an object."""
    found: dict[str, list[str]] = {}
    for each in read:
        for node in ast.walk(ast.parse(each.text)):
            if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part for target in targets for part in ast.walk(target)]
            fields = [name.attr for name in names if isinstance(name, ast.Attribute)]
            if phases := [field for field in fields if field == "phase" or field.endswith("_phase")]:
                found.setdefault(each.module, []).extend(phases)
    return found


def test_only_a_move_assigns_a_phase() -> None:
    assert assigned(sources(packages=("core",))) == MOVES


def test_an_assignment_planted_in_the_ledger_is_found() -> None:
    planted = Source("core.ledger.planted", "def f(x):\n    x.phase, x.why = 1, ''")
    assert assigned([planted]) == {"core.ledger.planted": ["phase"]}


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_current(name: str) -> None:
    assert (FOLDER / name).read_text() == page(PAGES[name]), "run python -m tests.architecture.phase_diagrams"


def test_a_changed_table_changes_its_page() -> None:
    (table,) = PAGES["gang-phases.md"]
    changed = table._replace(
        following={**table.following, (GangPhase.STARTED, GangEvent.DISBANDED): GangPhase.ORDINARY}
    )
    assert page((changed,)) != page((table,))


@pytest.mark.parametrize("table", TABLES, ids=[each.title for each in TABLES])
def test_every_phase_is_reached_every_event_leads_somewhere_and_each_phase_is_explained(table: Table) -> None:
    reached: set[Enum] = {table.initial}
    while more := {to for (at, _), to in table.following.items() if at in reached} - reached:
        reached |= more
    assert reached == set(type(table.initial))
    events: type[Any] = type(next(event for _, event in table.following))
    assert {event for _, event in table.following} == set(events)
    assert meanings_of(type(table.initial)).keys() == type(table.initial).__members__.keys()


@pytest.mark.parametrize(
    "event", [each for each in GangEvent if each is not GangEvent.WRITTEN], ids=lambda each: each.name
)
def test_a_gang_that_times_out_softly_goes_on_only_when_that_is_written(event: GangEvent) -> None:
    gang = GangProgress({}, 900.0)
    gang.move(GangEvent.TIMED_OUT_SOFT)
    with pytest.raises(IllegalTransition, match="gang in phase 'resuming' cannot have the event"):
        gang.move(event)
    gang.move(GangEvent.WRITTEN)
    gang.move(GangEvent.RELEASED)
    assert gang.phase is GangPhase.ORDINARY


@pytest.mark.parametrize(
    ("advance", "following", "phases", "events"),
    [
        (gangs.advance, gangs.NEXT, GangPhase, GangEvent),
        (groups.advance, groups.NEXT, groups.GroupPhase, groups.GroupEvent),
        (groups.advance_attempt, groups.NEXT_OF_ATTEMPT, groups.AttemptPhase, groups.AttemptEvent),
    ],
    ids=["gang", "pod group", "attempt"],
)
def test_an_event_that_a_table_does_not_list_raises(
    advance: Callable[[Any, Any], Enum],
    following: Mapping[Any, Enum],
    phases: type[Enum],
    events: type[Enum],
) -> None:
    listed = 0
    for phase, event in product(phases, events):
        if (phase, event) in following:
            assert advance(phase, event) is following[phase, event]
            listed += 1
        else:
            with pytest.raises(IllegalTransition):
                advance(phase, event)
    assert listed == len(following)
