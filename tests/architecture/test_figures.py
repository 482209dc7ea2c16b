"""The figures of a small code base, counted by hand."""

from tests.architecture.figures import figures
from tests.architecture.reading.sources import Source
from tests.architecture.tables import Folders, Ownership, Tables

HOUSE = {
    "core.ledger.state": "class State:\n    def __init__(self) -> None:\n        self.freed = False",
    "core.ledger.settle": (
        "from core.ledger.state import State\ndef settle(state: State) -> None:\n    state.freed = True"
    ),
    "core.ledger.low.turns": (
        "from core.ledger.settle import settle\nfrom core.ledger.state import State\n"
        "def end(state: State) -> None:\n    settle(state)\n    settle(state)\n"
        "def later(at: float) -> float:\n    return at"
    ),
}

TABLES = Tables(
    Ownership({"state": "core.ledger.state.State"}, ("state",), (), frozenset(), {}, frozenset()),
    Folders(
        {
            "core.ledger.state": (),
            "core.ledger.low": ("core.ledger.state",),
            "core.ledger.settle": ("core.ledger.state", "core.ledger.low"),
        },
        frozenset(),
    ),
    {},
    (),
    (),
    (),
    frozenset(),
)


def test_figures_of_a_small_house() -> None:
    assert list(figures([Source(*each) for each in HOUSE.items()], TABLES, {})) == [
        "folders: 2, wider than 14: 0",
        "modules by folder:",
        "  core.ledger: 2",
        "  core.ledger.low: 1",
        "modules in core.ledger: 3, on 3 floors",
        "upward imports in core.ledger: 1, between 1 pairs of rows",
        "fields of core.ledger.state.State: 1; fields by number of writer modules: 1 by 1",
        "  most writers: state.freed 1",
        "calls of settle: 2 in 1 modules",
        "free functions in core.ledger: 3, with the whole state as an argument: 2",
        "lines by package:",
        "  core: 13",
        "  core.ledger: 13",
    ]


def test_modules_are_measured_where_they_have_moved_to() -> None:
    moved = {"core.ledger.low.turns": "core.ledger.settle.turns"}
    lines = list(figures([Source(*each) for each in HOUSE.items()], TABLES, moved))
    assert "upward imports in core.ledger: 0, between 0 pairs of rows" in lines
