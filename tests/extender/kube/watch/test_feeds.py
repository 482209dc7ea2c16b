"""Followed kinds, the order of their reports, and the result of the two ConfigMaps."""

import asyncio
from typing import Any, TypeVar

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.workload.daemon_set import DaemonSetKey
from core.workload.nodes.affinity import Requirement
from extender.configuration.sources import ConfigMapData
from extender.kube.connection.api import KubeError
from extender.kube.connection.client import ApiClient
from extender.kube.watch.feeds import ConfigMapFeed, ConfigMapSeen, Feeds
from extender.kube.watch.reporting import Silence
from extender.wire import kinds
from tests.extender.fake_api import FakeApi
from tests.extender.reflector_bench import cancelled, until
from tests.extender.rigs import pod_body

NAMESPACES = "/api/v1/namespaces"
NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
DAEMON_SETS = "/apis/apps/v1/namespaces/default/daemonsets"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
CONFIG_MAPS = "/api/v1/namespaces/paddock-system/configmaps"

F = TypeVar("F")


class Bench:
    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.client = client
        self.reported: list[on.Event] = []
        self.configured = asyncio.Event()
        self.feeds = Feeds(client, self.reported.append, reporter=Silence(), configured=self.configured.wait)
        self.offers: list[tuple[ConfigMapData | None, ConfigMapData | None, str]] = []

    def fill(self) -> None:
        self.api.apply(NAMESPACES, {"metadata": {"name": "default"}})
        self.api.apply(NODES, {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4"}}})
        self.api.apply(CLASSES, {"metadata": {"name": "high"}, "value": 1000})
        self.budget("db", 1)
        self.pod("p")

    def pod(self, name: str, created: str = "2026-01-01T00:00:00Z", **status: Any) -> None:
        body = pod_body(name)
        body["metadata"]["creationTimestamp"] = created
        self.api.apply(PODS, {**body, "status": status or body["status"]})

    def budget(self, name: str, allowed: int, *, observed: int = 1) -> None:
        self.api.apply(
            BUDGETS,
            {
                "metadata": {"name": name, "generation": 1},
                "spec": {"selector": {"matchLabels": {"app": name}}},
                "status": {"disruptionsAllowed": allowed, "observedGeneration": observed},
            },
        )

    def kinds(self) -> list[str]:
        """Names of the events. Names of events about other objects than pods end with their kind."""
        kinds = ((event, getattr(event, "kind", None)) for event in self.reported)
        return [type(event).__name__ + (f" {kind.name}" if kind else "") for event, kind in kinds]

    def observed(self, kind: on.ObjectKind[Any, F]) -> list[F]:
        return [
            each.facts for each in self.reported if isinstance(each, on.ObjectObserved) and each.kind is kind
        ]

    def asked(self) -> list[str]:
        return [each.path.rpartition("/")[2] for each in self.api.requests]

    def offer(
        self, defaults: ConfigMapData | None, configs: ConfigMapData | None, last: ConfigMapSeen | None
    ) -> None:
        self.offers.append((defaults, configs, last.name if last else ""))

    def config_map_feed(self) -> ConfigMapFeed:
        return ConfigMapFeed(self.client, "paddock-system", self.offer, Silence())

    def config_map(self, name: str, **data: str) -> None:
        self.api.apply(CONFIG_MAPS, {"metadata": {"name": f"yunikorn-{name}"}, "data": data})


@pytest.fixture
async def bench(api: FakeApi, client: ApiClient) -> Bench:
    return Bench(api, client)


async def test_pods_come_after_namespaces_configuration_and_nodes(bench: Bench) -> None:
    bench.fill()
    running = asyncio.create_task(bench.feeds.run())
    await until(
        lambda: (
            {
                "ObjectsListed namespaces",
                "ObjectsListed priorityclasses",
                "ObjectsListed poddisruptionbudgets",
            }
            <= set(bench.kinds())
        )
    )
    # All watches are open, so every list that does not depend on the configuration has been requested.
    await until(lambda: bench.api.watching == 4)
    assert not {"nodes", "pods"} & set(bench.asked())
    bench.configured.set()
    async with asyncio.timeout(5):
        await bench.feeds.wait_synced()
    kinds = bench.kinds()
    assert (
        kinds.index("ObjectsListed namespaces")
        < kinds.index("ObjectsListed nodes")
        < kinds.index("PodObserved")
    )
    assert kinds[-1] == "PodsListed"
    await cancelled(running)


async def test_a_slow_list_of_namespaces_holds_up_the_pods(bench: Bench) -> None:
    bench.fill()
    bench.configured.set()
    bench.api.fail_next(500, path=NAMESPACES, watch=False, times=1)
    running = asyncio.create_task(bench.feeds.run())
    async with asyncio.timeout(5):
        await bench.feeds.wait_synced()
    kinds = bench.kinds()
    assert kinds.index("ObjectsListed namespaces") < kinds.index("PodObserved")
    await cancelled(running)


async def test_every_kind_is_reported_with_its_list(bench: Bench) -> None:
    bench.fill()
    bench.configured.set()
    running = asyncio.create_task(bench.feeds.run())
    async with asyncio.timeout(5):
        await bench.feeds.wait_synced()
    assert on.ObjectsListed(on.NODES, frozenset({NodeName("n1")})) in bench.reported
    assert on.ObjectsListed(on.NAMESPACES, frozenset({"default"})) in bench.reported
    assert on.ObjectsListed(on.PRIORITY_CLASSES, frozenset({"high"})) in bench.reported
    assert on.ObjectsListed(on.BUDGETS, frozenset({("default", "db")})) in bench.reported
    (pods,) = [event for event in bench.reported if isinstance(event, on.PodsListed)]
    assert pods.uids == {"uid-p"}
    reported = bench.kinds()
    assert reported.index("PodsListBegun") < reported.index("PodObserved") < reported.index("PodsListed")
    await cancelled(running)


@pytest.mark.rule("APP-19")
async def test_pods_are_reported_in_the_order_of_their_creation(bench: Bench) -> None:
    for name, created in (("c", "2026-01-03"), ("a", "2026-01-02"), ("z", "2026-01-01"), ("b", "2026-01-02")):
        bench.pod(name, f"{created}T00:00:00Z")
    bench.configured.set()
    running = asyncio.create_task(bench.feeds.run())
    async with asyncio.timeout(5):
        await bench.feeds.wait_synced()
    names = [event.pod.name for event in bench.reported if isinstance(event, on.PodObserved)]
    assert names == ["z", "a", "b", "c"]
    await cancelled(running)


async def test_a_pod_that_ends_is_reported_as_deleted(bench: Bench) -> None:
    bench.pod("done", phase="Succeeded")
    bench.pod("p")
    bench.configured.set()
    running = asyncio.create_task(bench.feeds.run())
    async with asyncio.timeout(5):
        await bench.feeds.wait_synced()
    assert [event.pod.name for event in bench.reported if isinstance(event, on.PodObserved)] == ["p"]
    await until(lambda: bench.api.watching == 6)
    bench.pod("p", phase="Failed")
    await until(lambda: bench.reported[-1] == on.PodDeleted(PodUid("uid-p")))
    await cancelled(running)


async def test_deletions_of_every_kind(bench: Bench) -> None:
    bench.fill()
    bench.configured.set()
    running = asyncio.create_task(bench.feeds.run())
    await until(lambda: bench.api.watching == 6)
    bench.api.delete(NODES, "n1")
    bench.api.delete(CLASSES, "high")
    bench.api.delete(BUDGETS, "db")
    bench.api.delete(NAMESPACES, "default")
    expected = {
        on.ObjectDeleted(on.NODES, NodeName("n1")),
        on.ObjectDeleted(on.PRIORITY_CLASSES, "high"),
        on.ObjectDeleted(on.BUDGETS, ("default", "db")),
        on.ObjectDeleted(on.NAMESPACES, "default"),
    }
    await until(lambda: all(each in bench.reported for each in expected))
    await cancelled(running)


async def test_an_unreadable_pod_hides_no_other_and_does_not_count_as_deleted(bench: Bench) -> None:
    bench.pod("p")
    broken = pod_body("broken")
    broken["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "-1"
    bench.api.apply(PODS, broken)
    bench.configured.set()
    running = asyncio.create_task(bench.feeds.run())
    async with asyncio.timeout(5):
        await bench.feeds.wait_synced()
    assert bench.kinds().count("PodObserved") == 1
    (listed,) = [event for event in bench.reported if isinstance(event, on.PodsListed)]
    assert listed.uids == {"uid-p", "uid-broken"}
    await cancelled(running)


async def test_a_budget_is_followed(bench: Bench) -> None:
    bench.fill()
    bench.configured.set()
    running = asyncio.create_task(bench.feeds.run())
    await until(lambda: bench.api.watching == 6)
    bench.budget("db", 0)
    bench.budget("db", 1, observed=0)
    bench.budget("db", 2)
    await until(lambda: bench.kinds().count("ObjectObserved poddisruptionbudgets") == 4)
    budgets = bench.observed(on.BUDGETS)
    assert [budget.allowed for budget in budgets] == [1, 0, 0, 2]
    assert {budget.selector for budget in budgets} == {(Requirement("app", "In", ("db",)),)}
    await cancelled(running)


async def test_budgets_that_may_not_be_read_are_missed_and_named(bench: Bench) -> None:
    """As with every other kind, Paddock is not ready and says why."""
    bench.fill()
    bench.configured.set()
    bench.api.fail_next(403, path="poddisruptionbudgets", times=2)
    running = asyncio.create_task(bench.feeds.run())
    await until(lambda: bool(bench.feeds.of(kinds.BUDGETS).error) and bench.feeds.pods.synced.is_set())
    assert "the test wants 403" in bench.feeds.of(kinds.BUDGETS).error
    assert not bench.feeds.of(kinds.BUDGETS).synced.is_set()
    async with asyncio.timeout(5):
        await bench.feeds.wait_synced()
    assert bench.feeds.of(kinds.BUDGETS).error == ""
    await cancelled(running)


async def test_daemon_sets_are_followed(bench: Bench) -> None:
    bench.fill()
    bench.configured.set()
    running = asyncio.create_task(bench.feeds.run())
    await until(lambda: bench.api.watching == 6)
    assert on.ObjectsListed(on.DAEMON_SETS, frozenset()) in bench.reported
    body = {"metadata": {"name": "agents"}, "spec": {"selector": {"matchLabels": {"app": "agents"}}}}
    bench.api.apply(DAEMON_SETS, body)
    bench.api.delete(DAEMON_SETS, "agents")
    key = DaemonSetKey("default", "agents")
    await until(lambda: on.ObjectDeleted(on.DAEMON_SETS, key) in bench.reported)
    (observed,) = bench.observed(on.DAEMON_SETS)
    assert (observed.key, observed.selector) == (key, (Requirement("app", "In", ("agents",)),))
    assert observed.uid
    await cancelled(running)


async def test_nothing_waits_for_daemon_sets_that_may_not_be_listed(bench: Bench) -> None:
    """F-10: with an old role it is reported once. When the right is granted, they are read."""
    bench.fill()
    bench.configured.set()
    reported: list[str] = []

    class Heard(Silence):
        def interrupted(self, kind: str, error: KubeError, pause: float) -> None:
            reported.append(f"{kind}: {error}")

    feeds = Feeds(bench.client, bench.reported.append, reporter=Heard(), configured=bench.configured.wait)
    bench.api.fail_next(403, path="daemonsets", times=3)
    running = asyncio.create_task(feeds.run())
    async with asyncio.timeout(5):
        await feeds.wait_synced()
    assert not feeds.of(kinds.DAEMON_SETS).synced.is_set()
    async with asyncio.timeout(5):
        await feeds.of(kinds.DAEMON_SETS).synced.wait()
    assert reported == ["daemonsets: 403 Forbidden: the test wants 403"]
    await cancelled(running)


# -- the two ConfigMaps -----------------------------------------------------------------------------------


@pytest.mark.rule("SRC-7")
async def test_nothing_is_offered_before_both_maps_were_read(bench: Bench) -> None:
    bench.config_map("configs", a="1")
    bench.api.fail_next(500, path="configmaps", watch=False)
    running = asyncio.create_task(bench.config_map_feed().run())
    await until(lambda: bool(bench.offers))
    assert [offer[:2] for offer in bench.offers] == [(None, ConfigMapData({"a": "1"}, {}))]
    await cancelled(running)


async def test_both_maps_are_offered_together(bench: Bench) -> None:
    bench.config_map("defaults", a="1")
    bench.config_map("configs", b="2")
    running = asyncio.create_task(bench.config_map_feed().run())
    await until(lambda: bool(bench.offers))
    both = ConfigMapData({"a": "1"}, {}), ConfigMapData({"b": "2"}, {})
    assert [offer[:2] for offer in bench.offers] == [both]
    await until(lambda: bench.api.watching == 2)
    bench.config_map("configs", b="3")
    await until(lambda: len(bench.offers) == 2)
    assert bench.offers[-1] == (both[0], ConfigMapData({"b": "3"}, {}), "yunikorn-configs")
    await cancelled(running)


async def test_other_maps_are_of_no_interest(bench: Bench) -> None:
    bench.config_map("other", a="1")
    running = asyncio.create_task(bench.config_map_feed().run())
    await until(lambda: bench.api.watching == 2)
    bench.config_map("other", a="2")
    for number, name in enumerate(("defaults", "configs")):
        bench.config_map(name, b="3")
        await until(lambda seen=number + 2: len(bench.offers) == seen)
    assert bench.offers[0] == (None, None, "")
    assert [last for _, _, last in bench.offers] == ["", "yunikorn-defaults", "yunikorn-configs"]
    await cancelled(running)


@pytest.mark.rule("SRC-7")
async def test_a_map_that_is_deleted_counts_as_empty(bench: Bench) -> None:
    bench.config_map("defaults", a="1")
    bench.config_map("configs", b="2")
    running = asyncio.create_task(bench.config_map_feed().run())
    await until(lambda: bench.api.watching == 2)
    bench.api.delete(CONFIG_MAPS, "yunikorn-configs")
    await until(lambda: len(bench.offers) == 2)
    assert bench.offers[-1] == (ConfigMapData({"a": "1"}, {}), None, "")
    await cancelled(running)


async def test_a_map_deleted_without_a_watch_counts_as_empty(bench: Bench) -> None:
    bench.config_map("defaults", a="1")
    bench.config_map("configs", b="2")
    running = asyncio.create_task(bench.config_map_feed().run())
    await until(lambda: bench.api.watching == 2)
    await bench.api.stop()
    bench.api.delete(CONFIG_MAPS, "yunikorn-configs")
    bench.api.compact()
    await bench.api.start()
    await until(lambda: (ConfigMapData({"a": "1"}, {}), None, "") in bench.offers)
    await cancelled(running)
