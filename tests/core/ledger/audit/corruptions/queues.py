"""Corruptions of queues. No tests."""

from collections.abc import Callable

from core.ids import AppId
from core.ledger.state.state import State
from core.resource import Limit
from tests.core.ledger.audit.corruptions.busy import COUNTERS, ONE, Corruption


def _queue(name: str, held: str) -> Callable[[State], object]:
    def corrupt(state: State) -> None:
        queue = state.config.tree.get(name)
        assert queue is not None
        getattr(queue, held).add(ONE)

    return corrupt


def _applications_of_queue(state: State) -> None:
    queue = state.config.tree.get("root.a")
    assert queue is not None
    queue.applications.add(AppId("ghost", "default"))


def _root_max(state: State) -> None:
    state.config.tree.root.max = Limit({"vcore": 1})


def _lost_residents(state: State) -> None:
    queue = state.config.tree.get("root.a")
    assert queue is not None
    queue.applications.clear()


QUEUES: list[Corruption] = [
    *[
        ("config.tree", f"{held} of {path}", _queue(path, held))
        for path in ("root", "root.p", "root.a")
        for held in COUNTERS
    ],
    ("config.tree", "applications of root.a", _lost_residents),
    (
        "config.tree",
        "completing of root.a/default/app-1",
        lambda state: state.config.tree.get("root.a").completing.add(AppId("app-1", "default")),  # type: ignore[union-attr]
    ),
    ("config.tree", "applications of root.a", _applications_of_queue),
    ("config.tree", "asked of root.a", lambda state: state.config.tree.get("root.a").asked.update({7: 1})),  # type: ignore[union-attr]
    ("config.tree", "priority of root", lambda state: setattr(state.config.tree.root, "priority", 7)),
    ("config.tree", "shown of root", lambda state: state.config.tree.root.shown.update({7: 1})),
    ("config.tree", "priority of root", lambda state: setattr(state.config.tree.root, "raw_priority", 7)),
    ("config.tree", "fresh of root.a", lambda state: state.config.tree.get("root.a").fresh.add(ONE)),  # type: ignore[union-attr]
    ("config.tree", "running", lambda state: state.config.tree.root.running.clear()),
    ("config.tree", "max of root", _root_max),
]
