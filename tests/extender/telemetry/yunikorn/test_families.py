"""Names, types, labels, label values and buckets of METRIC-1 to METRIC-18."""

from typing import NamedTuple

import pytest

from extender.telemetry.yunikorn.families import FAMILIES
from tests.builders import make_queue
from tests.extender.telemetry.yunikorn.reading import Read, Watched

TENTHS = ["[0,10%]", *(f"({at}0%,{at + 1}0%]" for at in range(1, 10))]
BUCKETS = {0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, float("inf")}
NOW = ["new", "accepted", "running", "resuming", "failing", "completing"]
EVER = ["completed", "failed", "rejected"]


class Row(NamedTuple):
    """A family as the specification has it. ``values``: those of the label that is fixed."""

    rule: str
    name: str
    kind: str
    labels: tuple[str, ...] = ()
    values: tuple[str, list[str]] | None = None


ROWS = [
    Row(
        "METRIC-1",
        "yunikorn_queue_resource",
        "gauge",
        ("queue", "state", "resource"),
        ("state", ["allocated", "guaranteed", "max", "maxRunningApps", "pending", "preempting"]),
    ),
    Row(
        "METRIC-2",
        "yunikorn_scheduler_container_allocation_attempt_total",
        "counter",
        ("state",),
        ("state", ["allocated", "error", "rejected", "released"]),
    ),
    Row(
        "METRIC-3",
        "yunikorn_scheduler_application_submission_total",
        "counter",
        ("result",),
        ("result", ["accepted", "new", "rejected"]),
    ),
    Row(
        "METRIC-4",
        "yunikorn_scheduler_application_total",
        "gauge",
        ("state",),
        ("state", ["completed", "completing", "failed", "failing", "resuming", "running"]),
    ),
    Row(
        "METRIC-5",
        "yunikorn_scheduler_node",
        "gauge",
        ("state",),
        ("state", ["active", "decommissioned", "draining", "failed"]),
    ),
    Row("METRIC-6", "yunikorn_scheduler_scheduling_latency_milliseconds", "histogram"),
    Row("METRIC-7", "yunikorn_scheduler_trynode_latency_milliseconds", "histogram"),
    Row("METRIC-8", "yunikorn_scheduler_trypreemption_latency_milliseconds", "histogram"),
    Row("METRIC-9", "yunikorn_scheduler_scheduling_cycle_milliseconds", "histogram"),
    Row("METRIC-10", "yunikorn_scheduler_trynode_evaluation_milliseconds", "histogram"),
    Row(
        "METRIC-11",
        "yunikorn_scheduler_node_sorting_latency_milliseconds",
        "histogram",
        ("level",),
        ("level", ["app", "queue"]),
    ),
    *(
        Row(
            "METRIC-12", f"yunikorn_scheduler_{name}_node_usage_total", "gauge", ("range",), ("range", TENTHS)
        )
        for name in ("vcore", "memory", "pods", "ephemeral_storage")
    ),
    Row("METRIC-13", "yunikorn_queue_app", "gauge", ("queue", "state"), ("state", [*NOW, *EVER])),
    Row("METRIC-14", "yunikorn_queue_app_total", "counter", ("queue", "state"), ("state", EVER)),
    Row(
        "METRIC-15",
        "yunikorn_root_a_queue_container",
        "counter",
        ("state",),
        ("state", ["allocated", "released"]),
    ),
    Row(
        "METRIC-18",
        "yunikorn_root_a_queue_resource",
        "gauge",
        ("state", "resource"),
        ("state", ["allocated", "guaranteed", "max", "maxRunningApps", "pending", "preempting"]),
    ),
    Row("METRIC-18", "yunikorn_root_a_queue_app", "gauge", ("state",), ("state", [*NOW, *EVER])),
]


@pytest.fixture(scope="module")
def quiet() -> Read:
    """A cluster in which nothing has happened yet."""
    limited = make_queue("root.a", max={"vcore": 5000}, guaranteed={"vcore": 1000})
    return Watched(limited).read()


def suffixes(row: Row) -> tuple[str, ...]:
    return ("_bucket", "_sum", "_count") if row.kind == "histogram" else ("",)


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row.rule} {row.name}", marks=pytest.mark.rule(row.rule)) for row in ROWS]
)
def test_a_family_has_its_type_and_labels(quiet: Read, row: Row) -> None:
    assert quiet.kinds[row.name] == row.kind
    for suffix in suffixes(row):
        for labels in quiet.labels(row.name + suffix):
            more = {"le"} if suffix == "_bucket" else set()
            assert labels.keys() == {*row.labels, *more}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.values and row.labels[-1] != "resource"], ids=lambda row: row.name
)
def test_every_fixed_label_begins_at_zero(quiet: Read, row: Row) -> None:
    """A rate needs an initial value."""
    assert row.values is not None
    label, values = row.values
    found = quiet.labels(row.name + suffixes(row)[-1])
    assert sorted({each[label] for each in found}) == sorted(values)
    for each in found:
        one_node = each[label] in ("active", TENTHS[0]) and "ephemeral" not in row.name
        assert quiet.of(row.name + suffixes(row)[-1], **each) == (1 if one_node else 0)


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind == "histogram"], ids=lambda row: row.name)
def test_a_histogram_holds_seconds_in_the_original_buckets(quiet: Read, row: Row) -> None:
    assert {float(each["le"]) for each in quiet.labels(f"{row.name}_bucket")} == BUCKETS


@pytest.mark.rule("METRIC-17", "METRIC-19")
def test_nothing_else_is_called_yunikorn_and_no_number_of_go_is_made_up(quiet: Read) -> None:
    expected = {row.name for row in ROWS} | {"yunikorn_root_queue_resource"}
    assert {name for name in quiet.kinds if name.startswith("yunikorn")} == expected
    assert not [
        name for name in quiet.kinds if name.startswith(("go_", "yunikorn_runtime", "yunikorn_event"))
    ]
    assert {"process_cpu_seconds_total", "python_info"} <= set(quiet.kinds)


def test_the_table_of_the_product_says_the_same() -> None:
    """Golden lists are read from that table."""
    kinds = {(each.rule, each.kind, each.labels) for each in FAMILIES}
    assert kinds == {(row.rule, row.kind, row.labels) for row in ROWS}
