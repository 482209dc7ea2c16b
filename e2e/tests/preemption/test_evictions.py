"""Evictions on Paddock's own account against the real API server, with the shipped role: how each ends.

No disruption controller runs here, so a test itself writes what a budget allows.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import DeletePod, Effect, EvictPod
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.workload.budget import BudgetFacts, disruptions_left
from e2e.cluster.client import ApiFailure, Cluster, Object, node_of, path_of
from e2e.cluster.watching import PodCache
from e2e.stands.gangs import PLACEHOLDER
from e2e.stands.stand import Stand, eventually
from extender.kube.connection.client import connect
from extender.kube.effects.effector import Effector
from extender.kube.watch.feeds import Feeds
from extender.kube.watch.reporting import Silence
from extender.wire import kinds

LABELS = {"tier": "db"}
USER = "paddock-certificate"


class Hand:
    """Paddock's effector and its watch of budgets, as the account that the shipped role is bound to."""

    def __init__(self) -> None:
        self.learned: list[on.Event] = []
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.perform: Callable[[Effect], None]

    async def ended(self, uid: str) -> EvictionOutcome:
        """The outcome of a pod's eviction, returned to the first caller."""

        async def ask() -> on.PodEvicted | None:
            ends = (each for each in self.learned if isinstance(each, on.PodEvicted))
            return next((each for each in ends if each.uid == uid), None)

        end = await eventually(ask, "the end of an eviction")
        self.learned.remove(end)
        return end.outcome

    def left(self, namespace: str) -> int | None:
        """The number of disruptions that budgets allow pods with `LABELS`, as last reported."""
        there: dict[str, BudgetFacts] = {}
        for each in self.learned:
            match each:
                case on.ObjectObserved(_, BudgetFacts() as budget) if budget.namespace == namespace:
                    there[budget.name] = budget
                case on.ObjectDeleted(on.BUDGETS, (where, name)) if where == namespace:
                    there.pop(name, None)
        return disruptions_left({namespace: there}, namespace, LABELS)

    async def until_left(self, namespace: str, left: int | None) -> None:
        async def ask() -> bool:
            return self.left(namespace) == left

        await eventually(ask, f"{left} disruptions are left")


@asynccontextmanager
async def acting(cluster: Cluster) -> AsyncIterator[Hand]:
    hand = Hand()
    kubeconfig = cluster.control_plane.kubeconfig(USER)
    async with await connect(kubeconfig=str(kubeconfig)) as client:
        effector = Effector(
            client,
            learn=hand.learned.append,
            may_act=lambda: True,
            count=lambda effect, outcome: hand.outcomes.update([(effect, outcome)]),
        )
        hand.perform = effector.perform
        feeds = Feeds(client, hand.learned.append, reporter=Silence(), configured=asyncio.Event().wait)
        tasks = [asyncio.create_task(effector.run()), asyncio.create_task(feeds.of(kinds.BUDGETS).run())]
        await asyncio.wait_for(feeds.of(kinds.BUDGETS).synced.wait(), 10)
        yield hand
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


# -- tests ---------------------------------------------------------------------------------------------------


async def test_a_pod_is_evicted_and_only_this_one(cluster: Cluster) -> None:
    async with Stand(cluster, {"a": {}}) as stand, acting(cluster) as hand:
        await cluster.add_nodes(1)
        pod = await running(cluster, stand.pods, "victim", grace=1)
        hand.perform(evict(pod, uid="uid-of-its-predecessor"))
        assert await hand.ended("uid-of-its-predecessor") is EvictionOutcome.NOT_FOUND
        assert leaving(stand.pods, "victim") is False
        hand.perform(evict(pod))
        assert await hand.ended(uid_of(pod)) is EvictionOutcome.DONE
        await stand.pods.until(lambda: leaving(stand.pods, "victim") is not False, "it leaves")
        await stand.pods.until(lambda: leaving(stand.pods, "victim") is None, "it is gone")
        hand.perform(evict(pod))
        assert await hand.ended(uid_of(pod)) is EvictionOutcome.NOT_FOUND
        assert hand.outcomes == {("EvictPod", "done"): 1, ("EvictPod", "object gone"): 2}
        await stand.audited()


