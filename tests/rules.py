"""Rules of the specification that this run has shown. A mark counts when its test has passed."""

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
    "PRE": 22,
    "LAW": 7,
    "RNP": 5,
    "QCP": 9,
    "GANG": 25,
}
"""The completely built chapters of the specification, each with its last rule."""

SINGLE_RULES = (
    *("RES-1", "RES-2", "RES-9", "RES-10", "QUO-13"),
    *(f"POD-{number}" for number in range(8, 15)),
    *("APP-3", "APP-4", "APP-6", "APP-9", "APP-11", "APP-15"),
    *(f"COS-{number}" for number in (*range(1, 7), 10, 14, 24)),
    *("SORT-0", "CYC-1", "CYC-2", "CYC-4", "CYC-5", "CYC-6", "CYC-7"),
    *(f"ACT-{number}" for number in (*range(1, 8), *range(10, 15), *range(20, 25), *range(30, 37))),
    *(f"ACT-{number}" for number in (*range(40, 47), *range(50, 56))),
    *(f"DIV-{number}" for number in (*range(4, 19), *range(21, 24))),
)

CARRIED_OUT_BY = {
    "DIV-1": "PRI-4",
    "DIV-2": "PRI-10",
    "DIV-3": "PRI-11",
    "DIV-19": "SORT-3",
    "DIV-20": "REQ-2",
}
"""Decisions that only interpret another rule, which must be shown instead."""

VERDICTS = ("accepted", "rejected")


def required() -> list[str]:
    """Every rule that must have a test that passes, in the order of the specification."""
    whole = [f"{chapter}-{number}" for chapter, last in LAST_NUMBERS.items() for number in range(1, last + 1)]
    return [*whole, *SINGLE_RULES, *CARRIED_OUT_BY]


@dataclass(slots=True)
class Shown:
    """``passed``: tests per rule; ``verdicts``: tests per rule and verdict on a document."""

    passed: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    crowded: list[str] = field(default_factory=list)

    def times(self, rule: str) -> int:
        """Passed tests for a rule, or for the rule that implements it."""
        return self.passed[CARRIED_OUT_BY.get(rule, rule)]

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
