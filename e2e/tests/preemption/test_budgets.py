"""PodDisruptionBudgets and preemption: guarded pods go last, by the Eviction API, when it allows it.

No disruption controller runs here, so a test itself writes what a budget allows.
"""

from e2e.cluster.client import Cluster
from e2e.stands.preemption import Contest, contest, queue, with_port
from e2e.stands.stand import eventually
from e2e.tests.preemption.test_evictions import LABELS, allow, budget

QUEUES = {"root.poor": queue(guaranteed=2), "root.rich": queue()}


async def test_another_goes_where_a_budget_guards_one(cluster: Cluster) -> None:
    """The guarded pod is the newest, and would otherwise be the first victim."""
    async with contest(cluster, QUEUES, nodes=1, cores=2) as here:
        await budget(cluster, "db")
        await allow(cluster, "db", 0)
        await here.run("plain", 1, queue="root.rich")
        await here.run("guarded", 1, queue="root.rich", labels=LABELS)
        await cluster.create_pod("poor", queue="root.poor")
        await here.until_bound("poor")
        assert here.exits.left == ["plain-0"]
        await here.until_evicted(1)
        assert await here.evictions("budget") == 0


async def test_an_eviction_that_a_budget_forbids_is_tried_again_later(cluster: Cluster) -> None:
    """No other pod could go.

    The ask gets its capacity when the budget allows it, and the victim has the reason.
    """
    async with contest(cluster, QUEUES, nodes=1, cores=2) as here:
        await budget(cluster, "db")
        await allow(cluster, "db", 0)
        await here.run("guarded", 2, queue="root.rich", labels=LABELS)
        await cluster.create_pod("poor", queue="root.poor")
        await eventually(lambda: _was_spared(here), "the API server said no")
        await here.until_unmarked()
        assert here.exits.left == []
        await allow(cluster, "db", 1)
        await here.until_bound("poor")
        (victim,) = here.exits.left
        assert victim == "guarded-1"
        await here.until_evicted(1)
        assert "LAW-1" not in here.exits.receipts[victim], "it was guarded no more"


async def test_of_two_victims_one_may_go_and_the_other_is_replaced(cluster: Cluster) -> None:
    """The plan was made when the budget allowed two. The capacity of the first stays reserved meanwhile."""
    async with contest(cluster, QUEUES, nodes=1, cores=3, proxied=True) as here:
        await budget(cluster, "db")
        await allow(cluster, "db", 2)
        await here.run("plain", 1, queue="root.rich")
        await here.run("guarded", 2, queue="root.rich", labels=LABELS)
        evicting = here.stand.proxy.hold_next("POST", "/pods/guarded-1/eviction$")
        here.stand.proxy.freeze("/pods/guarded-0/eviction$")
        await cluster.create_pod("poor", queue="root.poor", cpu="2")
        await evicting.wait()
        await allow(cluster, "db", 0)
        here.stand.proxy.thaw()
        here.stand.proxy.answer_held()
        await eventually(lambda: _was_spared(here), "the API server said no to the other")
        await here.until_bound("poor")
        assert here.exits.left == ["guarded-1", "plain-0"]
        await here.until_evicted(2)


async def test_kube_scheduler_is_offered_no_pod_that_a_budget_guards(cluster: Cluster) -> None:
    """kube-scheduler would delete the pod despite the budget, so such a plan is for the Eviction API."""
    async with contest(cluster, QUEUES, nodes=1, cores=2, ranks=(100,)) as here:
        await budget(cluster, "db")
        await allow(cluster, "db", 0)
        await here.run("guarded", 2, queue="root.rich", labels=LABELS)
        spec = {"priorityClassName": "rank-100", **with_port(cluster)}
        await here.create_held("poor", queue="root.poor", spec=spec)
        await here.open("poor")
        await eventually(here.asked, "kube-scheduler asked")
        await eventually(lambda: _was_spared(here), "the API server said no")
        assert here.exits.left == []
        plan = await here.plan_for("poor")
        assert plan["by"] == "tick"
        await here.until_unmarked()
        assert here.exits.left == []


async def _was_spared(here: Contest) -> bool:
    return await here.evictions("budget") > 0
