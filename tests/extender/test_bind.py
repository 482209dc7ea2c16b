"""bind: what is posted, what is answered, and what the ledger holds afterwards (design sections 3 and 10)."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import PostBinding
from core.ledger.ledger import Ledger
from core.workload.pod import NamespaceFacts
from extender.kube.api import Unreachable
from extender.kube.client import connect
from extender.kube.effector import Effector
from extender.verbs import CallFault, DeadlinePassed, NotReady, Outcome, Verbs
from tests.builders import make_node, make_partition, make_pod, make_queue, usage
from tests.extender.fake_api import FakeApi, Request
from tests.extender.reflector_bench import until
from tests.extender.rigs import Rig, bind_body, filter_body, pod_body

PODS = "/api/v1/namespaces/default/pods"


async def passed(seconds: float) -> None:
    """Wait until the loop's clock shows that a deadline is over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    await until(lambda: loop.time() > end)


# -- what the verb does ------------------------------------------------------------------------------------


async def test_a_binding_is_posted_for_this_uid_and_charged() -> None:
    rig = Rig()
    rig.filter("p")
    assert await rig.bind("p") == {}
    assert rig.api.posted == [PostBinding(PodUid("uid-p"), "default", "p", NodeName("n1"))]
    assert usage(rig.ledger, "root.a") == (1000, 0, 0)


async def test_the_node_is_charged_before_the_post_succeeds() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    call = asyncio.create_task(rig.bind("p"))
    await until(lambda: bool(rig.api.posted))
    use = rig.engine.snapshot.use_of(NodeName("n1"))
    assert use is not None
    assert use.allocated.get("vcore") == 1000
    rig.api.open.set()
    assert await call == {}


async def test_bound_twice_is_posted_once() -> None:
    rig = Rig()
    rig.filter("p")
    assert await rig.bind("p") == await rig.bind("p") == {}
    assert len(rig.api.posted) == 1


async def test_calls_at_the_same_time_are_posted_once() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    calls = [asyncio.create_task(rig.bind("p")) for _ in range(4)]
    await until(lambda: bool(rig.api.posted))
    rig.api.open.set()
    assert await asyncio.gather(*calls) == [{}, {}, {}, {}]
    assert len(rig.api.posted) == 1


async def test_a_second_call_for_another_node_is_told_of_the_first() -> None:
    rig = Rig()
    rig.filter("p")
    await rig.bind("p", "n1")
    with pytest.raises(CallFault, match="already bound to n1"):
        await rig.bind("p", "n2")
    assert len(rig.api.posted) == 1


async def test_a_caller_that_hangs_up_leaves_the_binding_under_way() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    first = asyncio.create_task(rig.bind("p"))
    await until(lambda: bool(rig.api.posted))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.create_task(rig.bind("p"))
    rig.api.open.set()
    assert await second == {}
    assert len(rig.api.posted) == 1


async def test_a_refused_binding_gives_its_room_back() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1000}))
    rig.filter("p")
    rig.api.outcomes = [Outcome(False, message="no such node")]
    with pytest.raises(CallFault, match="no such node"):
        await rig.bind("p")
    assert usage(rig.ledger, "root.a") == (0, 0, 1000)
    assert rig.filter("q")["NodeNames"]


@pytest.mark.parametrize(
    "lost", [Outcome(False, certain=False, message="no answer"), Unreachable("cut", sent=True)]
)
async def test_a_binding_that_may_still_come_about_keeps_its_room(lost: Outcome | BaseException) -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1000}))
    rig.filter("p")
    rig.api.outcomes = [lost]
    with pytest.raises((CallFault, Unreachable)):
        await rig.bind("p")
    assert usage(rig.ledger, "root.a") == (0, 1000, 0)
    assert rig.filter("q")["NodeNames"] == []


async def test_without_a_live_reservation_there_must_be_headroom() -> None:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("late", cpu=2000, version=5)))
    rig.filter("late", cpu="2")
    rig.time += 31
    rig.engine.pass_time()
    rig.filter("quick", cpu="2")
    with pytest.raises(CallFault, match=r"QuotaExceeded: root\.a max vcore=2"):
        await rig.bind("late")
    assert rig.api.posted == []


