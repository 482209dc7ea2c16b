"""PodGroup objects on the wire, and the feed that follows them if a cluster has any (COS-10, COS-24)."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from core.errors import QuantityError
from core.ledger import events as on
from core.workload.gangs.gang import GroupSource, PodGroup
from core.workload.pod_group import GroupKey, PodGroupFacts, Terms
from extender.kube.connection.client import ApiClient
from extender.kube.watch.pod_groups import PodGroupFeed
from extender.kube.watch.reporting import Silence
from extender.wire.annotations.gang import PLUGIN_GROUP, POD_GROUP_MIN, POD_GROUP_NAME, pod_group_from
from extender.wire.objects.pod_group import POD_GROUP, pod_group_facts_from
from extender.wire.translate import POD, pod_from
from tests.extender.fake_api import FakeApi
from tests.extender.reflector_bench import cancelled, until
from tests.extender.rigs import pod_body

PLUGIN, NATIVE = GroupSource.PLUGIN, GroupSource.NATIVE
KEY = GroupKey("default", "g")
PLUGINS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
NATIVES = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"


def group(spec: Any, name: str = "g") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def terms(source: GroupSource, spec: Any) -> Terms:
    facts = pod_group_facts_from(source, POD_GROUP.decode(json.dumps(group(spec))))
    assert facts.key == KEY
    return facts.terms


@pytest.mark.rule("COS-10")
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minMember": 3}, Terms(3)),
        ({}, Terms(1)),
        ({"minMember": 0, "scheduleTimeoutSeconds": 0}, Terms(1)),
        ({"minMember": 2, "scheduleTimeoutSeconds": 7}, Terms(2, (), 7.0)),
        (
            {"minMember": 2, "minResources": {"cpu": "1500m", "memory": "1Ki", "nvidia.com/gpu": 2}},
            Terms(2, (("memory", 1024), ("nvidia.com/gpu", 2), ("vcore", 1500))),
        ),
        (
            {"minMember": 2, "minResources": {"paddock.dev/filter": 2, "cpu": "1"}},
            Terms(2, (("vcore", 1000),)),
        ),
        ({"minMember": 2, "minResources": {"cpu": "0", "memory": None}}, Terms(2)),
    ],
    ids=["members", "nothing", "zeros", "a time", "resources", "a marker, which no node has", "no amounts"],
)
def test_what_a_pod_group_of_scheduler_plugins_asks_for(spec: Any, expected: Terms) -> None:
    assert terms(PLUGIN, spec) == expected


@pytest.mark.rule("COS-24")
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"schedulingPolicy": {"gang": {"minCount": 4}}}, Terms(4)),
        ({"schedulingPolicy": {"basic": {}}}, Terms(0)),
        ({"schedulingPolicy": {"gang": {}}}, Terms(1)),
        ({}, Terms(0)),
        ({"minMember": 9, "schedulingPolicy": {"basic": {}}}, Terms(0)),
    ],
    ids=["gang", "basic", "gang of nothing", "nothing", "a field of the other kind"],
)
def test_what_a_native_pod_group_asks_for(spec: Any, expected: Terms) -> None:
    assert terms(NATIVE, spec) == expected


@pytest.mark.rule("COS-10")
def test_objects_that_cannot_be_read_are_errors() -> None:
    with pytest.raises(QuantityError):
        terms(PLUGIN, {"minMember": 1, "minResources": {"cpu": "much"}})
    with pytest.raises(msgspec.ValidationError):
        terms(PLUGIN, {"minMember": "three"})


@pytest.mark.rule("COS-10", "COS-24")
def test_which_of_the_groups_that_a_pod_names_counts() -> None:
    labels = {PLUGIN_GROUP: "plugin", POD_GROUP_NAME: "light", POD_GROUP_MIN: "2"}
    assert pod_group_from(labels, "native") == PodGroup("native", 0, NATIVE)
    assert pod_group_from(labels) == PodGroup("plugin", 0, PLUGIN)
    assert pod_group_from({**labels, PLUGIN_GROUP: ""}) == PodGroup("light", 2)


@pytest.mark.rule("COS-24")
def test_a_pods_scheduling_group() -> None:
    body = pod_body("p")
    body["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    assert pod_from(POD.decode(json.dumps(body))).pod_group == PodGroup("g", 0, NATIVE)
    body["spec"]["schedulingGroup"] = None
    assert pod_from(POD.decode(json.dumps(body))).pod_group is None


# -- the feed ----------------------------------------------------------------------------------------------


class Bench:
    def __init__(self, api: FakeApi, feed: PodGroupFeed, reported: list[on.Event]) -> None:
        self.api, self.feed, self.reported = api, feed, reported
        self.again = asyncio.Event()

    async def pause(self, _: float) -> None:
        """Wait until the test allows the next check."""
        await self.again.wait()
        self.again.clear()

    def serve(self) -> None:
        self.api.served = {
            "scheduling.x-k8s.io": {"v1alpha1": ["podgroups", "elasticquotas"]},
            "scheduling.k8s.io": {"v1": ["priorityclasses"], "v1alpha2": ["podgroups", "workloads"]},
        }


@pytest.fixture
async def bench(api: FakeApi, client: ApiClient) -> Bench:
    reported: list[on.Event] = []
    feed = PodGroupFeed(client, reported.append, Silence())
    made = Bench(api, feed, reported)
    feed.sleep = made.pause
    return made


@pytest.mark.rule("COS-10")
async def test_a_cluster_without_them_is_no_error(bench: Bench) -> None:
    task = asyncio.create_task(bench.feed.run())
    await asyncio.wait_for(bench.feed.synced.wait(), 5)
    assert (bench.reported, bench.feed.error) == ([], "")
    await cancelled(task)


@pytest.mark.rule("COS-10", "COS-24")
async def test_both_kinds_are_followed(bench: Bench) -> None:
    bench.serve()
    bench.api.apply(PLUGINS, group({"minMember": 3}))
    bench.api.apply(NATIVES, group({"schedulingPolicy": {"gang": {"minCount": 4}}}))
    task = asyncio.create_task(bench.feed.run())
    await asyncio.wait_for(bench.feed.synced.wait(), 5)
    for event in (
        on.ObjectObserved(on.POD_GROUPS[PLUGIN], PodGroupFacts(KEY, Terms(3))),
        on.ObjectsListed(on.POD_GROUPS[PLUGIN], frozenset({KEY})),
        on.ObjectObserved(on.POD_GROUPS[NATIVE], PodGroupFacts(KEY, Terms(4))),
        on.ObjectsListed(on.POD_GROUPS[NATIVE], frozenset({KEY})),
    ):
        assert event in bench.reported
    bench.api.apply(PLUGINS, group({"minMember": 5}))
    bench.api.delete(NATIVES, "g")
    await until(
        lambda: on.ObjectObserved(on.POD_GROUPS[PLUGIN], PodGroupFacts(KEY, Terms(5))) in bench.reported
    )
    await until(lambda: on.ObjectDeleted(on.POD_GROUPS[NATIVE], KEY) in bench.reported)
    await cancelled(task)


@pytest.mark.rule("COS-10")
async def test_an_api_that_comes_and_goes_is_noticed(bench: Bench) -> None:
    task = asyncio.create_task(bench.feed.run())
    await asyncio.wait_for(bench.feed.synced.wait(), 5)
    bench.serve()
    bench.again.set()
    await until(lambda: on.ObjectsListed(on.POD_GROUPS[PLUGIN], frozenset()) in bench.reported)
    del bench.api.served["scheduling.x-k8s.io"]
    bench.again.set()
    await until(lambda: on.KindUnserved(on.POD_GROUPS[PLUGIN]) in bench.reported)
    assert on.KindUnserved(on.POD_GROUPS[NATIVE]) not in bench.reported
    await cancelled(task)


@pytest.mark.rule("COS-10")
async def test_a_removed_api_is_noticed_within_the_minute(bench: Bench) -> None:
    """The watch ends and the list fails, so the next regular check need not be awaited."""
    bench.serve()
    task = asyncio.create_task(bench.feed.run())
    await asyncio.wait_for(bench.feed.synced.wait(), 5)
    del bench.api.served["scheduling.x-k8s.io"]
    bench.api.fail_next(404, path="/apis/scheduling.x-k8s.io/v1alpha1/podgroups")
    bench.api.end_watches()
    await until(lambda: on.KindUnserved(on.POD_GROUPS[PLUGIN]) in bench.reported)
    assert on.KindUnserved(on.POD_GROUPS[NATIVE]) not in bench.reported
    await cancelled(task)


async def test_a_kind_that_may_not_be_listed_delays_nothing(bench: Bench) -> None:
    bench.serve()
    bench.api.fail_next(403, path="/apis/scheduling.x-k8s.io/v1alpha1/podgroups")
    task = asyncio.create_task(bench.feed.run())
    await asyncio.wait_for(bench.feed.synced.wait(), 5)
    await until(lambda: on.ObjectsListed(on.POD_GROUPS[PLUGIN], frozenset()) in bench.reported)
    await cancelled(task)


@pytest.mark.parametrize("status", [403, 404, 405, 415])
async def test_what_may_not_be_asked_is_not_there(bench: Bench, status: int) -> None:
    bench.serve()
    bench.api.fail_next(status, path="/apis/scheduling.x-k8s.io")
    task = asyncio.create_task(bench.feed.run())
    await asyncio.wait_for(bench.feed.synced.wait(), 5)
    assert on.ObjectsListed(on.POD_GROUPS[PLUGIN], frozenset()) not in bench.reported
    assert on.ObjectsListed(on.POD_GROUPS[NATIVE], frozenset()) in bench.reported
    await cancelled(task)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_that_does_not_say_is_asked_again(bench: Bench, status: int) -> None:
    bench.api.fail_next(status, path="/apis/scheduling.x-k8s.io")
    task = asyncio.create_task(bench.feed.run())
    await until(lambda: bool(bench.api.requests))
    await until(lambda: bench.feed.error.startswith(str(status)))
    assert not bench.feed.synced.is_set()
    bench.again.set()
    await asyncio.wait_for(bench.feed.synced.wait(), 5)
    assert bench.feed.error == ""
    await cancelled(task)