async def test_a_budget_spares_a_pod_until_it_allows_one(cluster: Cluster) -> None:
    """The watch shows what is left of it, down to what the eviction itself takes."""
    namespace = cluster.namespace
    async with Stand(cluster, {"a": {}}) as stand, acting(cluster) as hand:
        await cluster.add_nodes(1)
        first, second = [await running(cluster, stand.pods, name) for name in ("db-0", "db-1")]
        await budget(cluster, "db")
        # The budget has no status yet: until it has one, the API server evicts no pod.
        await hand.until_left(namespace, 0)
        hand.perform(evict(first))
        assert await hand.ended(uid_of(first)) is EvictionOutcome.BUDGET
        await allow(cluster, "db", 1)
        await hand.until_left(namespace, 1)
        hand.perform(evict(first))
        assert await hand.ended(uid_of(first)) is EvictionOutcome.DONE
        await hand.until_left(namespace, 0)
        hand.perform(evict(second))
        assert await hand.ended(uid_of(second)) is EvictionOutcome.BUDGET
        assert leaving(stand.pods, "db-1") is False
        assert hand.outcomes == {("EvictPod", "done"): 1, ("EvictPod", "budget"): 2}
        await stand.pods.until(lambda: leaving(stand.pods, "db-0") is None, "it is gone")
        await stand.audited()


async def test_pods_that_the_selectors_of_budgets_cover(cluster: Cluster) -> None:
    """No selector covers no pod, an empty one every pod. A pod under two budgets is evicted by neither."""
    namespace = cluster.namespace
    async with Stand(cluster, {"a": {}}) as stand, acting(cluster) as hand:
        await cluster.add_nodes(1)
        pods = [await running(cluster, stand.pods, name) for name in ("db-0", "db-1", "db-2")]
        await budget(cluster, "none", {})
        await allow(cluster, "none", 0)
        hand.perform(evict(pods[0]))
        assert await hand.ended(uid_of(pods[0])) is EvictionOutcome.DONE
        assert hand.left(namespace) is None
        await budget(cluster, "all", {"selector": {}})
        await allow(cluster, "all", 0)
        await hand.until_left(namespace, 0)
        hand.perform(evict(pods[1]))
        assert await hand.ended(uid_of(pods[1])) is EvictionOutcome.BUDGET
        expressions = [{"key": "tier", "operator": "In", "values": ["db"]}]
        await budget(cluster, "some", {"selector": {"matchExpressions": expressions}})
        for name in ("all", "some"):
            await allow(cluster, name, 5)
        hand.perform(evict(pods[2]))
        assert await hand.ended(uid_of(pods[2])) is EvictionOutcome.BUDGET
        assert hand.left(namespace) == 0
        await cluster.request("DELETE", path_of("PodDisruptionBudget", namespace, "all"))
        await hand.until_left(namespace, 5)
        await stand.audited()


@pytest.mark.parametrize(
    ("policy", "ready", "healthy", "outcome"),
    [
        ("IfHealthyBudget", True, 2, EvictionOutcome.BUDGET),
        ("IfHealthyBudget", False, 2, EvictionOutcome.DONE),
        ("IfHealthyBudget", False, 0, EvictionOutcome.BUDGET),
        ("AlwaysAllow", True, 2, EvictionOutcome.BUDGET),
        ("AlwaysAllow", False, 0, EvictionOutcome.DONE),
        (None, False, 2, EvictionOutcome.DONE),
        (None, False, 0, EvictionOutcome.BUDGET),
    ],
)
async def test_a_budget_that_allows_no_eviction_and_pods_that_are_not_ready(
    cluster: Cluster, policy: str | None, ready: bool, healthy: int, outcome: EvictionOutcome
) -> None:
    """The subject is `unhealthyPodEvictionPolicy`.

    Paddock takes such a pod for guarded all the same. It is chosen late, its eviction is tried first, and the
    API server's answer counts.
    """
    async with Stand(cluster, {"a": {}}) as stand, acting(cluster) as hand:
        await cluster.add_nodes(1)
        pod = await running(cluster, stand.pods, "db-0")
        condition = {"type": "Ready", "status": str(ready)}
        path = path_of("Pod", cluster.namespace, "db-0")
        await cluster.patch(path + "/status", {"status": {"conditions": [condition]}})
        selecting = {"selector": {"matchLabels": LABELS}}
        await budget(cluster, "db", {**selecting, "unhealthyPodEvictionPolicy": policy})
        await allow(cluster, "db", 0, healthy=healthy)
        await hand.until_left(cluster.namespace, 0)
        hand.perform(evict(pod))
        assert await hand.ended(uid_of(pod)) is outcome