async def test_without_a_live_reservation_headroom_is_enough() -> None:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("late", version=5)))
    rig.filter("late")
    rig.time += 31
    rig.engine.pass_time()
    assert await rig.bind("late") == {}


# -- uids not heard of -------------------------------------------------------------------------------------


async def test_an_unknown_managed_pod_is_read_and_admitted() -> None:
    rig = Rig()
    rig.api.pods["default", "p"] = make_pod("p", cpu=2000)
    rig.api.pods["default", "q"] = make_pod("q")
    assert await rig.bind("p") == {}
    with pytest.raises(CallFault, match="QuotaExceeded"):
        await rig.bind("q")
    assert [each.name for each in rig.api.posted] == ["p"]


async def test_an_unknown_unmanaged_pod_is_bound_as_it_is() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1}))
    rig.api.pods["default", "x"] = make_pod("x", scheduler_name="other", app="", queue="")
    assert await rig.bind("x") == {}
    assert usage(rig.ledger, "root.a") == (0, 0, 0)


async def test_an_unmanaged_pod_s_failure_is_told() -> None:
    rig = Rig()
    rig.api.pods["default", "x"] = make_pod("x", scheduler_name="other", app="", queue="")
    rig.api.outcomes = [Outcome(False, message="no such node")]
    with pytest.raises(CallFault, match="no such node"):
        await rig.bind("x")


@pytest.mark.parametrize("found", [{}, {("default", "p"): make_pod("p", uid="another")}])
async def test_an_unknown_pod_that_is_not_there_is_gone(found: dict[tuple[str, str], Any]) -> None:
    rig = Rig()
    rig.api.pods = found
    with pytest.raises(CallFault, match="pod is gone"):
        await rig.bind("p")
    assert rig.api.posted == []


async def test_a_pod_deleted_meanwhile_is_gone() -> None:
    rig = Rig()
    rig.filter("p")
    rig.engine.learn(on.PodObserved(make_pod("p", version=6)))
    rig.engine.learn(on.PodDeleted(PodUid("uid-p")))
    with pytest.raises(CallFault, match="pod is gone"):
        await rig.bind("p")
    assert rig.api.posted == []


# -- before the caches are synced ---------------------------------------------------------------------------


def now_synced(rig: Rig) -> None:
    rig.ledger.apply(
        on.Configured(make_partition(make_queue("root.a")), rig.engine.snapshot.settings), now=rig.time
    )
    for listed in (
        on.NodeObserved(make_node("n1")),
        on.NodesListed(frozenset({NodeName("n1")})),
        on.NamespaceObserved(NamespaceFacts("default")),
        on.NamespacesListed(frozenset({"default"})),
        on.PodsListed(frozenset(), 0),
    ):
        rig.ledger.apply(listed, now=rig.time)
    rig.synced.set()


