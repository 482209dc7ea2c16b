"""Records that the memory of the REST interface makes of the reports of the engine."""

import pytest

from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import Kind, NodeNotes, NoPlan, Plan, Receipt, Stop, Victim
from core.ids import NO_NODE, NO_POD, NodeName, PodUid, QueuePath
from core.resource import Resource
from extender.rest.members import members
from extender.rest.memory.memory import RestMemory
from tests.builders import START, make_ledger, make_queue


def victim(name: str, cpu: int) -> Victim:
    size = Resource({"vcore": cpu, "pods": 1})
    uid, node, queue = PodUid(f"uid-{name}"), NodeName("n1"), QueuePath("root.a")
    return Victim(
        uid, "default", name, node, queue, 0, size, opted_out=False, originator=False, created=START
    )


def plan(kind: Kind) -> Plan:
    victims = (victim("x", 1000), victim("y", 2000))
    return Plan(kind, NO_POD, QueuePath("root.a"), NO_NODE, victims, Receipt(kind, (), (), NodeNotes()))


@pytest.mark.rule("REST-38")
def test_evictions_for_a_lowered_max_are_an_event_of_their_queue() -> None:
    """Detail 407 with the total size of the victims. Other plans, and none, are no such event."""
    ledger = make_ledger(make_queue("root.a"))
    memory = RestMemory(lambda: ledger.view, instance="an-id", started=START)
    outcomes: list[Outcome] = [
        plan(Kind.GUARANTEE),
        NoPlan(NO_POD, Stop.NO_VICTIMS, "PRE-7", "none"),
        plan(Kind.QUOTA),
    ]
    for each in outcomes:
        memory.planned(each, now=START)
    (record,) = (members(each) for each in memory.ring.since(memory.ring.lowest, most=10))
    assert record == {
        "type": 4,
        "objectID": "root.a",
        "timestampNano": int(START * 10**9),
        "eventChangeType": 1,
        "eventChangeDetail": 407,
        "resource": {"resources": {"pods": {"value": 2}, "vcore": {"value": 3000}}},
    }
