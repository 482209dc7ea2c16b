"""Users on pods, quotas on namespaces: annotations as they come."""

import pytest

from core.queues.identity import Identity
from core.resource import Limit, Resource
from extender.wire.identity import identity_from
from extender.wire.namespace import PREFIX, guaranteed_from, max_applications_from, quota_from


@pytest.mark.rule("ID-1")
@pytest.mark.parametrize(
    ("annotation", "identity"),
    [
        (None, Identity()),
        ("", Identity()),
        ('{"user": "alice", "groups": ["dev", "ops"]}', Identity("alice", ("dev", "ops"))),
        ('{"user": "alice"}', Identity("alice")),
        ('{"user": "", "groups": ["dev"]}', Identity("nobody", ("dev",))),
        ('{"groups": null}', Identity()),
        ("alice", Identity()),
        ("[1]", Identity()),
        ('{"user": 5}', Identity()),
        ('{"user": "a", "groups": "dev"}', Identity()),
        ('{"user": "a", "groups": [1]}', Identity()),
        ("[" * 100_000, Identity()),
        ('{"user": "' + "a" * 70_000 + '"}', Identity()),
    ],
)
def test_who_submits(annotation: str | None, identity: Identity) -> None:
    assert identity_from(annotation) == identity


@pytest.mark.rule("ID-4")
def test_without_groups_the_user_is_his_own() -> None:
    assert Identity().effective_groups == ("nobody",)
    assert Identity("alice", ("dev",)).effective_groups == ("dev",)


@pytest.mark.rule("NS-1")
@pytest.mark.rule("NS-2")
@pytest.mark.rule("NS-4")
@pytest.mark.parametrize(
    ("annotations", "quota"),
    [
        ({}, None),
        ({"quota": '{"cpu": "2", "memory": "1Gi"}'}, Limit({"vcore": 2000, "memory": 2**30})),
        ({"quota": '{"cpu": "1500m", "nvidia.com/gpu": "1"}'}, Limit({"vcore": 1500, "nvidia.com/gpu": 1})),
        ({"quota": '{"cpu": 2}'}, None),
        ({"quota": '{"cpu": "two"}'}, None),
        ({"quota": "{"}, None),
        ({"quota": '{"cpu": "-1", "memory": "1Gi"}'}, None),
        ({"quota": '{"cpu": "0"}'}, None),
        ({"max.cpu": "2", "max.memory": "1G"}, Limit({"vcore": 2000, "memory": 10**9})),
        ({"max.cpu": "2", "max.memory": "much"}, None),
        ({"quota": "broken", "max.cpu": "2"}, None),
        ({"quota": "", "max.cpu": "2"}, Limit({"vcore": 2000})),
    ],
)
def test_the_quota_of_a_namespace(annotations: dict[str, str], quota: Limit | None) -> None:
    assert quota_from({PREFIX + key: value for key, value in annotations.items()}) == quota


@pytest.mark.rule("NS-3")
def test_guarantee_and_applications_of_a_namespace() -> None:
    assert guaranteed_from({PREFIX + "guaranteed": '{"cpu": "1"}'}) == Resource({"vcore": 1000})
    texts = {"5": 5, "0": 0, "-1": 0, "many": 0, "": 0, "9" * 30: 0}
    assert {text: max_applications_from({PREFIX + "maxApps": text}) for text in texts} == texts
