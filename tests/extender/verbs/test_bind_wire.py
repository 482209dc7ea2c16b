"""Bind calls with an API server that refuses, disconnects and returns: requests and answers."""

import asyncio
import json

import pytest
from aiohttp import web

from core.ledger import events as on
from extender.kube.connection.client import ApiClient
from extender.kube.effects.effector import Effector
from extender.verbs.bind import BindVerb
from extender.verbs.faults import CallFault
from extender.wire.translate import POD, pod_from
from tests.builders import usage
from tests.extender.fake_api import FakeApi, Request
from tests.extender.reflector_bench import until
from tests.extender.rigs import Rig, bind_body, filter_body, pod_body
from tests.extender.verbs.test_bind import passed

PODS = "/api/v1/namespaces/default/pods"


class Cluster:
    """A rig whose bind calls reach a fake API server."""

    def __init__(self, api: FakeApi, rig: Rig, effector: Effector) -> None:
        self.api = api
        self.rig = rig
        rig.bind_verb = BindVerb(rig.engine, effector, synced=rig.synced, deadline=5.0)

    def pending(self, name: str = "p") -> None:
        """A pod that the watch has shown, and that has passed filter."""
        self.api.apply(PODS, pod_body(name))
        self.rig.engine.learn(on.PodObserved(pod_from(POD.decode(json.dumps(pod_body(name))))))
        assert json.loads(self.rig.verbs.filter(filter_body(name)))["NodeNames"]

    def bindings(self) -> list[Request]:
        return [each for each in self.api.requests if each.path.endswith("/binding")]

    def node_of(self, name: str = "p") -> str:
        pod = self.api.find(PODS, name)
        assert pod is not None
        return str(pod["spec"].get("nodeName", ""))


@pytest.fixture
async def cluster(api: FakeApi, client: ApiClient) -> Cluster:
    rig = Rig()
    effector = Effector(
        client, learn=rig.engine.learn, may_act=lambda: True, count=lambda effect, outcome: None
    )
    return Cluster(api, rig, effector)


async def test_the_binding_on_the_wire(cluster: Cluster) -> None:
    cluster.pending()
    assert await cluster.rig.bind("p") == {}
    (sent,) = cluster.bindings()
    assert (sent.method, sent.path) == ("POST", f"{PODS}/p/binding")
    assert sent.json["metadata"] == {"name": "p", "namespace": "default", "uid": "uid-p"}
    assert sent.json["target"] == {"apiVersion": "v1", "kind": "Node", "name": "n1"}


@pytest.mark.parametrize(("bound_to", "asked"), [("n1", "n1"), ("n2", "n1")])
async def test_a_pod_that_is_bound_already(cluster: Cluster, bound_to: str, asked: str) -> None:
    """Status 409 means success for the same node, and a fault for another one."""
    cluster.pending()
    pod = cluster.api.find(PODS, "p")
    assert pod is not None
    cluster.api.apply(PODS, {**pod, "spec": {**pod["spec"], "nodeName": bound_to}})
    if bound_to == asked:
        assert await cluster.rig.bind("p", asked) == {}
        assert usage(cluster.rig.ledger, "root.a") == (1000, 0, 0)
    else:
        with pytest.raises(CallFault, match="already assigned to 'n2'"):
            await cluster.rig.bind("p", asked)
        assert usage(cluster.rig.ledger, "root.a") == (0, 0, 1000)


async def test_a_lost_reply_is_seen_through(cluster: Cluster) -> None:
    cluster.pending()
    cluster.api.lose_next_reply(method="POST", path="/binding")
    assert await cluster.rig.bind("p") == {}
    assert cluster.node_of() == "n1"
    assert [each.json["metadata"]["uid"] for each in cluster.bindings()] == ["uid-p", "uid-p"]


