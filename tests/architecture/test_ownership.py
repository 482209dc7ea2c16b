"""Each field of the ledger's state and of its pod records is written by its owner only (house, goal 1)."""

from dataclasses import replace

import pytest

from tests.architecture.ownership import ownership_faults
from tests.architecture.reading.sources import Source, sources
from tests.architecture.tables import Ownership, tables

STATE = """
from collections import deque
from dataclasses import dataclass, field
from core.ledger.record import PodRecord
from core.tally import Tally

@dataclass
class Part:
    turns: dict[str, int] = field(default_factory=dict)
    retry_at: float | None = None

@dataclass
class Twin:
    count: int = 0

@dataclass
class State:
    first: Twin = field(default_factory=Twin)
    second: Twin = field(default_factory=Twin)
    pods: dict[str, PodRecord] = field(default_factory=dict)
    line: list[int] = field(default_factory=list)
    freed: bool = False
    given: Tally = field(default_factory=Tally)
    by_queue: dict[str, Tally] = field(default_factory=dict)
    admission: Part = field(default_factory=Part)

    def record_of(self, uid: str) -> PodRecord | None:
        return self.pods.get(uid)
"""

RECORD = """
from dataclasses import dataclass
from typing import NamedTuple

class Slot(NamedTuple):
    node: str

@dataclass(slots=True)
class PodRecord:
    slot: Slot | None = None
    told: str = ""
"""

TALLY = """
class Tally:
    def __init__(self) -> None:
        self._amounts: dict[str, int] = {}
        self._read = 0

    def add(self, name: str) -> None:
        self._amounts[name] = 1

    def twice(self, name: str) -> None:
        self.add(name)

    def get(self, name: str) -> int:
        self._read += 1
        return self._amounts.get(name, 0)
"""

OWNER = """
from core.ledger.record import PodRecord
from core.ledger.state import State

def begin(state: State, record: PodRecord) -> None:
    state.pods.clear()
    state.line.clear()
    state.first.count = state.second.count = 0
    state.freed = True
    state.given.add("")
    state.by_queue.clear()
    state.admission.turns.clear()
    state.admission.retry_at = 0.0
    record.slot = None
"""

HOUSE = {
    "core.ledger.state": STATE,
    "core.ledger.record": RECORD,
    "core.tally": TALLY,
    "core.ledger.owner": OWNER,
}

RULES = Ownership(
    records={"state": "core.ledger.state.State", "pod": "core.ledger.record.PodRecord"},
    owned=("state", "pod"),
    caches=("core.tally.Tally._read",),
    constants=frozenset({"pod.told"}),
    owners={
        "state.pods": "core.ledger.owner",
        "state.line": "core.ledger.owner",
        "state.first": "core.ledger.owner",
        "state.second": "core.ledger.owner",
        "state.freed": "core.ledger.owner",
        "state.given": "core.ledger.owner",
        "state.by_queue": "core.ledger.owner",
        "state.admission": "core.ledger.owner",
        "pod.slot": "core.ledger.owner",
        "pod.told": "core.ledger.owner",
    },
    exceptions=frozenset(),
)

IMPORTS = """
import heapq
from heapq import heappush
from core.ledger.record import PodRecord, Slot
from core.ledger.state import Part, State
from core.tally import Tally
"""


def small_house(text: str = "", rules: Ownership = RULES) -> list[str]:
    """Faults found in a small code base with one more module."""
    return ownership_faults(
        [*(Source(*each) for each in HOUSE.items()), Source("core.ledger.other", IMPORTS + text)], rules
    )


def test_each_field_is_written_by_its_owner_only() -> None:
    assert ownership_faults(sources(packages=("core", "extender")), tables().ownership) == []


