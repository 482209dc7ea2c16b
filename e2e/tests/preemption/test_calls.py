"""Preempt calls of the real kube-scheduler: its own choice for unmanaged pods, Paddock's for others."""

import asyncio
import time
from typing import Any

import aiohttp
import pytest

from e2e.cluster.client import Cluster, Object
from e2e.stands.preemption import Contest, contest, queue, with_port
from e2e.stands.stand import eventually

OFFERED_FOR = 5.0

UNEQUAL = {
    "root.poor": queue(guaranteed=2),
    "root.rich": queue(),
    "root.safe": queue(guaranteed=2),
    "root.nobody": queue(),
}


async def test_kube_schedulers_choice_of_victim_is_overruled_but_for_strangers(cluster: Cluster) -> None:
    """kube-scheduler would take from the safe queue, whose pods are the least important.

    For a pod without a guarantee no pod goes. For a guaranteed one a pod of the rich queue goes. For an
    unmanaged one its own choice goes.
    """
    async with contest(cluster, UNEQUAL, nodes=2, cores=2, ranks=(10, 100)) as here:
        rich = await here.run("rich", 2, queue="root.rich", node="n1", spec=_ranked(10))
        safe = await here.run("safe", 2, queue="root.safe", node="n2")

        await cluster.create_pod("nobody", queue="root.nobody", spec=_ranked(100))
        await eventually(lambda: _has_asked(here), "kube-scheduler asked for it")
        await here.until_refused_by_scheduler("nobody")
        assert here.exits.left == []

        await cluster.create_pod("poor", queue="root.poor", spec=_ranked(100))
        await here.until_bound("poor")
        assert here.exits.left == [rich[-1]]
        assert here.node_of("poor") == "n1"
        assert "nobody" not in here.course.bound
        assert await here.stand.paddock.metric("paddock_preemption_foreign_total") == 0

        await cluster.create_pod("stranger", scheduler_name="default-scheduler", spec=_ranked(100))
        await here.until_bound("stranger")
        assert here.node_of("stranger") == "n2"
        assert here.exits.left[0] == rich[-1]
        assert here.exits.left[1] in safe
        assert len(here.exits.left) == 2
        assert here.exits.left[1] not in here.exits.receipts
        assert await here.stand.paddock.metric("paddock_preemption_foreign_total") >= 1
        await cluster.delete_pod("nobody")


async def _has_asked(here: Contest) -> bool:
    return await here.asked() > 0


def _ranked(priority: int, **spec: Any) -> Object:
    return {"priorityClassName": f"rank-{priority}", **spec}


# -- offers --------------------------------------------------------------------------------------------------

OFFERS = {"root.poor": queue(guaranteed=2), "root.rich": queue()}


@pytest.mark.smoke("preempt")
async def test_kube_scheduler_takes_an_offer_for_an_ask_that_only_it_can_judge(cluster: Cluster) -> None:
    """The ask needs a port of the node.

    Paddock waits until it is asked, names its own victim, and reserves the node.
    """
    async with contest(cluster, OFFERS, nodes=2, cores=2, ranks=(100,)) as here:
        rich = await here.run("rich", 4, queue="root.rich", grace=1)
        await here.create_held("poor", queue="root.poor", spec=_ranked(100, **with_port(cluster)))
        await here.open("poor")
        await here.until_bound("poor")
        (victim,) = here.exits.left
        assert victim in rich
        assert here.node_of("poor") == here.node_of(victim)
        plan = await here.plan_for("poor")
        assert (plan["by"], plan["victims"]) == ("verb", [f"{cluster.namespace}/{victim}"])
        assert await here.evictions("done") == 0, "it was kube-scheduler that deleted the victim"
        assert "LAW-5" in here.exits.receipts[victim]
        assert "LAW-5" in await here.until_event(victim)


async def test_an_offer_that_is_not_taken_is_dropped_and_the_tick_goes_on(cluster: Cluster) -> None:
    """kube-scheduler asks nothing for pods of equal priority, so the test asks in its place."""
    async with contest(cluster, OFFERS, nodes=1, cores=2, proxied=True) as here:
        rich = await here.run("rich", 2, queue="root.rich")
        await _settled()
        await here.create_held("poor", queue="root.poor")
        # Paddock hears of the open gate by the call alone, so no tick can come first.
        here.stand.proxy.freeze("^/api/v1/pods$")
        opened = await here.open("poor")
        asked = time.monotonic()
        victims = await _preempt(here, opened, {"n1": [here.uid(rich[0])]})
        assert victims == {"n1": [here.uid(rich[1])]}
        here.stand.proxy.thaw()
        assert await _preempt(here, opened, {"n1": [here.uid(rich[0])]}) == {}
        await here.until_bound("poor")
        assert time.monotonic() - asked > OFFERED_FOR
        assert here.exits.left == [rich[1]]
        assert [each["by"] for each in await here.recent_plans("poor") if "victims" in each] == [
            "tick",
            "verb",
        ]
        await here.until_evicted(1)


