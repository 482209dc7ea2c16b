"""Answers encoded in pieces."""

import json

import pytest

from extender.rest.members import encoded
from extender.rest.model.answer import Answer
from extender.rest.model.applications import Allocation, App, ResourceHistory
from extender.rest.model.nodes import Node
from extender.rest.model.queues import Queue
from extender.rest.pieces import ROWS, pieces, weight_of
from tests.extender.rest.specified import MEMBERS
from tests.extender.rest.test_members import STRUCTS, made


def allocations(count: int) -> tuple[Allocation, ...]:
    return tuple(
        Allocation(
            allocation_key=f"uid-{at}", allocation_tags={"a": "b"}, resource={"vcore": at}, priority="0"
        )
        for at in range(count)
    )


def app(count: int) -> App:
    return App(
        application_id="a",
        partition="default",
        queue_name="root.a",
        allocations=allocations(count),
        resource_history=ResourceHistory(),
        application_state="Running",
    )


def queue(depth: int, width: int) -> Queue:
    children = tuple(queue(depth - 1, width) for _ in range(width)) if depth else ()
    return Queue(
        queuename=f"q{depth}",
        partition="",
        is_leaf=not depth,
        is_managed=True,
        current_priority=0,
        priority_sorting=True,
        preemption_enabled=True,
        is_preemption_fence=False,
        is_priority_fence=False,
        preemption_delay="30s",
        quota_preemption_delay="0s",
        children=children,
    )


def node(name: str, count: int) -> Node:
    return Node(
        node_id=name,
        attributes={"x": ""},
        schedulable=True,
        is_reserved=False,
        allocations=allocations(count),
    )


LARGE: dict[str, Answer | tuple[Answer, ...]] = {
    "nodes": tuple(node(f"n{at}", at % 40) for at in range(200)),
    "an application of many pods": app(2500),
    "many small applications": tuple(app(0) for _ in range(500)),
    "a deep tree": queue(6, 3),
    "nothing": (),
}


@pytest.mark.rule("REST-45")
@pytest.mark.parametrize("name", sorted(LARGE))
def test_together_the_pieces_are_the_answer(name: str) -> None:
    found = list(pieces(LARGE[name]))
    assert b"".join(found) == encoded(LARGE[name])
    assert json.loads(found[0] + b"".join(found[1:])) is not None


@pytest.mark.rule("REST-24", "REST-45")
@pytest.mark.parametrize("name", sorted(MEMBERS))
@pytest.mark.parametrize("full", [False, True])
def test_every_kind_of_answer_is_the_same_in_pieces(
    name: str, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extender.rest.pieces.ROWS", 1)
    answer = made(STRUCTS[name], full=full)
    assert b"".join(pieces(answer)) == encoded(answer)
    assert b"".join(pieces((answer, answer))) == encoded((answer, answer))


@pytest.mark.rule("REST-45")
@pytest.mark.parametrize("name", sorted(LARGE))
def test_no_piece_is_large(name: str) -> None:
    """A piece ends with the part that makes it full, and no part has as many rows."""
    rows = [each.count(b'"allocationKey"') + each.count(b'"queuename"') for each in pieces(LARGE[name])]
    assert max(rows) < 2 * ROWS


def test_weights_are_counted_no_further_than_needed() -> None:
    assert weight_of(app(3), 100) == 5
    assert weight_of(app(2500), 100) == 100
    assert weight_of((), 100) == 0
