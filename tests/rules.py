"""Which rules of the specification this run has shown: marks are counted when their test has passed."""

from collections import Counter
from dataclasses import dataclass, field

import pytest

MOST_RULES_OF_A_TEST = 3

LAST_NUMBERS = {
    "SRC": 11,
    "CFG": 46,
    "APPLY": 5,
    "Q": 12,
    "TPL": 5,
    "PL": 14,
    "ID": 7,
    "UGM": 12,
    "ACL": 6,
    "NS": 9,
    "PRI": 13,
    "SORT": 8,
    "REQ": 3,
    "NODE": 4,
}
"""The chapters of the specification that are built whole, each with its last rule."""

SINGLE_RULES = (
    *("RES-1", "RES-2", "RES-9", "RES-10", "QUO-13"),
    *(f"POD-{number}" for number in range(8, 15)),
    *("GANG-6", "GANG-7"),
    *("SORT-0", "CYC-1", "CYC-2", "CYC-4", "CYC-5", "CYC-6", "CYC-7", "DIV-4"),
)

VERDICTS = ("accepted", "rejected")


def required() -> list[str]:
    """Every rule that must have a test that passes, in the order of the specification."""
    whole = [f"{chapter}-{number}" for chapter, last in LAST_NUMBERS.items() for number in range(1, last + 1)]
    return [*whole, *SINGLE_RULES]


@dataclass(slots=True)
class Shown:
    """``passed``: tests per rule; ``verdicts``: tests per rule and verdict on a document."""

    passed: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    crowded: list[str] = field(default_factory=list)

    def note(self, item: pytest.Item) -> None:
        rules = set()
        for mark in item.iter_markers("rule"):
            rules.update(mark.args)
            verdict = mark.kwargs.get("verdict")
            if verdict is not None:
                self.verdicts.update((rule, verdict) for rule in mark.args)
        self.passed.update(rules)
        if len(rules) > MOST_RULES_OF_A_TEST:
            self.crowded.append(item.nodeid)


SHOWN = pytest.StashKey[Shown]()