async def test_nothing_comes_of_an_offer_that_was_dropped(cluster: Cluster) -> None:
    """A victim that a user deletes later leaves no reserved node, and gets no message."""
    async with contest(cluster, OFFERS, nodes=1, cores=2) as here:
        rich = await here.run("rich", 2, queue="root.rich")
        await _settled()
        await here.create_held("late", queue="root.poor", spec=with_port(cluster))
        opened = await here.open("late")
        assert await _preempt(here, opened, {"n1": [here.uid(rich[0])]}) == {"n1": [here.uid(rich[1])]}
        # Five seconds and a tick: nothing shows that an offer is over.
        await asyncio.sleep(OFFERED_FOR + 2.0)
        await cluster.delete_pod(rich[1], grace=1)
        await here.until_bound("late")
        assert await here.stand.paddock.metric("paddock_effects_total", effect="WriteRecord") == 0
        assert await here.events(rich[1]) == []


LATE = {
    "root.poor": queue(guaranteed=1),
    "root.late": queue(guaranteed=1, preemption_delay="3s"),
    "root.rich": queue(),
}


async def test_the_victim_of_an_offer_is_not_chosen_again_while_paddock_does_not_hear_of_it(
    cluster: Cluster,
) -> None:
    """kube-scheduler carries the offer out while Paddock's watch stands still; the ticker plans (F-12)."""
    async with contest(cluster, LATE, nodes=2, cores=1, ranks=(100,), proxied=True) as here:
        rich = await here.run("rich", 2, queue="root.rich", grace=1)
        await _settled()
        await here.create_held("offered", queue="root.poor", spec=_ranked(100, **with_port(cluster)))
        await cluster.create_pod("late", queue="root.late")
        await here.until_refused_by_scheduler("late")
        here.stand.proxy.freeze("^/api/v1/pods$")
        await here.open("offered")
        await eventually(lambda: _planned(here, "late"), "a plan for the late one", timeout=10)
        here.stand.proxy.thaw()
        await here.until_bound("offered", "late")
        assert sorted(here.exits.left) == rich
        first, second = await here.plan_for("offered"), await here.plan_for("late")
        assert (first["by"], second["by"]) == ("verb", "tick")
        assert first["victims"] != second["victims"]


async def _planned(here: Contest, name: str) -> bool:
    return any("victims" in each for each in await here.recent_plans(name))


async def test_pods_that_vanish_after_others_had_to_go_make_their_queue_wait(cluster: Cluster) -> None:
    """The next plan of the queue comes 15 s after the third of them, with Events and metrics (F-25)."""
    metric = "paddock_preemption_waits_total"
    async with contest(cluster, {**OFFERS, "root.poor": queue(guaranteed=1)}, nodes=1, cores=1) as here:
        for number in range(3):
            (rich,) = await here.run(f"rich{number}", 1, queue="root.rich", grace=3)
            await cluster.create_pod(f"poor{number}", queue="root.poor")
            await here.pods.until(lambda rich=rich: rich in here.exits.left, f"{rich} goes", timeout=30)
            assert await here.stand.paddock.metric(metric) == 0
            await cluster.delete_pod(f"poor{number}")
        deleted_at = time.monotonic()
        await here.run("rich", 1, queue="root.rich")
        await cluster.create_pod("poor", queue="root.poor")
        assert await eventually(lambda: here.events("poor2", "PreemptionInVain"), "the third is told")
        assert await eventually(lambda: here.events("poor", "PreemptionWaits"), "the next one is told")
        assert await here.stand.paddock.metric(metric) == 1
        assert await here.stand.paddock.metric("paddock_preemption_in_vain_total") == 3
        assert "rich-0" not in here.exits.left
        await here.until_bound("poor")
        assert time.monotonic() - deleted_at > 14.0
        assert here.exits.left == ["rich0-0", "rich1-0", "rich2-0", "rich-0"]


async def _settled() -> None:
    """Wait a second: pods seen on their nodes for less are not named to kube-scheduler."""
    await asyncio.sleep(1.5)


async def _preempt(here: Contest, pod: Object, victims: dict[str, list[str]]) -> dict[str, list[str]]:
    """Call preempt as kube-scheduler does, and return the victims by node."""
    asked = {
        node: {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": 0}
        for node, uids in victims.items()
    }
    body = {"Pod": pod, "NodeNameToVictims": None, "NodeNameToMetaVictims": asked}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{here.stand.paddock.url}/preempt", json=body) as answer,
    ):
        assert answer.status == 200
        found = (await answer.json()).get("NodeNameToMetaVictims") or {}
    return {node: [each["UID"] for each in named["Pods"]] for node, named in found.items()}
