"""Guarantees on the real control plane: a queue below its guarantee gets it back, and no other pod goes."""

import time

import pytest

from e2e.cluster.client import Cluster
from e2e.cluster.daemon_sets import daemon_set, of_daemon_set
from e2e.stands.course import say
from e2e.stands.preemption import DELAY, Contest, contest, queue
from e2e.stands.stand import eventually

SIBLINGS = {
    "root.tenants": queue(),
    "root.tenants.poor": queue(guaranteed=4),
    "root.tenants.rich": queue(guaranteed=4),
}


@pytest.mark.smoke("preemption")
async def test_a_sibling_gives_back_what_is_guaranteed_at_equal_priority(cluster: Cluster) -> None:
    """kube-scheduler alone would do nothing, and does not ask."""
    async with contest(cluster, SIBLINGS, nodes=2, cores=4) as here:
        rich = await here.run("rich", 8, queue="root.tenants.rich")
        created = time.monotonic()
        await cluster.create_pod("poor", queue="root.tenants.poor")
        await here.until_bound("poor")
        say(f"with a delay of {DELAY}, created to bound", [here.course.bound["poor"] - created])
        newest = [name for name in rich if here.node_of(name) == "n1"][-1]
        assert here.exits.left == [newest]
        assert here.node_of("poor") == here.node_of(newest)
        await _assert_receipts(here, newest, "poor")
        await here.until_evicted(1)
        assert await here.asked() == 0
        more = ["poor-1", "poor-2", "poor-3"]
        await cluster.create_pods(cluster.pod(name, queue="root.tenants.poor") for name in more)
        await here.until_bound(*more)
        await cluster.create_pod("above", queue="root.tenants.poor")
        await here.until_refused("above", "LAW-4")
        assert len(here.exits.left) == 4
        await here.until_evicted(4)


async def _assert_receipts(here: Contest, victim: str, preemptor: str) -> None:
    """Assert receipts: annotation and Event on the victim, in full on the admin port, and in the metrics."""
    namespace = here.cluster.namespace
    ask = here.pods.named(preemptor)
    assert ask is not None
    laws = [f"LAW-{number}" for number in (2, 3, 5, 6, 7)]
    note, said = here.exits.receipts[victim], await here.until_event(victim)
    assert note.startswith(f"{ask['metadata']['uid']}/")
    assert "(guarantee: LAW-" in note
    assert f" to {namespace}/{preemptor} of application " in said
    (begun,) = await eventually(lambda: here.events(preemptor, "Preempting"), f"an Event on {preemptor}")
    assert (begun["type"], begun["message"]) == ("Normal", f"{namespace}/{victim} is evicted for it")
    assert all(law in text for law in laws for text in (note, said)), (note, said)
    plan = await here.plan_for(preemptor)
    assert (plan["by"], plan["kind"], plan["node"]) == ("tick", "guarantee", here.node_of(victim))
    assert plan["victims"] == [f"{namespace}/{victim}"]
    (receipt,) = plan["receipt"]["victims"]
    assert [each["law"] for each in receipt["findings"]] == laws
    assert {each["law"] for each in plan["receipt"]["preemptor"]} == {"LAW-4", "LAW-7"}
    metric = here.stand.paddock.metric
    assert await metric("paddock_preemption_plans_total", kind="guarantee") == 1
    assert await metric("paddock_preemption_victims_total", kind="guarantee") == 1


# -- fences --------------------------------------------------------------------------------------------------

FENCED = {
    "root.tenant": queue(preemption_policy="fence"),
    "root.tenant.a": queue(guaranteed=2),
    "root.tenant.b": queue(),
    "root.outside": queue(),
    "root.other": queue(guaranteed=1),
}


