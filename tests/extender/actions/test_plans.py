"""ACT-2: the queue whose right a request about an application needs."""

from dataclasses import replace

import pytest

from core.ids import ROOT, QueuePath
from core.workload.ending import Ending
from extender.actions.ending import EndedApplication
from extender.actions.requested import EndApplication
from extender.http.actions.parts import Acting
from extender.http.actions.plans import plan_for

ENDING = Ending("ann", 0.0, 600.0, 0.0, "root.a")
PLACED = EndedApplication.over(QueuePath("root.b"))


async def _none(*_: object) -> object:
    return None


@pytest.mark.rule("ACT-2")
@pytest.mark.parametrize(
    ("found", "known", "queue"),
    [
        pytest.param(None, None, ROOT, id="an unknown one"),
        pytest.param(PLACED, None, "root.b", id="one in a queue"),
        pytest.param(PLACED, ENDING, "root.b", id="one in another queue than that of the order"),
        pytest.param(replace(PLACED, queue=ROOT), None, ROOT, id="one without a queue"),
        pytest.param(replace(PLACED, queue=ROOT), ENDING, "root.a", id="one that waits, barred"),
        pytest.param(None, ENDING, "root.a", id="one that has ended, barred"),
    ],
)
def test_the_queue_whose_right_is_needed(
    found: EndedApplication | None, known: Ending | None, queue: str
) -> None:
    acting = Acting(
        enabled=lambda: True,
        by_acl=lambda: False,
        unready=lambda: "",
        queue=lambda _: None,
        application=lambda _: found,
        ending=lambda _: known,
        prospect=lambda *_: None,
        store=_none,  # type: ignore[arg-type]
        wall=lambda: 0.0,
        **dict.fromkeys(
            (
                "audit",
                *("tell_closed", "tell_opened", "tell_ended", "tell_lifted", "tell_moved", "tell_refused"),
            ),
            print,
        ),
    )
    asked = EndApplication(application="one", namespace="default")
    assert plan_for(acting, asked, by="ann").queues == (queue,)
