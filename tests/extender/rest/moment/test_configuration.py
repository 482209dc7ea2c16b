"""The configuration in force as JSON and as YAML, made in steps (REST-27)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from extender.queueconfig.parsing import parse
from extender.queueconfig.schema import QueuesDocument
from extender.rest.facts import InForce
from extender.rest.moment.configuration import config_as_json, config_as_yaml
from tests.extender.rest.moment.steps import most_of
from tests.properties.ledger.history_world import QUICK

DOCUMENT = """
partitions:
  - name: default
    preemption:
      enabled: true
    placementrules:
      - name: tag
        value: namespace
        create: true
        filter: {type: deny, users: [eve]}
        parent: {name: fixed, value: root.users}
    queues:
      - name: root
        submitacl: "*"
        limits: [{limit: all, users: ["*"], maxapplications: 3}]
        queues:
          - name: users
            parent: true
            properties: {Some.Key: Value}
            resources: {max: {vcore: 10, Memory: 5Gi}}
            childtemplate: {maxapplications: 2}
"""
KEYS = {"service.clusterId": "c", "paddock.Lease": "ns/l"}


def as_json(config: InForce) -> Any:
    return json.loads(b"".join(config_as_json(config)))


def as_yaml(config: InForce) -> Any:
    return yaml.safe_load(b"".join(config_as_yaml(config)))


@pytest.mark.rule("REST-27")
def test_the_configuration_as_json() -> None:
    config = InForce(document=parse(DOCUMENT).document, checksum="AB", keys=KEYS)
    empty = {"ChildTemplate": {"Resources": {}}, "Resources": {}}
    assert as_json(config) == {
        "Partitions": [
            {
                "Name": "default",
                "Queues": [
                    {
                        "Name": "root",
                        "SubmitACL": "*",
                        **empty,
                        "Limits": [{"Limit": "all", "Users": ["*"], "MaxApplications": 3}],
                        "Queues": [
                            {
                                "Name": "users",
                                "Parent": True,
                                "Resources": {"Max": {"vcore": "10", "Memory": "5Gi"}},
                                "Properties": {"Some.Key": "Value"},
                                "ChildTemplate": {"MaxApplications": 2, "Resources": {}},
                            }
                        ],
                    }
                ],
                "PlacementRules": [
                    {
                        "Name": "tag",
                        "Create": True,
                        "Filter": {"Type": "deny", "Users": ["eve"]},
                        "Value": "namespace",
                        "Parent": {"Name": "fixed", "Filter": {"Type": ""}, "Value": "root.users"},
                    }
                ],
                "Preemption": {"Enabled": True},
                "NodeSortPolicy": {},
                "UserGroupResolver": {},
            }
        ],
        "Checksum": "AB",
        "Extra": KEYS,
        "DeadlockDetectionEnabled": False,
        "DeadlockTimeoutSeconds": 0,
    }


@pytest.mark.rule("REST-27")
def test_the_configuration_as_yaml() -> None:
    """In lower case but for what the document names itself; without empty structures."""
    config = InForce(document=parse(DOCUMENT).document, checksum="AB", keys=KEYS)
    found = as_yaml(config)
    (partition,) = found["partitions"]
    (root,) = partition["queues"]
    assert (root["submitacl"], "resources" in root, "childtemplate" in root) == ("*", False, False)
    (users,) = root["queues"]
    assert users["properties"] == {"Some.Key": "Value"}
    assert users["resources"] == {"max": {"vcore": "10", "Memory": "5Gi"}}
    (rule,) = partition["placementrules"]
    assert rule["parent"] == {"name": "fixed", "value": "root.users"}
    assert (found["extra"], found["deadlockdetectionenabled"]) == (KEYS, False)


@pytest.mark.rule("REST-27")
def test_before_the_first_document_there_are_no_partitions() -> None:
    config = InForce(keys=KEYS)
    assert as_json(config) == {
        "Extra": KEYS,
        "DeadlockDetectionEnabled": False,
        "DeadlockTimeoutSeconds": 0,
    }
    assert as_yaml(config) == {
        "extra": KEYS,
        "deadlockdetectionenabled": False,
        "deadlocktimeoutseconds": 0,
    }


def test_a_partition_without_queues_says_so() -> None:
    config = InForce(document=parse("partitions: [{name: default, queues: []}]").document)
    assert as_json(config)["Partitions"][0]["Queues"] == []
    assert as_yaml(config)["partitions"] == [{"name": "default", "queues": []}]


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t: -#'\"{}[]%&*!|>")
)


@pytest.mark.rule("REST-27")
@QUICK
@given(values=st.dictionaries(texts, texts, max_size=4), depth=st.integers(0, 6))
def test_texts_of_users_stay_as_they_are(values: dict[str, str], depth: int) -> None:
    """Line breaks, quotes and signs of YAML, at any depth of the tree."""
    queue: dict[str, Any] = {"name": "last", "properties": values, "submitacl": " ".join(values)}
    for at in range(depth):
        queue = {"name": f"q{at}", "properties": values, "queues": [{"name": "beside"}, queue]}
    partition = {"name": "default", "queues": [queue]}
    config = InForce(document=QueuesDocument.model_validate({"partitions": [partition]}))
    assert without_empty(as_yaml(config)["partitions"]) == without_empty([partition])
    shown = json.dumps(as_json(config)["Partitions"][0])
    assert all(json.dumps(each) in shown for each in (*values, *values.values()))


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        found = {key: without_empty(each) for key, each in value.items()}
        return {key: each for key, each in found.items() if each not in ({}, [], "")}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


PER_STEP = 10_000
"""Lines and calls of Python, which take less than a millisecond."""


@pytest.mark.rule("REST-27", "REST-45")
@pytest.mark.parametrize(("written", "count"), [(config_as_json, 2000), (config_as_yaml, 200)])
def test_no_step_is_longer_for_more_queues(written: Callable[[InForce], Iterator[bytes]], count: int) -> None:
    queues = [
        {"name": f"q{at}", "resources": {"max": {"vcore": "10"}}, "properties": {"priority.offset": "1"}}
        for at in range(count)
    ]
    root = {"name": "root", "queues": queues}
    document = QueuesDocument.model_validate({"partitions": [{"name": "default", "queues": [root]}]})
    assert most_of(written(InForce(document=document))) <= PER_STEP
