"""Answers to filter calls about nodes that are reserved for one pod (CYC-2, DESIGN-3)."""

import json

import msgspec
import pytest

from core.ids import NodeName
from core.ledger import events as on
from core.reasons import Code
from extender.wire.calls.extender_v1 import BadBody
from extender.wire.objects.pod import Container, PodMetadata, PodSpec, WirePod
from extender.wire.translate import pod_from
from tests.builders import AGENTS, OF_AGENTS, make_pod, reserved_on
from tests.extender.rigs import Rig, filter_body

TEXT = "NodeReserved: kept for another pod"


@pytest.fixture
def rig() -> Rig:
    """A rig in which n1 is reserved for one pod."""
    rig = Rig()
    large = make_pod("large", app="large")
    rig.engine.learn(on.PodObserved(large))
    reserved_on(rig.ledger, large.uid, "n1")
    return rig


@pytest.mark.rule("CYC-2")
@pytest.mark.parametrize("full", [False, True])
def test_filter_takes_the_reserved_node_off_the_list(rig: Rig, full: bool) -> None:
    answer = rig.filter("p", full=full)
    names = [each["metadata"]["name"] for each in answer["Nodes"]["items"]] if full else answer["NodeNames"]
    assert names == ["n2"]
    assert answer["FailedAndUnresolvableNodes"] == {"n1": TEXT}


@pytest.mark.parametrize("full", [False, True])
def test_filter_names_only_reserved_nodes_when_no_other_was_offered(rig: Rig, full: bool) -> None:
    answer = rig.filter("p", full=full, nodes=["n1"])
    assert (answer["Nodes"]["items"] if full else answer["NodeNames"]) == []
    assert answer["FailedAndUnresolvableNodes"] == {"n1": TEXT}


@pytest.mark.rule("CYC-2")
def test_the_pod_with_the_reservation_has_all_nodes(rig: Rig) -> None:
    body = filter_body("large", app="large", version="0")
    assert json.loads(rig.verbs.filter(body)) == {"NodeNames": ["n1", "n2"]}


@pytest.mark.rule("RNP-1")
def test_a_reserved_node_is_open_to_a_pod_that_may_run_nowhere_else(rig: Rig) -> None:
    daemon = make_pod("daemon", app="daemon", required_node=NodeName("n1"), **OF_AGENTS)
    rig.engine.learn(on.PodObserved(daemon))
    assert rig.filter("daemon", app="daemon", version="0", nodes=["n1"])["NodeNames"] == []
    rig.engine.learn(on.ObjectObserved(on.DAEMON_SETS, AGENTS))
    assert rig.filter("daemon", app="daemon", version="0", nodes=["n1"]) == {"NodeNames": ["n1"]}


def test_unmanaged_pods_are_not_excluded(rig: Rig) -> None:
    body = filter_body("plain", scheduler="default-scheduler", queue="")
    assert json.loads(rig.verbs.filter(body)) == {"NodeNames": ["n1", "n2"]}


@pytest.mark.parametrize(
    "body",
    [
        filter_body("p").replace(b'"n2"', b"2"),
        filter_body("p", full=True).replace(b'{"metadata": {"name": "n2"}}', b"7"),
    ],
)
def test_a_list_that_must_be_read_and_cannot_is_a_bad_body(rig: Rig, body: bytes) -> None:
    with pytest.raises(BadBody):
        rig.verbs.filter(body)


def test_the_code_is_that_of_the_decision(rig: Rig) -> None:
    rig.filter("p", nodes=["n1"])
    record = rig.engine.view.pod(make_pod("p").uid)
    assert record is not None
    assert record.admission.sent is not None
    assert record.admission.sent.code is Code.NODE_RESERVED


@pytest.mark.rule("DESIGN-6")
@pytest.mark.parametrize(
    ("markers", "asked"),
    [
        ((), True),
        (("cpu",), True),
        (("paddock.dev/filter",), True),
        (("paddock.dev/preempt",), False),
        (("paddock.dev/preempt", "paddock.dev/filter"), True),
        (("paddock.dev/bind",), False),
    ],
)
def test_markers_say_for_which_pods_filter_is_called(markers: tuple[str, ...], asked: bool) -> None:
    written = msgspec.Raw(json.dumps({"requests": dict.fromkeys(markers, "1")}).encode())
    spec = PodSpec(containers=[Container(resources=written), Container()])
    assert pod_from(WirePod(spec=spec)).asks_filter is asked
    late = PodSpec(init_containers=[Container(resources=written)])
    assert pod_from(WirePod(spec=late)).asks_filter is asked


def test_the_node_reserved_for_a_pod_is_read_from_it() -> None:
    metadata = PodMetadata(annotations={"paddock.dev/reserved-node": "n7"})
    assert pod_from(WirePod(metadata=metadata)).reserved_node == "n7"
