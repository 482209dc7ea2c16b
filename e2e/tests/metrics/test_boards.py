"""The queries of YuniKorn's two published Grafana boards, asked of a real Prometheus that scrapes Paddock.

Prometheus scrapes the REST port over TLS, with a token of an account with `paddock-metrics` only.
"""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from e2e.cluster.client import Cluster
from e2e.programs.prometheus import Job, Prometheus, Series
from e2e.stands.scraping import Scraping
from e2e.stands.stand import Stand, eventually
from tests.extender.telemetry.yunikorn.board import BOARD, GO_BOARD, VARIABLE

QUEUES = {"a": {"max": {"vcore": "2"}}}
AT = "/ws/v1/metrics"
"""The path that YuniKorn's users have in their jobs."""


@asynccontextmanager
async def scraped(cluster: Cluster, folder: Path) -> AsyncIterator[tuple[Stand, Prometheus]]:
    """A stand with a node of two cores, and a Prometheus with the path of YuniKorn's documents."""
    scraping = Scraping(cluster, folder)
    async with scraping.stand(QUEUES) as stand:
        await cluster.add_nodes(1, cpu="2")
        job = Job("yunikorn", AT, [scraping.address_of(stand.paddock, 0)], await scraping.further())
        async with Prometheus(folder, job) as prometheus:
            yield stand, prometheus


@pytest.mark.rule("METRIC-2", "METRIC-3", "METRIC-4", "METRIC-12", "METRIC-18")
async def test_every_query_of_the_first_board_has_an_answer(cluster: Cluster, tmp_path: Path) -> None:
    """Before anything is scheduled; so a new installation shows no empty panel."""
    async with scraped(cluster, tmp_path) as (_, prometheus):
        for _ in range(2):
            await prometheus.until_scraped()
        found = {query.panel: await prometheus.ask(query.promql) for query in BOARD}
        assert [panel for panel, series in found.items() if not series] == []
        for query in BOARD:
            assert query.legend is None or all(query.legend in each.labels for each in found[query.panel])
        names = {each.labels["__name__"] for each in await prometheus.ask(VARIABLE)}
        assert "yunikorn_root_a_queue_resource" in names


@pytest.mark.rule("METRIC-1", "METRIC-2", "METRIC-6", "METRIC-7")
async def test_the_panels_show_what_has_happened(cluster: Cluster, tmp_path: Path) -> None:
    """Two pods of three run; what Prometheus sums up is what the observer counts."""
    async with scraped(cluster, tmp_path) as (stand, prometheus):
        await prometheus.until_scraped()
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two are bound")
        shown = 'yunikorn_queue_resource{queue="root.a", resource="vcore", state="%s"}'

        async def is_counted() -> bool:
            return stand.observer.rules.recount("root.a").get("cpu") == 2000

        await eventually(is_counted, "the observer counts two pods", timeout=30)
        await prometheus.until_value(shown % "allocated", 2000)
        await prometheus.until_value(shown % "pending", 1000)
        await prometheus.until_value('yunikorn_root_a_queue_resource{resource="pods", state="allocated"}', 2)
        counted = "yunikorn_scheduler_container_allocation_attempt_total"
        await prometheus.until_value(f'increase({counted}{{state="allocated"}}[1m]) > bool 0', 1)
        for panel in ("Scheduling latency", "Try Node latency"):
            (query,) = (each for each in BOARD if each.panel == panel)
            await prometheus.until(f"max_over_time(({query.promql})[1m:1s])", is_a_duration)


def is_a_duration(found: list[Series]) -> bool:
    """True of one number of seconds that is above 0: no calls at all give NaN."""
    return len(found) == 1 and not math.isnan(found[0].value) and found[0].value > 0


@pytest.mark.rule("METRIC-17")
async def test_the_board_of_go_stays_empty(cluster: Cluster, tmp_path: Path) -> None:
    """Each query is valid and finds nothing: Paddock never imitates the numbers of a Go process."""
    async with scraped(cluster, tmp_path) as (stand, prometheus):
        await prometheus.until_scraped()
        assert [promql for promql in GO_BOARD if await prometheus.ask(promql)] == []
        _, text = await stand.paddock.get("/metrics")
        assert "\ngo_" not in text
        assert "\nprocess_resident_memory_bytes " in text
