"""Each query of the boards in ``manifests/monitoring``, by a real Prometheus beside a real control plane.

Played: the kubelet, and a malformed call. Needs `prometheus` and fails without it.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import ClientSession

from e2e.programs.control_plane import ControlPlane
from e2e.programs.prometheus import Job, Prometheus, Series
from e2e.stands.page.town import GANG, Town, page_town
from e2e.stands.stand import manifest

pytestmark = pytest.mark.xdist_group("own boards")

BOARDS = ("monitoring/board-queues.yaml", "monitoring/board-operation.yaml")
CHOSEN = {"queue": ".*", "resource": "vcore"}
"""Values that a user chose for the variables of the boards."""


class Query(NamedTuple):
    """A query of a panel. ``legend``: the text beside a line, with names of labels in braces."""

    panel: str
    legend: str
    promql: str


def boards() -> list[Mapping[str, Any]]:
    """The boards as Grafana reads them."""
    return [json.loads(text) for path in BOARDS for text in manifest(path)[0]["data"].values()]


def queries() -> list[Query]:
    """All queries, with the variables replaced."""
    return [
        Query(
            panel["title"],
            target["legendFormat"],
            re.sub(r"\$(\w+)", lambda found: CHOSEN[found[1]], target["expr"]),
        )
        for board in boards()
        for panel in board["panels"]
        for target in panel.get("targets", ())
    ]


Values = Mapping[str, float]
"""By the text of the legend."""
Claim = Callable[[Values], bool]


def has(**wanted: float) -> Claim:
    """Claim that some lines have these values. Legends have ``_`` for a dot or a space here."""
    return lambda found: (
        wanted.items() <= {re.sub("[. ]", "_", name): value for name, value in found.items()}.items()
    )


def above_0(*names: str) -> Claim:
    """Claim that these lines are above 0, and numbers."""
    return lambda found: all(found.get(name, 0) > 0 for name in names)


CLAIMS: Mapping[tuple[str, str], Claim] = {
    ("Used", "{{queue}}"): has(root_unit_full=1000, root_hold=9000),
    ("Waiting", "{{queue}}"): has(root_starved=7000, root_large=5000),
    ("Share of the max", "{{queue}}"): has(root_unit_full=1, root_jobs=1),
    ("Below the guarantee while pods wait", "{{queue}}"): has(root_starved=8000),
    ("Max and guarantee", "{{queue}} max"): has(root_unit_full_max=1000),
    ("Max and guarantee", "{{queue}} guaranteed"): has(root_starved_guaranteed=8000),
    ("Being preempted", "{{queue}}"): has(root_contest_rich=100),
    ("Instances that lead", "leading"): has(leading=1),
    ("Differences found by audits", "drift"): has(drift=0),
    ("Plans that broke a law", "breaches"): has(breaches=0),
    ("Pods that wait", "waiting"): above_0("waiting"),
    ("Refusals a second by reason", "{{code}}"): above_0("QuotaExceeded", "GangIncomplete"),
    ("Evictions by cause", "{{kind}}"): above_0("guarantee"),
    ("Stopped plans by law", "{{law}}"): above_0("PRE-12"),
    ("Calls, 99th percentile", "{{verb}}"): above_0("filter", "bind"),
    ("Failed calls a second", "{{verb}} {{fault}}"): lambda found: any(
        name.startswith("filter ") and value > 0 for name, value in found.items()
    ),
    ("Silence of watches", "{{kind}}"): has(pods=0, nodes=0),
    ("Configurations", "{{fate}}"): above_0("applied"),
    ("Configurations", "missing"): has(missing=0),
    ("Event loop late, 99th percentile", "late"): above_0("late"),
    ("Gangs that wait, and placeholders", "gangs"): has(gangs=1),
    ("Gangs that wait, and placeholders", "placeholders"): has(placeholders=GANG.size),
    ("Maxima that are passed", "{{kind}}"): has(queue=0, user=0, group=0),
}
"""Claim about each query for the town, by panel and legend."""


def shown(query: Query, found: list[Series]) -> Values:
    """Lines as the panel would show them."""
    return {_legend(query.legend, each.labels): each.value for each in found}


def _legend(text: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"{{(\w+)}}", lambda name: labels.get(name[1], ""), text)


async def fail_and_evict(town: Town) -> None:
    """Let things happen while Prometheus looks: an eviction, a reload, and calls that fail."""
    await town.cluster.create_pod("poor-2", queue="root.contest.poor", app="poor", cpu="100m")
    await town.place.until_bound("poor-2", timeout=45)
    town.place.queues = {**town.place.queues, "root.late": {}}
    await town.place.configure()


async def fail(town: Town) -> None:
    async with (
        ClientSession() as session,
        session.post(f"{town.stand.paddock.url}/filter", data="{") as answer,
    ):
        assert json.loads(await answer.read())["Error"]


async def test_every_query_shows_what_there_is(control_plane: ControlPlane, tmp_path: Path) -> None:
    async with page_town(control_plane) as town:
        job = Job("paddock", "/metrics", [f"127.0.0.1:{town.stand.paddock.admin_port}"])
        async with Prometheus(tmp_path, job) as prometheus:
            await prometheus.until_scraped()
            await fail(town)
            await prometheus.until_scraped()
            await fail(town)
            await fail_and_evict(town)
            for query in queries():
                claim = CLAIMS[query.panel, query.legend]

                def holds(found: list[Series], claim: Claim = claim, query: Query = query) -> bool:
                    return claim(shown(query, found))

                await prometheus.until(f"max_over_time(({query.promql})[5m:1s])", holds)


def test_each_query_has_its_claim() -> None:
    assert [(each.panel, each.legend) for each in queries()] == list(CLAIMS)


def test_the_variables_offer_labels_of_a_series_that_there_is() -> None:
    asked = {
        variable["query"]
        for board in boards()
        for variable in board["templating"]["list"]
        if variable["type"] == "query"
    }
    assert asked == {f"label_values(paddock_queue_allocated, {name})" for name in CHOSEN}
