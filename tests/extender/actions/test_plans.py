"""ACT-2, ACT-22, ACT-34: plans of requests about applications: rights, and the times of their orders."""

from dataclasses import replace

import pytest

from core.ids import ROOT, QueuePath
from core.workload.ending import Ending
from extender.actions.ending import EndedApplication, lifted
from extender.actions.moving import MoveProspect, order_for
from extender.actions.requested import EndApplication
from extender.actions.stored import Actions
from extender.http.actions.parts import Acting, Refused
from extender.http.actions.plans import plan_for

ENDING = Ending("ann", 0.0, 600.0, 0.0, "root.a")
PLACED = EndedApplication.over(QueuePath("root.b"))


async def _none(*_: object) -> object:
    return None


class Played:
    """Parts of the process, with an application that something happens to while a request is authorized."""

    def __init__(self) -> None:
        self.found: EndedApplication | None = PLACED
        self.now = 100.7

    def acting(self) -> Acting:
        tells = ("tell_closed", "tell_opened", "tell_ended", "tell_lifted", "tell_moved", "tell_refused")
        return Acting(
            enabled=lambda: True,
            by_acl=lambda: False,
            unready=lambda: "",
            queue=lambda _: None,
            application=lambda _: self.found,
            ending=lambda _: None,
            prospect=lambda *_: None,
            store=_none,  # type: ignore[arg-type]
            wall=lambda: self.now,
            **dict.fromkeys(("audit", *tells), print),
        )


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
    acting = replace(Played().acting(), application=lambda _: found, ending=lambda _: known)
    asked = EndApplication(application="one", namespace="default")
    assert plan_for(acting, asked, by="ann").rights.keys() == {queue}


@pytest.mark.rule("ACT-2")
@pytest.mark.parametrize(
    ("now", "is_refused"), [("root.c", True), ("root.bb", True), ("root.b", False), ("root.b.x", False)]
)
def test_an_application_that_was_moved_meanwhile_is_not_ended_with_the_right_to_its_former_queue(
    now: str, is_refused: bool
) -> None:
    played = Played()
    plan = plan_for(played.acting(), EndApplication(application="one", namespace="default"), by="ann")
    assert plan.rights.keys() == {"root.b"}
    played.found = replace(PLACED, queue=QueuePath(now))
    if is_refused:
        with pytest.raises(Refused, match="meanwhile"):
            plan.change(Actions())
    else:
        assert [each.queue for each in plan.change(Actions()).ended.values()] == [now]


@pytest.mark.rule("ACT-20")
def test_an_order_is_about_the_pods_that_are_there_when_it_is_stored() -> None:
    played = Played()
    plan = plan_for(played.acting(), EndApplication(application="one", namespace="default"), by="ann")
    played.found = replace(PLACED, through=90.0)
    (ending,) = plan.change(Actions()).ended.values()
    assert ending.through == 90.0


@pytest.mark.rule("ACT-22")
@pytest.mark.parametrize(("bar", "until"), [(0, 101.0), (1, 101.0), (600, 700.0)])
def test_a_bar_ends_after_the_order_was_given(bar: int, until: float) -> None:
    """Times are cut to seconds. A pod that got its node in that second got it before the end of the bar."""
    played = Played()
    asked = EndApplication(application="one", namespace="default", bar=bar)
    (ending,) = plan_for(played.acting(), asked, by="ann").change(Actions()).ended.values()
    assert (ending.since, ending.until) == (100.0, until)
    assert lifted(ending, now=100.8).until == 101.0
    assert lifted(ending, now=until) == ending


@pytest.mark.rule("ACT-34")
def test_no_two_orders_about_an_id_have_the_same_time() -> None:
    """The first may be over, because its application has ended within that second."""
    found = MoveProspect(
        QueuePath("root.a"), "nobody", is_generated=False, is_due=False, refusal=None, changes=(), pods=()
    )
    first = order_for(found, None, QueuePath("root.b"), by="ann", reason="", now=100.2)
    second = order_for(found, first, QueuePath("root.b"), by="ann", reason="", now=100.7)
    assert (first.since, second.since) == (100.0, 101.0)