async def test_a_lost_reply_and_a_read_that_fails(cluster: Cluster) -> None:
    cluster.pending()
    cluster.api.lose_next_reply(method="POST", path="/binding")
    cluster.api.fail_next(503, method="GET", path="/pods/p")
    assert await cluster.rig.bind("p") == {}
    assert usage(cluster.rig.ledger, "root.a") == (1000, 0, 0)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_in_trouble_is_asked_again(cluster: Cluster, status: int) -> None:
    cluster.pending()
    cluster.api.fail_next(status, method="POST", path="/binding")
    assert await cluster.rig.bind("p") == {}
    assert (cluster.node_of(), len(cluster.bindings())) == ("n1", 2)


async def test_a_refusal_is_final(cluster: Cluster) -> None:
    cluster.pending()
    cluster.api.fail_next(403, method="POST", path="/binding")
    with pytest.raises(CallFault, match="the test wants 403"):
        await cluster.rig.bind("p")
    assert len(cluster.bindings()) == 1
    assert usage(cluster.rig.ledger, "root.a") == (0, 0, 1000)


async def test_a_refusal_after_a_lost_reply_is_not_certain(cluster: Cluster) -> None:
    """The first Binding may have succeeded, so its capacity stays charged until the watch shows the pod."""
    cluster.pending()
    cluster.api.lose_next_reply(method="POST", path="/binding")
    call = asyncio.create_task(cluster.rig.bind("p"))
    await until(lambda: cluster.node_of() == "n1")
    cluster.api.fail_next(403, method="POST", path="/binding")
    with pytest.raises(CallFault, match="the test wants 403"):
        await call
    assert usage(cluster.rig.ledger, "root.a") == (0, 1000, 0)


async def test_a_deleted_or_replaced_pod_is_not_bound(cluster: Cluster) -> None:
    cluster.pending()
    cluster.api.delete(PODS, "p")
    with pytest.raises(CallFault, match="not found"):
        await cluster.rig.bind("p")
    cluster.api.apply(PODS, pod_body("p", uid="another"))
    with pytest.raises(CallFault, match="UID in the precondition"):
        await cluster.rig.bind("p")
    assert cluster.node_of() == ""


async def test_a_connection_refused_all_the_time_sends_nothing(cluster: Cluster) -> None:
    cluster.pending()
    await cluster.api.stop()
    cluster.rig.bind_verb.deadline = 0.3
    with pytest.raises(CallFault, match="did not answer in time"):
        await cluster.rig.bind("p")
    assert cluster.bindings() == []
    assert usage(cluster.rig.ledger, "root.a") == (0, 0, 1000)


async def test_a_connection_refused_at_first_is_tried_again(cluster: Cluster) -> None:
    cluster.pending()
    await cluster.api.stop()
    call = asyncio.create_task(cluster.rig.bind("p"))
    await passed(0.05)
    await cluster.api.start()
    assert await call == {}
    assert cluster.node_of() == "n1"


async def test_silence_until_the_deadline_holds_the_capacity(cluster: Cluster) -> None:
    cluster.pending()
    forever = asyncio.Event()

    async def answer(_: Request) -> web.Response | None:
        await forever.wait()
        return None

    cluster.api.break_next(answer, method="POST", path="/binding")
    cluster.rig.bind_verb.deadline = 0.2
    with pytest.raises(CallFault, match="did not answer in time"):
        await cluster.rig.bind("p")
    forever.set()
    assert usage(cluster.rig.ledger, "root.a") == (0, 1000, 0)


async def test_a_binding_whose_caller_hung_up_is_still_counted(cluster: Cluster) -> None:
    cluster.pending()
    arrived, released = asyncio.Event(), asyncio.Event()

    async def late(_: Request) -> web.Response | None:
        arrived.set()
        await released.wait()
        return None

    cluster.api.break_next(late, method="POST", path="/binding")
    call = asyncio.create_task(cluster.rig.bind_verb.bind(bind_body("p")))
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    released.set()
    await until(lambda: usage(cluster.rig.ledger, "root.a") == (1000, 0, 0))
    assert cluster.node_of() == "n1"
