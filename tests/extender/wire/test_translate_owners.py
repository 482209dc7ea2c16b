"""Fields of a pod that gangs need: its owner, its secrets, its markers and its records."""

from typing import Any

import msgspec
import pytest

from core.workload.pod import GANG, REPLACES, PodFacts
from extender.wire.translate import POD, pod_from

OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "first", "uid": "uid-first"}


def facts(**pod: Any) -> PodFacts:
    return pod_from(POD.decode(msgspec.json.encode(pod)))


def container(*requests: str) -> dict[str, Any]:
    return {"resources": {"requests": dict.fromkeys(requests, "1")}}


@pytest.mark.rule("GANG-2")
@pytest.mark.parametrize(
    ("owners", "uid"),
    [
        (None, ""),
        ([], ""),
        ([OWNER], "uid-first"),
        ([{**OWNER, "kind": "Job"}], ""),
        ([{**OWNER, "apiVersion": "example.com/v1"}], ""),
        ([{**OWNER, "kind": "ReplicaSet", "apiVersion": "apps/v1", "uid": "x"}, OWNER], "uid-first"),
        ([OWNER, {**OWNER, "uid": "uid-second"}], "uid-first"),
        ([{"apiVersion": "v1", "kind": "Pod"}], ""),
    ],
)
def test_the_pod_that_owns_another(owners: Any, uid: str) -> None:
    assert facts(metadata={"ownerReferences": owners}).owner == uid


@pytest.mark.rule("GANG-3")
@pytest.mark.parametrize(
    ("secrets", "names"),
    [(None, ()), ([], ()), ([{"name": "b"}, {"name": "a"}], ("b", "a")), ([{}, {"name": ""}], ())],
)
def test_secrets_keep_their_order(secrets: Any, names: tuple[str, ...]) -> None:
    assert facts(spec={"imagePullSecrets": secrets}).pull_secrets == names


@pytest.mark.rule("DESIGN-6")
def test_markers_are_sorted_and_each_is_there_once() -> None:
    containers = [
        container("cpu", "paddock.dev/preempt"),
        container("paddock.dev/bind", "paddock.dev/preempt"),
    ]
    found = facts(spec={"containers": containers, "initContainers": [container("paddock.dev/filter")]})
    assert found.markers == ("paddock.dev/bind", "paddock.dev/filter", "paddock.dev/preempt")
    assert facts(spec={"containers": [container("cpu", "paddock.devil/x"), {}]}).markers == ()


def test_equal_markers_are_one_value() -> None:
    twice = [facts(spec={"containers": [container("paddock.dev/a", "paddock.dev/b")]}) for _ in range(2)]
    assert twice[0].markers is twice[1].markers


@pytest.mark.rule("GANG-20")
def test_notes_of_a_gang() -> None:
    found = facts(metadata={"annotations": {REPLACES: "uid-p", GANG: "Started"}})
    assert (found.replaces, found.gang_noted) == ("uid-p", "Started")
    assert (facts().replaces, facts().gang_noted) == ("", "")
