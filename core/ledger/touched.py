"""Pods about which an event has changed something, until the ledger settles them.

A handler notes on a pod's record what it was told or what it promises, and touches the pod. `Ledger.apply`
brings counters and indexes in line when the handler has ended. A handler that has to read them before that
is an iterator of steps: the ledger settles what was touched after each of them.
"""

from collections.abc import Iterator

from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State

Rounds = Iterator[None]
"""Steps of a handler."""


def touch(state: State, record: PodRecord) -> None:
    """Have the ledger settle a pod. Pods are settled in the order in which they were touched first."""
    state.pods.touched.setdefault(record.uid, (record, False))


def touch_dropped(state: State, record: PodRecord) -> None:
    """Have the ledger take a pod that is gone out of counters and indexes."""
    state.pods.touched[record.uid] = record, True


def take_touched(state: State) -> tuple[PodRecord, bool]:
    """Take off the next pod to settle, of which there must be one. True with a pod that is gone."""
    touched = state.pods.touched
    uid = next(iter(touched))
    state.pods.settled.append(uid)
    return touched.pop(uid)


def forget_settled(state: State) -> None:
    """An event begins: none is settled yet."""
    if state.pods.settled:
        state.pods.settled = []