async def test_a_deletion_asks_no_budget_and_at_once_knows_no_grace(cluster: Cluster) -> None:
    async with Stand(cluster, {"a": {}}) as stand, acting(cluster) as hand:
        await cluster.add_nodes(1)
        # Any other its account may delete only with a verb of its own (F-20).
        pod = await running(cluster, stand.pods, "placeholder", grace=3600, annotations={PLACEHOLDER: "true"})
        await budget(cluster, "db")
        hand.perform(
            DeletePod(
                PodUid("uid-of-its-predecessor"),
                cluster.namespace,
                "placeholder",
                True,
                purpose=Purpose.REPLACEMENT,
            )
        )
        assert await hand.ended("uid-of-its-predecessor") is EvictionOutcome.NOT_FOUND
        hand.perform(
            DeletePod(
                PodUid(uid_of(pod)),
                cluster.namespace,
                "placeholder",
                at_once=True,
                purpose=Purpose.REPLACEMENT,
            )
        )
        assert await hand.ended(uid_of(pod)) is EvictionOutcome.DONE
        await stand.pods.until(lambda: leaving(stand.pods, "placeholder") is None, "it is gone")
        await stand.audited()


async def test_a_role_without_budgets_is_named(cluster: Cluster) -> None:
    """Paddock reports what it may not read, and is not ready until it may."""
    async with Stand(cluster, {"a": {}}) as stand:
        role = await cluster.request("GET", path_of("ClusterRole", name="paddock-core"))
        without = [rule for rule in role["rules"] if rule.get("apiGroups") != ["policy"]]
        await cluster.patch(path_of("ClusterRole", name="paddock-core"), {"rules": without})
        try:
            await eventually(lambda: _forbidden(cluster), "the role is in force")
            await stand.paddock.kill()
            await stand.paddock.start(wait=False)

            async def named() -> bool:
                status, text = await stand.paddock.get("/readyz")
                return status == 503 and "poddisruptionbudgets (403 Forbidden: " in text

            await eventually(named, "readyz names it", timeout=30)
        finally:
            await cluster.patch(path_of("ClusterRole", name="paddock-core"), {"rules": role["rules"]})
        await stand.paddock.until_ready()


# -- steps ---------------------------------------------------------------------------------------------------


def uid_of(pod: Object) -> str:
    return str(pod["metadata"]["uid"])


def evict(pod: Object, *, uid: str = "") -> EvictPod:
    metadata = pod["metadata"]
    return EvictPod(PodUid(uid or metadata["uid"]), metadata["namespace"], metadata["name"])


def leaving(pods: PodCache, name: str) -> bool | None:
    """True if a pod is terminating; None if it no longer exists."""
    pod = pods.named(name)
    return None if pod is None else "deletionTimestamp" in pod["metadata"]


async def running(cluster: Cluster, pods: PodCache, name: str, **pod: object) -> Object:
    """Create a running pod of `LABELS`. A pod that does not run is protected by no budget."""
    made = await cluster.create_pod(name, queue="root.a", labels=LABELS, **pod)

    def runs() -> bool:
        found = pods.named(name)
        return found is not None and bool(node_of(found)) and found["status"].get("phase") == "Running"

    await pods.until(runs, f"{name} runs")
    return made


async def budget(cluster: Cluster, name: str, spec: Object | None = None) -> None:
    """Create a budget, by default for pods of `LABELS`, with an empty status."""
    selecting = {"selector": {"matchLabels": LABELS}} if spec is None else spec
    await cluster.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": cluster.namespace},
            "spec": {"maxUnavailable": 1, **selecting},
        }
    )


async def allow(cluster: Cluster, name: str, disruptions: int, *, healthy: int = 2) -> None:
    """Write a budget's status, as the disruption controller does."""
    path = path_of("PodDisruptionBudget", cluster.namespace, name)
    there = await cluster.request("GET", path)
    status = {
        "observedGeneration": there["metadata"]["generation"],
        "disruptionsAllowed": disruptions,
        "currentHealthy": healthy,
        "desiredHealthy": 1,
        "expectedPods": 2,
    }
    await cluster.patch(path + "/status", {"status": status})


async def _forbidden(cluster: Cluster) -> bool:
    try:
        await cluster.request("GET", "/apis/policy/v1/poddisruptionbudgets", user=USER)
    except ApiFailure as failure:
        return failure.status == 403
    return False
