"""Counts that a family gets with the next scrape."""

from prometheus_client import CollectorRegistry, Counter

from extender.telemetry.counts import Counts


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
