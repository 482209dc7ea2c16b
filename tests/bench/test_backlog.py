"""Arithmetic of the backlog's benchmark, and the oracle that it compares with."""

import pytest

from core.ledger.effects import OpenGate, WakePod
from e2e.bench.rates.backlog import share_in_use, taken_after
from e2e.bench.rates.watching import Seen
from e2e.bench.worlds.oracle import Gate, SeenPod, Slots, Spec
from extender.kube.connection.api import ObjectMeta


def pod(name: str, *, gated: bool = False) -> SeenPod:
    spec = Spec(gates=(Gate("paddock.dev/queue"),) if gated else ())
    return SeenPod(ObjectMeta(name=name, namespace="ns", uid=f"uid-{name}"), spec)


def slots(*, first_come: bool = False) -> tuple[Slots, list[OpenGate | WakePod]]:
    """Slots of leaves that have one each, and the requested effects."""
    performed: list[OpenGate | WakePod] = []
    return Slots(1, performed.append, first_come=first_come), performed


def test_a_freed_slot_is_taken_by_the_next_binding_in_its_leaf_first_to_first() -> None:
    bound = {"b-0-0": 1.0, "b-1-1": 1.0, "b-0-2": 10.5, "b-1-3": 11.75, "b-0-4": 12.0}
    seen = Seen(dict(bound), bound, {"b-0-0": 10.0, "b-1-1": 11.0, "b-0-2": 11.5})
    assert sorted(taken_after(seen)) == [0.5, 0.5, 0.75]


def test_slots_count_as_used_from_a_binding_to_the_deletion() -> None:
    bound = {"b-0-0": 0.0, "b-1-1": 0.0, "b-0-2": 12.0}
    seen = Seen(dict(bound), bound, {"b-0-0": 10.0, "b-1-1": 20.0})
    # Of two slots over ten seconds one is used throughout, the other for eight seconds.
    assert share_in_use(seen, 2) == pytest.approx(0.9)


def test_the_oracle_opens_the_oldest_gate_of_the_leaf_whose_slot_is_free() -> None:
    held, performed = slots()
    for name in ("b-0-0", "b-1-1", "b-0-2", "b-0-3"):
        held.on_changed(pod(name, gated=True))
    assert [each.name for each in performed] == ["b-0-0", "b-1-1"]
    held.on_deleted("uid-b-0-0")
    assert [each.name for each in performed[2:]] == ["b-0-2"]
    assert all(isinstance(each, OpenGate) for each in performed)


def test_the_oracle_wakes_and_admits_that_pod_alone() -> None:
    held, performed = slots()
    for name in ("b-0-0", "b-0-1", "b-0-2"):
        held.on_changed(pod(name))
    assert [held.admits(f"uid-b-0-{at}", f"b-0-{at}") for at in (2, 0, 1)] == [False, True, False]
    assert performed == []
    held.on_deleted("uid-b-0-0")
    (woken,) = performed
    assert isinstance(woken, WakePod)
    assert woken.name == "b-0-1"
    assert [held.admits(f"uid-b-0-{at}", f"b-0-{at}") for at in (2, 1)] == [False, True]


def test_the_other_oracle_admits_whichever_pod_comes_first_and_no_second_one() -> None:
    held, _ = slots(first_come=True)
    for name in ("b-0-0", "b-0-1", "b-0-2"):
        held.on_changed(pod(name))
    assert [held.admits(f"uid-b-0-{at}", f"b-0-{at}") for at in (2, 0, 2, 1)] == [True, False, True, False]
    held.on_deleted("uid-b-0-2")
    assert held.admits("uid-b-0-1", "b-0-1")
    assert not held.admits("uid-b-0-0", "b-0-0")