def test_a_write_planted_in_the_ledger_is_found() -> None:
    planted = Source(
        "core.ledger.planted",
        "from core.ledger.state.state import State\n"
        "def f(state: State) -> None:\n    state.pods.records.popitem()",
    )
    (found,) = ownership_faults([*sources(packages=("core", "extender")), planted], tables().ownership)
    assert found.startswith("core.ledger.planted:3 writes state.pods")


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("def f(state: State):\n    state.freed = True", "state.freed"),
        ("def f(at: State):\n    at.freed |= True", "state.freed"),
        ("def f(state: State):\n    state.freed: bool = True", "state.freed"),
        ("def f(state: State):\n    del state.freed", "state.freed"),
        ("def f(state: State):\n    a, (state.freed, b) = 1, (2, 3)", "state.freed"),
        ("def f(state: State):\n    for state.freed in (True, False): pass", "state.freed"),
        ("def f(state: State):\n    setattr(state, 'freed', True)", "state.freed"),
        ("def f(state):\n    state.freed = True", "state.freed"),
        ("def f(state: State):\n    state.pods['a'] = PodRecord()", "state.pods"),
        ("def f(state: State):\n    del state.pods['a']", "state.pods"),
        ("def f(state: State):\n    state.pods.pop('a', None)", "state.pods"),
        ("def f(state: State):\n    state.pods |= {}", "state.pods"),
        ("def f(state: State):\n    pods = state.pods\n    pods.clear()", "state.pods"),
        ("def f(state: State):\n    pods = state.pods\n    pods |= {}", "state.pods"),
        ("def f(state: State):\n    (pods := state.pods).clear()", "state.pods"),
        ("def f(state: State):\n    forget = state.pods.pop\n    forget('a')", "state.pods"),
        ("def f(state: State):\n    heappush(state.line, 1)", "state.line"),
        ("def f(state: State):\n    heapq.heappop(state.line)", "state.line"),
        (
            "def g(line: list[int]):\n    line.append(1)\ndef f(state: State):\n    g(state.line)",
            "state.line",
        ),
        (
            "def f(state: State):\n    g(line=state.line)\ndef g(line: list[int]):\n    line[0] = 1",
            "state.line",
        ),
        ("def f(state: State):\n    state.given.add('cpu')", "state.given"),
        ("def f(state: State):\n    state.given.twice('cpu')", "state.given"),
        ("def f(given: Tally, state: State):\n    state.given._amounts['cpu'] = 1", "state.given"),
        ("def f(state: State):\n    state.by_queue['a'].add('cpu')", "state.by_queue"),
        (
            "def f(state: State):\n    for each in list(state.by_queue.values()):\n        each.add('')",
            "state.by_queue",
        ),
        ("def f(state: State):\n    [each.add('') for each in state.by_queue.values()]", "state.by_queue"),
        (
            "def f(state: State):\n    for _, each in state.by_queue.items():\n        each.add('')",
            "state.by_queue",
        ),
        ("def f(state: State):\n    state.admission = Part()", "state.admission"),
        ("def f(state: State):\n    state.admission.turns['a'] = 1", "state.admission.turns"),
        ("def f(state: State):\n    state.admission.turns.pop('a')", "state.admission.turns"),
        ("def f(state: State):\n    state.admission.retry_at = None", "state.admission.retry_at"),
        ("def f(part: Part):\n    part.turns.clear()", "state.admission.turns"),
        (
            "def f(state: State):\n    turns = state.admission.turns\n    turns.clear()",
            "state.admission.turns",
        ),
        (
            "class A:\n    def __init__(self, state: State):\n        self._state = state\n"
            "    def f(self):\n        self._state.pods.clear()",
            "state.pods",
        ),
        ("def f(state: State):\n    state.second.count += 1", "state.second"),
        ("def f(record: PodRecord):\n    record.slot = None", "pod.slot"),
        ("def f(pod: 'PodRecord | None'):\n    pod.slot = None", "pod.slot"),
        ("def f(state: State):\n    state.pods['a'].slot = None", "pod.slot"),
        ("def f(state: State):\n    a = state.pods.get('a')\n    a.slot = None", "pod.slot"),
        ("def f(state: State):\n    for a in state.pods.values():\n        a.slot = None", "pod.slot"),
        (
            "def f(state: State):\n    if (a := state.record_of('a')) is not None:\n        a.slot = None",
            "pod.slot",
        ),
        ("def f(state: State):\n    def g():\n        state.freed = True\n    g()", "state.freed"),
    ],
)
def test_a_write_by_another_module_is_found(written: str, path: str) -> None:
    assert [each.partition(" writes ")[2] for each in small_house(written)] == [
        f"{path}, owned by core.ledger.owner"
    ]


@pytest.mark.parametrize(
    "read",
    [
        "def f(state: State):\n    return state.freed and state.pods.get('a') and len(state.line)",
        "def f(state: State):\n    pods = dict(state.pods)\n    pods.clear()",
        "def f(state: State):\n    line = sorted(state.line)\n    line.append(1)",
        "def f(state: State):\n    line = [each for each in state.line]\n    line.append(1)",
        "def f(state: State):\n    line = state.line.copy()\n    line.append(1)",
        "def f(state: State):\n    return state.given.get('cpu')",
        "def f(state: State):\n    freed = state.freed\n    freed = True",
        "def f(state: State):\n    g(state.line)\ndef g(line: list[int]):\n    return line[0]",
        "def f() -> State:\n    return State(freed=True)",
        "def f(given: Tally):\n    given.add('cpu')",
    ],
)
def test_reading_is_free(read: str) -> None:
    assert small_house(read) == []


def test_a_write_to_an_object_of_unknown_type_is_found() -> None:
    assert small_house("def f(which):\n    which().slot = None") == [
        "core.ledger.other:8 writes .slot of an object whose type is not annotated"
    ]


def test_an_exception_allows_one_module_one_field() -> None:
    rules = replace(RULES, exceptions=frozenset({("state.freed", "core.ledger.other")}))
    assert small_house("def f(state: State):\n    state.freed = True", rules) == []
    (found,) = small_house("def f(state: State):\n    state.freed = True\n    state.line = []", rules)
    assert "writes state.line" in found


def test_an_exception_that_is_not_needed_is_found() -> None:
    rules = replace(RULES, exceptions=frozenset({("state.freed", "core.ledger.other")}))
    assert small_house("", rules) == [
        "take out the exception state.freed core.ledger.other: it is not needed any more"
    ]


def test_a_field_that_nothing_is_seen_to_write_is_found() -> None:
    assert small_house("", replace(RULES, constants=frozenset({"state.freed"}))) == [
        "nothing is seen to write pod.told: list it as a constant, or annotate what writes it",
        "take out the constant state.freed: it is written, or is no field",
    ]


def test_a_class_that_has_moved_away_is_found() -> None:
    rules = replace(RULES, caches=("core.former.Tally._read",))
    assert small_house("", rules) == ["core.former.Tally is named in the table and is no class"]


def test_an_owner_table_that_is_out_of_date_is_found() -> None:
    owners = {**RULES.owners, "state.former": "core.ledger.gone"}
    del owners["pod.told"]
    assert small_house("", replace(RULES, owners=owners)) == [
        "pod.told has no owner",
        "take out the owner of state.former: no such field",
        "state.former is owned by core.ledger.gone, which is no module",
    ]
