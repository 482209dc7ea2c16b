"""Counts that the library gets with the next scrape."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram

from extender.telemetry.counts import CallSeconds, Counts
from extender.telemetry.series.calls import NAME, CallSeries

BOUNDS = (0.001, 0.2, 1.0)


def test_each_count_reaches_the_family_once() -> None:
    registry = CollectorRegistry()
    counts = Counts(Counter("things", "-", ["verb", "code"], registry=registry))

    def shown() -> float | None:
        return registry.get_sample_value("things_total", {"verb": "filter", "code": "Admitted"})

    assert shown() is None
    counts.count("filter", "Admitted")
    assert shown() == 0.0
    counts.count("filter", "Admitted")
    counts.count("bind", "Admitted")
    for _ in range(2):
        counts.pass_on()
        assert shown() == 2.0
    counts.count("filter", "Admitted")
    counts.pass_on()
    assert shown() == 3.0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["filter", "bind"]),
            st.sampled_from(BOUNDS) | st.floats(0, 10),
            st.sampled_from(["", "x"]),
        )
    )
)
def test_durations_are_exported_as_by_the_library_and_faults_passed_on(
    calls: list[tuple[str, float, str]],
) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    counted, faults = CallSeconds(BOUNDS), list[tuple[str, str]]()
    ours.register(CallSeries(counted))
    histogram = Histogram(NAME, "Time to answer a call", ["verb"], buckets=BOUNDS, registry=theirs)
    measured = counted.measure(lambda verb, fault: faults.append((verb, fault)))
    for verb, seconds, fault in calls:
        measured(verb, seconds, fault)
        histogram.labels(verb).observe(seconds)

    def samples(registry: CollectorRegistry) -> list[tuple[str, dict[str, str], float]]:
        return [
            (each.name, each.labels, each.value)
            for family in registry.collect()
            for each in family.samples
            if not each.name.endswith("_created")
        ]

    assert samples(ours) == samples(theirs)
    assert faults == [(verb, fault) for verb, _, fault in calls if fault]
