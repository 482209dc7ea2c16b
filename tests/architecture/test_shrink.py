"""Only unneeded rows are removed from the tables."""

from tests.architecture.shrink import shrunk

TEXT = """exceptions = [
  "state.freed core.ledger.a",
  "state.freed core.ledger.ab",
]
"core.a" = 15
"core.ledger.a" = ["core.a"]
"""


def test_rows_that_are_not_needed_are_taken_out() -> None:
    faults = [
        "take out the exception state.freed core.ledger.a: it is not needed any more",
        "take out the width of core.a: it has 14 modules",
        "core.ledger.x:1 writes state.freed, owned by core.ledger.a",
    ]
    assert shrunk(TEXT, faults) == TEXT.replace('  "state.freed core.ledger.a",\n', "").replace(
        '"core.a" = 15\n', ""
    )


def test_nothing_is_added_or_taken_out_without_a_fault() -> None:
    assert shrunk(TEXT, []) == TEXT
    assert shrunk(TEXT, ["take out the row core.ledger.a: no such module"]) == TEXT
