"""The cluster, its partition, its rules and its health."""

import json
from dataclasses import replace

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.queues.spec import FilterSpec, NodeSortSpec, RuleSpec
from extender.rest.facts import Facts, InForce, Process
from extender.rest.members import encoded, members
from extender.rest.projection.health import NAMES, Found, health_from
from extender.rest.projection.partitions import cluster_from, partition_from, sorting_from
from extender.rest.projection.placement import rules_in_force
from tests.builders import START, make_ledger, make_partition, make_pod, make_queue


@pytest.mark.rule("REST-5", "REST-41")
def test_the_partition() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=2)
    for name, app, queue in (("p", "one", "root.a"), ("q", "two", "root.a"), ("lost", "three", "root.no")):
        node = "n1" if name == "p" else ""
        ledger.apply(on.PodObserved(make_pod(name, app=app, queue=queue, node=node)), now=START)
    facts = Facts(ledger.view, Process(cluster_id="c"), InForce(since=START))
    assert members(partition_from(facts)) == {
        "clusterId": "c",
        "name": "default",
        "capacity": {
            "capacity": {"memory": 2**41, "pods": 2000, "vcore": 200_000},
            "usedCapacity": {"pods": 1, "vcore": 1000},
            "utilization": {"pods": 0, "vcore": 0},
        },
        "nodeSortingPolicy": {"type": "fair", "resourceWeights": {"memory": 1.0, "vcore": 1.0}},
        "preemptionEnabled": True,
        "quotaPreemptionEnabled": False,
        "totalNodes": 2,
        "totalContainers": 1,
        "applications": {"Accepted": 1, "Rejected": 1, "Running": 1, "total": 3},
        "state": "Active",
        "lastStateTransitionTime": int(START) * 10**9,
    }


@pytest.mark.rule("REST-5")
def test_an_empty_partition_counts_to_nought() -> None:
    found = members(partition_from(Facts(make_ledger(nodes=0).view)))
    assert (found["totalNodes"], found["totalContainers"], found["applications"]) == (0, 0, {"total": 0})
    assert found["capacity"] == {}


@pytest.mark.rule("REST-5")
def test_weights_of_the_document() -> None:
    found = sorting_from(NodeSortSpec("binpacking", {"vcore": 2.5}, named=True))
    assert members(found) == {"type": "binpacking", "resourceWeights": {"vcore": 2.5}}


@pytest.mark.rule("REST-26")
def test_the_cluster_never_calls_itself_yunikorn() -> None:
    process = Process(started=START, version="0.1.0", arch="amd64", cluster_id="c")
    assert members(cluster_from(Facts(make_ledger().view, process))) == {
        "startTime": int(START) * 10**9,
        "rmBuildInformation": [
            {"arch": "amd64", "buildVersion": "0.1.0", "paddockVersion": "0.1.0", "rmId": "c"}
        ],
        "partition": "default",
        "clusterName": "kubernetes",
    }


@pytest.mark.rule("REST-30")
def test_rules() -> None:
    rules = (
        RuleSpec("tag", create=True, value="namespace", filter=FilterSpec(allow=False, users=("eve", "bob"))),
        RuleSpec("fixed", value="root.a", parent=RuleSpec("user")),
        RuleSpec("provided", filter=FilterSpec(groups=("d.*",), group_pattern=str.isalpha)),
    )
    config = InForce(replace(make_partition(), rules=rules))
    found = [members(each) for each in rules_in_force(Facts(make_ledger().view, config=config))]
    assert found == [
        {
            "name": "tag",
            "parameters": {"create": "true", "tagName": "namespace"},
            "filter": {"type": "deny", "userList": ["bob", "eve"]},
        },
        {
            "name": "fixed",
            "parameters": {"create": "false", "queue": "root.a", "qualified": "true"},
            "parentRule": {"name": "user", "parameters": {"create": "false"}},
        },
        {
            "name": "provided",
            "parameters": {"create": "false"},
            "filter": {"type": "allow", "groupExp": "d.*"},
        },
        {"name": "recovery", "parameters": {"queue": "root.@recovery@"}},
    ]


@pytest.mark.rule("REST-30")
def test_without_rules_the_implicit_one_is_in_force() -> None:
    found = rules_in_force(Facts(make_ledger().view))
    assert [each.name for each in found] == ["provided", "recovery"]


@pytest.mark.rule("REST-11")
def test_health() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p", node="n1")), now=START)
    good = health_from(Facts(ledger.view), Found())
    assert good.healthy
    assert tuple(each.name for each in good.health_checks) == NAMES
    bad = health_from(Facts(ledger.view), Found(errors=2, drifts=("x",), own=(("Synced", "not yet"),)))
    wrong = {at: each.diagnosis_message for at, each in enumerate(bad.health_checks) if not each.succeeded}
    assert (bad.healthy, wrong) == (False, {0: "2 calls failed", 8: "x", 9: "not yet"})
    assert json.loads(encoded(bad))["HealthChecks"][0]["Succeeded"] is False


@pytest.mark.corrupts_ledger
@pytest.mark.rule("REST-11")
def test_health_sees_sums_that_do_not_hold() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p", node="n1")), now=START)
    use = ledger.view.use_of(next(iter(ledger.view.nodes)))
    assert use is not None
    use.pods.discard(PodUid("uid-p"))
    found = health_from(Facts(ledger.view), Found())
    assert [each.diagnosis_message for each in found.health_checks if not each.succeeded] == [
        "the sums differ on n1"
    ]