async def test_a_fence_keeps_preemption_inside(cluster: Cluster) -> None:
    """Pods outside are newer, but a pod inside is evicted. Then there is none, and no pod is evicted."""
    async with contest(cluster, FENCED, nodes=1, cores=4) as here:
        await here.run("inside", 1, queue="root.tenant.b")
        outside = await here.run("outside", 3, queue="root.outside")
        await cluster.create_pod("first", queue="root.tenant.a")
        await here.until_bound("first")
        assert here.exits.left == ["inside-0"]
        await cluster.create_pod("second", queue="root.tenant.a")
        refused = await here.until_refused("second", "LAW-7")
        assert refused["why"]["text"] == "no pod below root.tenant may be evicted"
        assert here.exits.left == ["inside-0"]
        # Only the fence stopped it: a queue without one takes from outside.
        await cluster.create_pod("other", queue="root.other")
        await here.until_bound("other")
        assert here.exits.left == ["inside-0", outside[-1]]


# -- a DaemonSet's pod ---------------------------------------------------------------------------------------

PLAIN = {"root.daemons": queue(), "root.work": queue(preemption_policy="disabled")}


async def test_a_pod_of_a_daemonset_gets_its_capacity_on_its_node(cluster: Cluster) -> None:
    """Neither guarantees nor switches count.

    As few pods of its node as needed are evicted, of others none.
    """
    async with contest(cluster, PLAIN, nodes=2, cores=4) as here:
        for node in ("n1", "n2"):
            await here.run(f"on-{node}", 4, queue="root.work", node=node)
        agents = await cluster.create(daemon_set(cluster, "agents"))
        pod = of_daemon_set(cluster, "daemon", node="n2", uid=agents["metadata"]["uid"], cpu="2")
        await cluster.create(pod)
        await here.until_bound("daemon")
        assert here.node_of("daemon") == "n2"
        assert sorted(here.exits.left) == ["on-n2-2", "on-n2-3"]
        plan = await here.plan_for("daemon")
        assert (plan["kind"], plan["node"]) == ("required-node", "n2")
        assert "RNP-2" in here.exits.receipts["on-n2-3"]


# -- more than one at once -----------------------------------------------------------------------------------

TWO = {"root.left": queue(guaranteed=2), "root.right": queue(guaranteed=2), "root.rich": queue()}


async def test_two_at_once_do_not_share_the_capacity_of_one_victim(cluster: Cluster) -> None:
    """Of one queue and of two: each has its own victims, and no more are evicted than needed."""
    async with contest(cluster, TWO, nodes=2, cores=4) as here:
        rich = await here.run("rich", 8, queue="root.rich", grace=1)
        asks = {
            "left-0": "root.left",
            "left-1": "root.left",
            "right-0": "root.right",
            "right-1": "root.right",
        }
        await cluster.create_pods(cluster.pod(name, queue=path) for name, path in asks.items())
        await here.until_bound(*asks)
        assert len(here.exits.left) == len(asks)
        assert {*here.exits.left} < {*rich}
        plans = [await here.plan_for(name) for name in asks]
        assert sorted(name for plan in plans for name in plan["victims"]) == sorted(
            f"{cluster.namespace}/{name}" for name in here.exits.left
        )
        await here.until_evicted(len(asks))


# -- behind Paddock's gate -----------------------------------------------------------------------------------


async def test_a_gated_pod_is_released_when_its_capacity_is_there(cluster: Cluster) -> None:
    """kube-scheduler has never seen it, and rivals of the same priority wait behind gates as well."""
    gated = {"schedulingGates": [{"name": "paddock.dev/queue"}]}
    async with contest(cluster, TWO, nodes=1, cores=3) as here:
        rich = await here.run("rich", 3, queue="root.rich", grace=1)
        await cluster.create_pods(
            cluster.pod(f"rival-{at}", queue="root.rich", spec=gated) for at in range(2)
        )
        await cluster.create_pod("poor", queue="root.left", cpu="2", spec=gated)
        await here.until_bound("poor")
        assert {*here.exits.left} == {rich[1], rich[2]}
        assert {*here.course.bound} == {*rich, "poor"}
        assert await here.stand.paddock.metric("paddock_verb_seconds_count", verb="preempt") == 0
        await cluster.delete_pod("poor")
        await here.until_bound("rival-0", "rival-1")
