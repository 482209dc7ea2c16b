"""Keys in other letter cases, null and absent: Paddock accepts every body that Go's decoder accepts."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from extender.wire.calls.extender_v1 import (
    BadBody,
    BindRequest,
    bind_request_from,
    node_request_from,
    preempt_request_from,
)
from tests.builders import make_pod
from tests.extender.rigs import Rig, bind_body, filter_body, pod_body, preempt_body

Spelling = Callable[[str], str]

SPELLINGS: dict[str, Spelling] = {
    "NodeNames": lambda key: key,
    "nodeNames": lambda key: key[0].lower() + key[1:],
    "nodenames": str.lower,
    "NODENAMES": str.upper,
}


@pytest.fixture(params=SPELLINGS.values(), ids=SPELLINGS.keys())
def spelled(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    """Top-level keys in one spelling."""

    def respelled(body: bytes) -> bytes:
        return json.dumps({request.param(key): value for key, value in json.loads(body).items()}).encode()

    return respelled


@pytest.mark.parametrize("full", [False, True], ids=["names", "nodes"])
def test_filter_in_any_case(spelled: Callable[[bytes], bytes], full: bool) -> None:
    answer = json.loads(Rig().verbs.filter(spelled(filter_body("p", full=full))))
    nodes = [node["metadata"]["name"] for node in answer["Nodes"]["items"]] if full else answer["NodeNames"]
    assert nodes == ["n1", "n2"]
    assert len(answer) == 1


def test_a_body_with_two_pods_teaches_nothing() -> None:
    asked, rig = json.loads(filter_body("p")), Rig()
    body = json.dumps({"Pod": asked["Pod"], "pod": pod_body("q"), "nodenames": asked["NodeNames"]}).encode()
    with pytest.raises(BadBody, match="several Pods"):
        rig.verbs.filter(body)
    assert [rig.engine.view.pod(uid) for uid in ("uid-p", "uid-q")] == [None, None]


def test_prioritize_in_any_case(spelled: Callable[[bytes], bytes]) -> None:
    assert Rig().verbs.prioritize(spelled(filter_body("p"))) == b"[]"


@pytest.mark.parametrize("full", [False, True], ids=["meta victims", "full victims"])
def test_preempt_in_any_case(spelled: Callable[[bytes], bytes], full: bool) -> None:
    request = preempt_request_from(spelled(preempt_body("p", {"n1": ["v1", "v2"]}, full=full)))
    assert {node: each.uids for node, each in request.victims.items()} == {"n1": ("v1", "v2")}


async def test_bind_in_any_case(spelled: Callable[[bytes], bytes]) -> None:
    body = spelled(bind_body("p", "n2"))
    assert bind_request_from(body) == BindRequest("p", "default", "uid-p", "n2")
    rig = Rig()
    rig.api.pods["default", "p"] = make_pod("p")
    assert await rig.bind_verb.bind(body) == b"{}"


ABSENT = object()


def body_with(**lists: Any) -> bytes:
    given = {key: value for key, value in lists.items() if value is not ABSENT}
    return json.dumps({"Pod": pod_body("p"), **given}).encode()


def foreign(**lists: Any) -> bytes:
    """An unmanaged pod, for which kube-scheduler's own victims are returned."""
    given = {key: value for key, value in lists.items() if value is not ABSENT}
    return json.dumps({"Pod": pod_body("p", queue="", scheduler="default-scheduler"), **given}).encode()


NODES = {"metadata": {}, "items": [{"metadata": {"name": "n1"}}]}


@pytest.mark.parametrize("other", [None, ABSENT], ids=["null", "absent"])
@pytest.mark.parametrize("key", ["NodeNames", "nodeNames", "nodenames"])
def test_the_list_that_is_not_used_may_be_null_or_absent(key: str, other: Any) -> None:
    request = node_request_from(body_with(**{key: ["n1"], "Nodes": other}))
    assert (request.node_names(), request.nodes) == (["n1"], None)
    request = node_request_from(body_with(**{key: other, "Nodes": NODES}))
    assert (request.node_names(), request.names) == (["n1"], None)


@pytest.mark.parametrize("names", [None, ABSENT], ids=["null", "absent"])
@pytest.mark.parametrize("nodes", [None, ABSENT], ids=["null", "absent"])
def test_neither_list_is_a_bad_body(names: Any, nodes: Any) -> None:
    with pytest.raises(BadBody, match="neither NodeNames nor Nodes"):
        node_request_from(body_with(NodeNames=names, Nodes=nodes))


def test_empty_lists_are_lists() -> None:
    assert node_request_from(body_with(NodeNames=[])).node_names() == []
    assert node_request_from(body_with(Nodes={"items": None})).node_names() == []
    assert json.loads(Rig().verbs.filter(body_with(NodeNames=[]))) == {"NodeNames": []}


def test_both_lists_are_answered_by_names() -> None:
    answer = json.loads(Rig().verbs.filter(body_with(NodeNames=["n1"], Nodes=NODES)))
    assert answer == {"NodeNames": ["n1"]}


@pytest.mark.parametrize("meta", [None, ABSENT, {}], ids=["null", "absent", "empty"])
@pytest.mark.parametrize("full", [None, ABSENT, {}], ids=["null", "absent", "empty"])
def test_no_victims_in_any_spelling(meta: Any, full: Any) -> None:
    body = foreign(NodeNameToMetaVictims=meta, NodeNameToVictims=full)
    assert json.loads(Rig().verbs.preempt(body)) == {"NodeNameToMetaVictims": {}}


@pytest.mark.parametrize("victims", [None, {}, {"Pods": None}, {"Pods": []}, {"Pods": [None]}])
def test_a_node_without_victims_is_dropped(victims: Any) -> None:
    body = foreign(NodeNameToMetaVictims={"n1": victims, "n2": {"Pods": [{"UID": "v"}]}})
    assert list(json.loads(Rig().verbs.preempt(body))["NodeNameToMetaVictims"]) == ["n2"]


@pytest.mark.parametrize("key", ["PodName", "PodNamespace", "PodUID", "Node"])
@pytest.mark.parametrize("value", [None, ABSENT, ""], ids=["null", "absent", "empty"])
def test_bind_needs_all_of_its_keys(key: str, value: Any) -> None:
    body = {**json.loads(bind_body("p")), key: value}
    given = {name: each for name, each in body.items() if each is not ABSENT}
    with pytest.raises(BadBody, match="empty" if value == "" else key):
        bind_request_from(json.dumps(given).encode())
