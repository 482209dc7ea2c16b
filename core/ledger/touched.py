"""Pods that an event has touched, until the ledger settles them.

A handler notes on a pod's record what was reported or promised, and touches the pod. `Ledger.apply` updates
counters and indexes after the handler. A handler that reads them earlier is an iterator of steps: the ledger
settles touched pods after each step.
"""

from collections.abc import Iterator

from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State

Rounds = Iterator[None]
"""Steps of a handler."""


def touch(state: State, record: PodRecord) -> None:
    """Have the ledger settle a pod. Pods are settled in the order in which they were first touched."""
    state.pods.touched.setdefault(record.uid, (record, False))


def touch_dropped(state: State, record: PodRecord) -> None:
    """Have the ledger take a deleted pod out of counters and indexes."""
    state.pods.touched[record.uid] = record, True


def take_touched(state: State) -> tuple[PodRecord, bool]:
    """Remove and return the next pod to settle, of which there must be one. True with a deleted pod."""
    touched = state.pods.touched
    # A loop that ends at once, since mypyc leaves `next` and `pop` to the interpreter.
    for uid, found in touched.items():
        del touched[uid]
        state.pods.settled.append(uid)
        return found
    raise AssertionError("no pod was touched")


def forget_settled(state: State) -> None:
    """An event begins: none is settled yet."""
    if state.pods.settled:
        state.pods.settled = []
