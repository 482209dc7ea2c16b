"""Series about the memory of queues' past."""

import pytest

from extender.rest.history.past import Figures
from extender.rest.history.spans import PLANS
from extender.telemetry.metrics import Exported
from tests.builders import make_queue
from tests.extender.telemetry.yunikorn.reading import Watched


@pytest.mark.rule("REST-50")
def test_bound_use_steps_and_losses() -> None:
    figures = Figures(limit=1000, used=900, series=7, unrecorded=3, dropped=2, plan=PLANS[-1])
    read = Watched(make_queue("root.a"), exported=Exported(history=lambda: figures)).read()
    assert read.of("paddock_history_limit_bytes") == 1000
    assert read.of("paddock_history_used_bytes") == 900
    assert read.of("paddock_history_series") == 7
    assert read.of("paddock_history_unrecorded") == 3
    assert read.of("paddock_history_dropped_total") == 2
    steps = [read.of("paddock_history_step_seconds", span=span) for span in ("1h", "6h", "24h")]
    assert steps == [60, 240, 2400]


@pytest.mark.rule("REST-50")
def test_a_standby_has_none() -> None:
    standby = Watched(make_queue("root.a"), exported=Exported(leads=lambda: False)).read()
    assert standby.labels("paddock_history_limit_bytes") == []
