"""Series of the process itself, which a standby has, too."""

import platform

from extender.telemetry.metrics import Exported
from extender.version import version
from tests.builders import make_queue
from tests.extender.telemetry.yunikorn.reading import Watched


def test_labels_name_the_build_also_on_a_standby() -> None:
    standby = Watched(make_queue("root.a"), exported=Exported(leads=lambda: False)).read()
    labels = {"version": version(), "python": platform.python_version()}
    assert standby.labels("paddock_build_info") == [labels]
    assert standby.of("paddock_build_info", **labels) == 1
