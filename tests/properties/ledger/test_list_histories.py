"""Lists in pages, late watches, bodies, binds, deletions and restores of etcd, in any order (F-8)."""

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.properties.ledger.history_world import QUICK
from tests.properties.ledger.list_world import HONEST, NAMES, STEPS, ListWorld

History = list[tuple[str, int]]


def histories(steps: Sequence[str]) -> st.SearchStrategy[History]:
    step = st.tuples(st.sampled_from(sorted(steps)), st.integers(0, len(NAMES) - 1))
    return st.lists(step, min_size=5, max_size=60)


def play(history: History) -> ListWorld:
    world = ListWorld()
    for name, at in history:
        getattr(world, name)(at)
        world.check()
    return world


FORGED_FOR_A_RUNNING_POD = [("create", 0), ("hear", 0), ("ask", 0), ("bind", 0), ("hear", 0), ("forge", 0)]
RESTORED = [("save", 0), *FORGED_FOR_A_RUNNING_POD[:5], ("edit", 0), ("hear", 0), ("restore", 0)]
DELETED_AND_RESTORED = [
    *FORGED_FOR_A_RUNNING_POD[:5],
    ("save", 0),
    ("delete", 0),
    ("hear", 0),
    ("restore", 0),
]


@settings(QUICK, max_examples=400)
@example(history=FORGED_FOR_A_RUNNING_POD)
@example(history=RESTORED)
@example(history=DELETED_AND_RESTORED)
@given(history=histories(STEPS))
def test_what_is_charged_becomes_what_the_server_has(history: History) -> None:
    """The charges agree after the next list and the end of all promises, whatever was reported."""
    play(history).settle()


@settings(QUICK, max_examples=400)
@given(history=histories(HONEST))
def test_no_max_is_passed_between_pages_and_watches(history: History) -> None:
    """This excludes restores and forged bodies, which cannot be known beforehand."""
    play(history).settle()
