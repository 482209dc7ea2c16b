"""Series of the process itself, which a standby has, too."""

import platform

from core.decisions.preemption.receipts import Kind
from core.reasons import Code
from extender.telemetry.metrics import Exported
from extender.version import version
from tests.builders import START, filtered, make_queue
from tests.extender.telemetry.yunikorn.reading import Watched


def test_labels_name_the_build_also_on_a_standby() -> None:
    standby = Watched(make_queue("root.a"), exported=Exported(leads=lambda: False)).read()
    labels = {"version": version(), "python": platform.python_version()}
    assert standby.labels("paddock_build_info") == [labels]
    assert standby.of("paddock_build_info", **labels) == 1


def test_pods_that_wait_are_counted_by_the_code_of_their_last_refusal() -> None:
    watched = Watched(make_queue("root.a", max={"vcore": 1000}))
    watched.place("first")
    for name, created in (("second", START - 60), ("third", START - 30), ("new", START)):
        watched.see(name, created=created)
    for name in ("second", "third"):
        filtered(watched.ledger, f"uid-{name}", now=watched.now)
    read = watched.read()
    assert read.of("paddock_pending_pods", code=Code.QUOTA_EXCEEDED) == 2
    assert read.of("paddock_pending_oldest_timestamp_seconds", code=Code.QUOTA_EXCEEDED) == START - 60
    assert read.of("paddock_pending_pods", code="none") == 1


def test_victims_of_each_kind_are_counted_from_0_on() -> None:
    """Otherwise the first ones are no increase for Prometheus."""
    read = Watched(make_queue("root.a")).read()
    assert {each["kind"] for each in read.labels("paddock_preemption_victims_total")} == set(Kind)
    assert read.total("paddock_preemption_victims_total") == 0
