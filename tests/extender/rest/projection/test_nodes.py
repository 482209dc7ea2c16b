"""Nodes from the ledger, and how full they are."""

from dataclasses import replace

import pytest

from core.ids import NodeName
from core.ledger import events as on
from core.ledger.ledger import Ledger
from extender.rest.facts import Facts
from extender.rest.members import members
from extender.rest.model.nodes import Node
from extender.rest.projection.nodes import BUCKETS, all_nodes, bucket_of, one_node, utilizations
from tests.builders import START, bind_called, filtered, make_ledger, make_node, make_pod, make_queue


def shown(ledger: Ledger, name: str = "n1") -> Node:
    found = one_node(Facts(ledger.view), name)
    assert found is not None
    return found


@pytest.mark.rule("REST-8", "REST-36", "REST-41")
def test_a_node_with_its_pods() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    node = replace(make_node("n1", cpu=4000, memory=0), labels={"zone": "z"})
    ledger.apply(on.ObjectObserved(on.NODES, node), now=START)
    for pod in (
        make_pod("mine", cpu=1000, node="n1"),
        make_pod(
            "theirs", cpu=500, node="n1", scheduler_name="default-scheduler", app="", queue="", priority=3
        ),
        make_pod("held", cpu=100, node="n1", scheduler_name="kubelet", app="", queue="", mirror=True),
    ):
        ledger.apply(on.PodObserved(pod), now=START)
    found = members(shown(ledger))
    foreign = found.pop("foreignAllocations")
    assert [each["allocationKey"] for each in found.pop("allocations")] == ["uid-mine"]
    assert found == {
        "nodeID": "n1",
        "hostName": "n1",
        "rackName": "/rack-default",
        "attributes": {"si.io/hostname": "n1", "si.io/rackname": "/rack-default", "zone": "z"},
        "capacity": {"pods": 1000, "vcore": 4000},
        "allocated": {"pods": 1, "vcore": 1000},
        "occupied": {"pods": 2, "vcore": 600},
        "available": {"pods": 997, "vcore": 2400},
        "utilized": {"pods": 0, "vcore": 25},
        "schedulable": True,
        "isReserved": False,
    }
    assert [(each["allocationTags"]["foreign"], "preemptable" in each) for each in foreign] == [
        ("static", False),
        ("default", True),
    ]
    assert (foreign[1]["priority"], foreign[1]["allocationTags"]["creationTime"]) == ("3", "0")


@pytest.mark.rule("REST-8")
def test_a_binding_on_its_way_counts_on_its_node() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p", cpu=1000)), now=START)
    filtered(ledger, "uid-p", now=START)
    assert shown(ledger).allocations == ()
    bind_called(ledger, "uid-p", now=START)
    assert [each.node_id for each in shown(ledger).allocations] == ["n1"]


@pytest.mark.rule("REST-8")
def test_a_cordoned_node_takes_no_pods_and_a_nominated_one_is_reserved() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(
        on.ObjectObserved(on.NODES, replace(make_node("n1"), unschedulable=True, version=2)), now=START
    )
    ledger.apply(on.PodObserved(make_pod("p", nominated=NodeName("n1"))), now=START)
    found = shown(ledger)
    assert (found.schedulable, found.is_reserved, found.reservations) == (False, True, ("uid-p",))


@pytest.mark.rule("REST-8", "REST-41")
def test_a_deleted_node_is_shown_while_pods_are_left_on_it() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p", cpu=1000, node="n9")), now=START)
    assert [each.node_id for each in all_nodes(Facts(ledger.view))] == ["n1", "n9"]
    found = shown(ledger, "n9")
    assert (found.capacity, found.available, found.schedulable) == ({}, {"pods": -1, "vcore": -1000}, False)
    assert found.attributes
    assert one_node(Facts(ledger.view), "n2") is None


@pytest.mark.rule("REST-37")
@pytest.mark.parametrize(
    ("percent", "bucket"), [(0, 0), (1, 0), (10, 0), (11, 1), (20, 1), (90, 8), (91, 9), (100, 9), (450, 9)]
)
def test_buckets(percent: int, bucket: int) -> None:
    assert bucket_of(percent) == bucket


@pytest.mark.rule("REST-37")
def test_utilizations() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=2)
    ledger.apply(on.PodObserved(make_pod("p", cpu=35_000, node="n1")), now=START)
    facts = Facts(ledger.view)
    found = utilizations(facts, all_nodes(facts))
    assert (found.cluster_id, found.partition) == ("mycluster", "default")
    assert [each.type for each in found.utilizations] == ["memory", "pods", "vcore"]
    vcore = found.utilizations[2].utilization
    assert [each.bucket_name for each in vcore] == list(BUCKETS)
    assert {at: each.node_names for at, each in enumerate(vcore) if each.num_of_nodes} == {
        0: ("n2",),
        3: ("n1",),
    }


@pytest.mark.rule("REST-37")
def test_without_nodes_there_is_an_empty_list() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    assert members(utilizations(Facts(ledger.view), ()))["utilizations"] == []
