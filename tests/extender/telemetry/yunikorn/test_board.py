"""Queries of YuniKorn's published Grafana board, as data: each finds series by name and labels."""

from typing import NamedTuple

import pytest

from tests.builders import make_queue
from tests.extender.telemetry.yunikorn.reading import Read, Watched


class Query(NamedTuple):
    """A panel of the board."""

    panel: str
    promql: str
    #: Name that is asked for.
    series: str
    #: Labels that are matched.
    labels: dict[str, str]
    #: Label of the legend.
    by: str


def plain(panel: str, name: str, by: str) -> Query:
    return Query(panel, name, name, {}, by)


def percentile(panel: str, name: str, over: str) -> Query:
    bucket = f"{name}_bucket"
    promql = f"histogram_quantile(0.95, sum(irate({bucket}[{over}])) by (le))"
    return Query(panel, promql, bucket, {}, "le")


def of_queue(panel: str, what: str, **labels: str) -> Query:
    """``$Queue`` is replaced by what stands between ``yunikorn_root_`` and ``_queue_resource``."""
    name = f"yunikorn_root_a_queue_{what}"
    matched = "".join(f', {key}="{value}"' for key, value in labels.items())
    return Query(panel, f'{{__name__=~"{name}"{matched}}}', name, labels, "state")


BOARD = [
    plain("Total Applications", "yunikorn_scheduler_application_total", "state"),
    plain("Total Application Submissions", "yunikorn_scheduler_application_submission_total", "result"),
    plain("Container allocation", "yunikorn_scheduler_container_allocation_attempt_total", "state"),
    percentile("Scheduling latency", "yunikorn_scheduler_scheduling_latency_milliseconds", "60s"),
    percentile("Try Node latency", "yunikorn_scheduler_trynode_latency_milliseconds", "60s"),
    percentile("Try Preemption latency", "yunikorn_scheduler_trypreemption_latency_milliseconds", "30s"),
    plain("vcore", "yunikorn_scheduler_vcore_node_usage_total", "range"),
    plain("memory", "yunikorn_scheduler_memory_node_usage_total", "range"),
    plain("ephemeral_storage", "yunikorn_scheduler_ephemeral_storage_node_usage_total", "range"),
    plain("pods", "yunikorn_scheduler_pods_node_usage_total", "range"),
    of_queue("Application Status", "app"),
    of_queue("Pods", "resource", resource="pods"),
    of_queue("Vcore", "resource", resource="vcore"),
    of_queue("Memory", "resource", resource="memory"),
]


@pytest.fixture(scope="module")
def quiet() -> Read:
    return Watched(make_queue("root.a")).read()


@pytest.mark.parametrize("query", BOARD, ids=lambda query: query.panel)
def test_a_panel_has_series_from_the_start(quiet: Read, query: Query) -> None:
    found = [each for each in quiet.labels(query.series) if query.labels.items() <= each.items()]
    assert found
    assert all(query.by in each for each in found)


@pytest.mark.rule("METRIC-18")
def test_the_variable_of_the_board_finds_the_queues(quiet: Read) -> None:
    """Grafana lists the names that end so, and takes the queue from between."""
    names = {name for name in quiet.names() if name.startswith("yunikorn_root_")}
    assert "yunikorn_root_a_queue_resource" in names
