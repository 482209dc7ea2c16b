"""Queries of YuniKorn's published Grafana dashboards, as data: for the scheduler, and for the Go process."""

from typing import NamedTuple


class Query(NamedTuple):
    """A panel of the board."""

    panel: str
    promql: str
    #: Name of the queried series.
    series: str
    #: Labels that are matched.
    labels: dict[str, str]
    #: Label of the legend; None for a fixed one.
    legend: str | None


def plain(panel: str, name: str, legend: str) -> Query:
    """A panel that shows the series of a name unchanged."""
    return Query(panel, name, name, {}, legend)


def percentile(panel: str, name: str, over: str) -> Query:
    """A panel of the 95th percentile of a histogram."""
    bucket = f"{name}_bucket"
    promql = f"histogram_quantile(0.95, sum(irate({bucket}[{over}])) by (le))"
    return Query(panel, promql, bucket, {}, None)


def of_queue(panel: str, what: str, **labels: str) -> Query:
    """A panel of the queue ``root.a``, whose name is part of its metrics' names."""
    name = f"yunikorn_root_a_queue_{what}"
    matched = "".join(f', {key}="{value}"' for key, value in labels.items())
    return Query(panel, f'{{__name__=~"{name}"{matched}}}', name, labels, "state")


BOARD = (
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
)
"""Panels of the first board, those of the queue ``root.a`` among them."""

VARIABLE = '{__name__=~"yunikorn.+resource"}'
"""Names in which the dashboard's variable finds queues. Grafana requests the list of names instead."""

_GO = '{job=~"yunikorn"}'
_MEMORY = (
    *("mspan_inuse", "mspan_sys", "mcache_inuse", "mcache_sys", "buck_hash_sys", "gc_sys", "next_gc"),
    *("heap_alloc", "heap_sys", "heap_idle", "heap_inuse", "heap_released"),
    *("alloc", "sys", "stack_inuse", "stack_sys"),
)

GO_BOARD = (
    *(f"go_memstats_{name}_bytes{_GO}" for name in _MEMORY),
    f"go_memstats_alloc_bytes_total{_GO}",
    f"go_memstats_mallocs_total{_GO} - go_memstats_frees_total{_GO}",
    f"rate(go_memstats_lookups_total{_GO}[30s])",
    f"go_gc_duration_seconds{_GO}",
    f"go_goroutines{_GO}",
)
"""Queries of the second board, which is of a process in Go (METRIC-17)."""