async def test_a_managed_pod_is_held_until_the_caches_are_synced() -> None:
    rig = Rig(ledger=Ledger())
    rig.api.pods["default", "p"] = make_pod("p")
    call = asyncio.create_task(rig.bind("p"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not call.done()
    now_synced(rig)
    assert await call == {}
    assert usage(rig.ledger, "root.a") == (1000, 0, 0)


async def test_a_managed_pod_is_held_no_longer_than_the_deadline() -> None:
    rig = Rig(ledger=Ledger())
    rig.verbs.bind_deadline = 0.05
    rig.api.pods["default", "p"] = make_pod("p")
    with pytest.raises(NotReady):
        await rig.bind("p")
    assert rig.api.posted == []


async def test_an_unmanaged_pod_does_not_wait_for_the_caches() -> None:
    rig = Rig(ledger=Ledger())
    rig.filter("dns", namespace="kube-system")
    assert await rig.bind("dns", namespace="kube-system") == {}


async def test_a_class_found_by_filter_is_remembered_before_the_sync() -> None:
    rig = Rig(ledger=Ledger())
    rig.verbs.bind_deadline = 0.05
    with pytest.raises(NotReady):
        rig.filter("p")
    with pytest.raises(NotReady):
        await rig.bind("p")
    assert rig.api.posted == []


async def test_after_the_deadline_nothing_is_sent() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    rig.api.outcomes = [Outcome(False, certain=False, message="no answer")]
    rig.verbs.bind_deadline = 0.05
    first = asyncio.create_task(rig.bind("p"))
    await until(lambda: bool(rig.api.posted))
    second = asyncio.create_task(rig.bind("p"))
    await passed(0.06)
    rig.api.open.set()
    with pytest.raises(CallFault, match="no answer"):
        await first
    with pytest.raises(DeadlinePassed, match="nothing was sent"):
        await second
    assert len(rig.api.posted) == 1


# -- with an API server --------------------------------------------------------------------------------------


class Cluster:
    """A rig whose bind calls reach a fake API server."""

    def __init__(self, api: FakeApi, rig: Rig, effector: Effector) -> None:
        self.api = api
        self.rig = rig
        rig.verbs = Verbs(rig.engine, effector, synced=rig.synced, bind_deadline=5.0)

    def pending(self, name: str = "p") -> None:
        """A pod that has passed filter."""
        self.api.apply(PODS, pod_body(name))
        assert json.loads(self.rig.verbs.filter(filter_body(name)))["NodeNames"]

    def bindings(self) -> list[Request]:
        return [each for each in self.api.requests if each.path.endswith("/binding")]

    def node_of(self, name: str = "p") -> str:
        pod = self.api.find(PODS, name)
        assert pod is not None
        return str(pod["spec"].get("nodeName", ""))


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    api = await FakeApi().start()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(api.kubeconfig()))
    rig = Rig()
    async with await connect(kubeconfig=str(kubeconfig)) as client:
        effector = Effector(
            client, learn=rig.engine.learn, may_act=lambda: False, count=lambda effect, outcome: None
        )
        yield Cluster(api, rig, effector)
    await api.stop()


async def test_the_binding_on_the_wire(cluster: Cluster) -> None:
    cluster.pending()
    assert await cluster.rig.bind("p") == {}
    (sent,) = cluster.bindings()
    assert (sent.method, sent.path) == ("POST", f"{PODS}/p/binding")
    assert sent.json["metadata"] == {"name": "p", "namespace": "default", "uid": "uid-p"}
    assert sent.json["target"] == {"apiVersion": "v1", "kind": "Node", "name": "n1"}


@pytest.mark.parametrize(("bound_to", "asked"), [("n1", "n1"), ("n2", "n1")])
async def test_a_pod_that_is_bound_already(cluster: Cluster, bound_to: str, asked: str) -> None:
    """409 to the same node is success, to another one a fault."""
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
    """The first of the two may have bound the pod: its room stays charged until the watch tells."""
    cluster.pending()
    cluster.api.lose_next_reply(method="POST", path="/binding")
    call = asyncio.create_task(cluster.rig.bind("p"))
    await until(lambda: cluster.node_of() == "n1")
    cluster.api.fail_next(403, method="POST", path="/binding")
    with pytest.raises(CallFault, match="the test wants 403"):
        await call
    assert usage(cluster.rig.ledger, "root.a") == (0, 1000, 0)


async def test_a_pod_that_is_gone_or_replaced_is_not_bound(cluster: Cluster) -> None:
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
    cluster.rig.verbs.bind_deadline = 0.3
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


async def test_silence_until_the_deadline_keeps_the_room(cluster: Cluster) -> None:
    cluster.pending()
    forever = asyncio.Event()

    async def answer(_: Request) -> web.Response | None:
        await forever.wait()
        return None

    cluster.api.break_next(answer, method="POST", path="/binding")
    cluster.rig.verbs.bind_deadline = 0.2
    with pytest.raises(CallFault, match="did not answer in time"):
        await cluster.rig.bind("p")
    forever.set()
    assert usage(cluster.rig.ledger, "root.a") == (0, 1000, 0)


async def test_a_binding_whose_caller_is_gone_is_still_counted(cluster: Cluster) -> None:
    cluster.pending()
    arrived, released = asyncio.Event(), asyncio.Event()

    async def late(_: Request) -> web.Response | None:
        arrived.set()
        await released.wait()
        return None

    cluster.api.break_next(late, method="POST", path="/binding")
    call = asyncio.create_task(cluster.rig.verbs.bind(bind_body("p")))
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    released.set()
    await until(lambda: usage(cluster.rig.ledger, "root.a") == (1000, 0, 0))
    assert cluster.node_of() == "n1"
