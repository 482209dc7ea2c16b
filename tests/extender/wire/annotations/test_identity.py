"""Users of pods and quotas of namespaces, read from annotations."""

import json

import pytest

from core.queues.users.identity import Identity
from core.resource import Limit, Resource
from core.workload.pod import PodFacts
from extender.wire.annotations.identity import identity_from
from extender.wire.objects.namespace import PREFIX, guaranteed_from, max_applications_from, quota_from
from extender.wire.translate import NAMESPACE, POD, namespace_from, pod_from


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
        ('{"user": "' + "a" * 300_000 + '"}', Identity()),
    ],
)
def test_users_of_pods(annotation: str | None, identity: Identity) -> None:
    assert identity_from(annotation) == identity


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


def pod_with(
    annotations: dict[str, str] | None = None, labels: dict[str, str] | None = None, **spec: object
) -> PodFacts:
    body = {"metadata": {"uid": "u", "name": "p", "annotations": annotations, "labels": labels}, "spec": spec}
    return pod_from(POD.decode(json.dumps(body)))


@pytest.mark.rule("ID-2")
def test_the_user_name_label_is_not_read() -> None:
    assert pod_with(labels={"yunikorn.apache.org/username": "alice"}).identity == Identity()


APP_ID, QUEUE = "yunikorn.apache.org/app-id", "yunikorn.apache.org/queue"
OLD = {"applicationId": "old", "spark-app-selector": "spark"}


@pytest.mark.rule("NS-9")
@pytest.mark.parametrize(
    ("labels", "annotations", "found"),
    [
        ({APP_ID: "label", **OLD}, {APP_ID: "annotation"}, "label"),
        (OLD, {APP_ID: "annotation"}, "annotation"),
        (OLD, {}, "old"),
        ({"spark-app-selector": "spark"}, {}, "spark"),
        ({}, {"applicationId": "old"}, ""),
        ({APP_ID: ""}, {APP_ID: "annotation"}, "annotation"),
    ],
)
def test_which_key_names_the_application(
    labels: dict[str, str], annotations: dict[str, str], found: str
) -> None:
    assert pod_with(annotations, labels).app_id == found


@pytest.mark.rule("PL-2")
@pytest.mark.parametrize(
    ("labels", "annotations", "found"),
    [
        ({QUEUE: "label", "queue": "old"}, {QUEUE: "annotation"}, "label"),
        ({"queue": "old"}, {QUEUE: "annotation"}, "annotation"),
        ({"queue": "old"}, {}, "old"),
        ({}, {"queue": "old"}, ""),
    ],
)
def test_which_key_names_the_queue(labels: dict[str, str], annotations: dict[str, str], found: str) -> None:
    assert pod_with(annotations, labels).queue == found


def test_claims_are_counted_and_are_in_no_size() -> None:
    claimed = pod_with(resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}, {"name": "nic"}])
    assert (claimed.claims, claimed.size) == (2, pod_with().size)


@pytest.mark.rule("NS-7")
def test_what_a_namespace_says_of_application_ids() -> None:
    annotations = {"yunikorn.apache.org/namespace.generateAppId": "true"}
    body = {"metadata": {"name": "dev", "annotations": annotations}}
    assert namespace_from(NAMESPACE.decode(json.dumps(body))).generate_app_id == "true"
