"""Rule 11 of the scenario format: subsets, amounts, absent members."""

from typing import Any

import pytest

from extender.simulator.scenario.rest_subsets import differences_in, unknown_members

SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"queuename": "root"}),
    ({"allocatedResource": {"vcore": 1500}}, {"allocatedResource": {"vcore": 1500, "memory": 1}}),
    ({"allocatedResource": {"vcore": "1.5"}}, {"allocatedResource": {"vcore": 1500}}),
    (
        {"allocatedResource": {"vcore": "500m", "memory": "1Gi"}},
        {"allocatedResource": {"vcore": 500, "memory": 2**30}},
    ),
    ({"allocatedResource": {"vcore": 0}}, {}),
    ({"allocatedResource": {}}, {"allocatedResource": {"vcore": 5}}),
    ({"headroom": {"vcore": -1000}}, {"headroom": {"vcore": -1000}}),
    ({"headroom": {"vcore": "-1"}}, {"headroom": {"vcore": -1000}}),
    ({"preemptionDelay": ""}, {}),
    ({"isPriorityFence": False, "runningApps": 0, "properties": {}, "childNames": []}, {}),
    ({"absUsedCapacity": {"vcore": 50}}, {"absUsedCapacity": {"vcore": 50}}),
    (
        {"placeholderData": [{"count": 3}, {}]},
        {"placeholderData": [{"count": 3, "replaced": 1}, {"count": 1}]},
    ),
    ({"requests": [{"priority": 5}]}, {"requests": [{"priority": "5"}]}),
    ({"properties": {"priority.offset": 5}}, {"properties": {"priority.offset": "5"}}),
    ({"requests": [{"resource": {"vcore": "1"}}]}, {"requests": [{"resource": {"vcore": 1000}}]}),
]

OTHER: list[tuple[dict[str, Any], dict[str, Any], tuple[str, str, str]]] = [
    (
        {"allocatedResource": {"vcore": 1}},
        {"allocatedResource": {"vcore": 1000}},
        ("q.allocatedResource.vcore", "1", "1000"),
    ),
    ({"allocatedResource": {"vcore": "1"}}, {}, ("q.allocatedResource.vcore", "1", "absent")),
    ({"isLeaf": True}, {"isLeaf": False}, ("q.isLeaf", "true", "false")),
    ({"isLeaf": True}, {"isLeaf": 1}, ("q.isLeaf", "true", "1")),
    ({"status": "Draining"}, {"status": "Active"}, ("q.status", "Draining", "Active")),
    ({"runningApps": 1}, {}, ("q.runningApps", "1", "absent")),
    ({"childNames": ["a", "b"]}, {"childNames": ["b", "a"]}, ("q.childNames[0]", "a", "b")),
    ({"childNames": ["a"]}, {"childNames": ["a", "b"]}, ("q.childNames", '["a"]', '["a", "b"]')),
    ({"properties": {"x": "y"}}, {"properties": 5}, ("q.properties", '{"x": "y"}', "5")),
    ({"headroom": {"vcore": "much"}}, {"headroom": {"vcore": 5}}, ("q.headroom.vcore", "much", "5")),
]


@pytest.mark.parametrize(("expected", "actual"), SAME)
def test_what_is_as_expected(expected: dict[str, Any], actual: dict[str, Any]) -> None:
    assert differences_in(expected, actual, "q") == []


@pytest.mark.parametrize(("expected", "actual", "difference"), OTHER)
def test_what_is_not(
    expected: dict[str, Any], actual: dict[str, Any], difference: tuple[str, str, str]
) -> None:
    assert difference in differences_in(expected, actual, "q")


@pytest.mark.parametrize(
    ("kind", "expected", "paths"),
    [
        ("queue", {"allocatedResource": {}, "children": [{"status": "Active"}]}, []),
        ("queue", {"allocatedResources": {}}, ["allocatedResources"]),
        ("queue", {"template": {"max": {}}}, ["template.max"]),
        ("application", {"allocations": [{"nodeID": "n"}]}, ["allocations.nodeID"]),
        ("user", {"queues": {"children": [{"used": 1}]}}, ["queues.children.used"]),
    ],
)
def test_members_that_no_object_has(kind: str, expected: dict[str, Any], paths: list[str]) -> None:
    assert unknown_members(kind, expected) == paths
