"""The limit on dynamic queues, and applications that would exceed it (F-21, PL-11)."""

from dataclasses import replace

import pytest

from core.decisions.decision import Admitted
from core.ids import AppId, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.applications.lifecycle import COMPLETING_FOR
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import RuleSpec
from tests.builders import (
    START,
    drifts,
    filtered,
    make_ledger,
    make_partition,
    make_pod,
    make_queue,
)
from tests.effort import effort

TEAMS = [make_queue(f"root.{name}", leaf=False) for name in ("x", "y")]
RULES = (RuleSpec("provided", create=True),)
BELOW_X = "PlacementFailed: too many queues below root.x"


def ledger_of(*, most: int = 2, total: int = 10, listed: bool = True) -> Ledger:
    settings = LedgerSettings(max_dynamic=most, max_dynamic_total=total)
    ledger = make_ledger(*TEAMS, settings=settings, listed=listed)
    partition = replace(make_partition(*TEAMS), rules=RULES)
    ledger.apply(on.Configured(partition, settings), now=START)
    return ledger


def submit(ledger: Ledger, name: str, queue: str, *, at: float = 0.0, node: str = "") -> str:
    """Return the pod's queue, or the reason why it has none."""
    pod = make_pod(name, app=name, queue=queue, node=node, created=START + at, cpu=100)
    ledger.apply(on.PodObserved(pod), now=START + at)
    return standing(ledger, name)


def standing(ledger: Ledger, name: str) -> str:
    record = ledger.view.pod(PodUid(f"uid-{name}"))
    assert record is not None
    assert record.membership.application is not None
    application = ledger.view.application(record.membership.application)
    assert application is not None
    return application.refusal.text if application.refusal else application.queue or ""


def end(ledger: Ledger, name: str, *, at: float) -> None:
    """Delete a pod; its application and its queue go with it."""
    ledger.apply(on.PodDeleted(PodUid(f"uid-{name}")), now=START + at)
    ledger.apply(on.TimePassed(), now=START + at + COMPLETING_FOR)
    ledger.apply(on.CleanerDue(), now=START + at + COMPLETING_FOR)


def test_each_configured_parent_has_so_many_and_no_more() -> None:
    ledger = ledger_of()
    assert [submit(ledger, f"p{at}", f"root.x.q{at}") for at in range(3)] == [
        "root.x.q0",
        "root.x.q1",
        BELOW_X,
    ]
    assert submit(ledger, "again", "root.x.q0") == "root.x.q0"
    assert submit(ledger, "other", "root.y.q0") == "root.y.q0"
    assert ledger.view.tree.get("root.x.q2") is None
    assert drifts(ledger) == []


def test_one_very_long_name_costs_little_and_breaks_nothing() -> None:
    """Each level would be a queue with a name of its own, so that a name of 240 KB would fill the memory."""
    ledger = ledger_of(most=1_000, total=10_000)
    pod = make_pod("deep", app="deep", queue="root.x" + ".y" * 120_000)
    assert effort(lambda: ledger.apply(on.PodObserved(pod), now=START)) <= 30_000
    assert standing(ledger, "deep").endswith("has more than 50 levels")
    assert submit(ledger, "after", "root.x" + ".y" * 48) == "root.x" + ".y" * 48
    assert isinstance(filtered(ledger, PodUid("uid-after"), now=START), Admitted)


def test_every_level_counts() -> None:
    ledger = ledger_of()
    assert submit(ledger, "deep", "root.x.a.b.c") == BELOW_X
    assert submit(ledger, "less", "root.x.a.b") == "root.x.a.b"
    assert submit(ledger, "beside", "root.x.a.c") == BELOW_X


def test_all_together_have_so_many_and_no_more() -> None:
    ledger = ledger_of(total=3)
    for at, queue in enumerate(("root.x.a", "root.x.b", "root.y.a")):
        assert submit(ledger, f"p{at}", queue) == queue
    assert submit(ledger, "late", "root.y.b") == "PlacementFailed: too many queues below root"


def test_the_eldest_is_placed_when_a_queue_is_removed() -> None:
    ledger = ledger_of()
    for at in range(2):
        submit(ledger, f"p{at}", f"root.x.q{at}")
    assert [submit(ledger, name, f"root.x.{name}", at=at) for at, name in ((7, "young"), (5, "old"))] == [
        BELOW_X
    ] * 2
    end(ledger, "p0", at=10)
    assert (standing(ledger, "old"), standing(ledger, "young")) == ("root.x.old", BELOW_X)
    answer = filtered(ledger, PodUid("uid-old"), now=START + 60)
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START + 60)
    answer = filtered(ledger, PodUid("uid-old"), now=START + 60)
    assert isinstance(answer, Admitted)
    end(ledger, "p1", at=100)
    assert standing(ledger, "young") == "root.x.young"
    assert drifts(ledger) == []


def test_a_removal_elsewhere_frees_no_place_here() -> None:
    ledger = ledger_of()
    for at in range(2):
        submit(ledger, f"p{at}", f"root.x.q{at}")
    submit(ledger, "elsewhere", "root.y.q")
    assert submit(ledger, "late", "root.x.late") == BELOW_X
    end(ledger, "elsewhere", at=10)
    assert standing(ledger, "late") == BELOW_X


def test_a_setting_that_is_raised_counts_at_once() -> None:
    ledger = ledger_of(most=1)
    for at in range(4):
        submit(ledger, f"p{at}", f"root.x.q{at}", at=at)
    ledger.apply(on.SettingsRead(LedgerSettings(max_dynamic=3)), now=START + 9)
    assert [standing(ledger, f"p{at}") for at in range(4)] == ["root.x.q0", "root.x.q1", "root.x.q2", BELOW_X]


def test_a_document_that_names_a_queue_takes_it_off_the_number() -> None:
    ledger = ledger_of(most=1)
    submit(ledger, "p0", "root.x.q0")
    named = replace(make_partition(*TEAMS, make_queue("root.x.q0")), rules=RULES)
    ledger.apply(on.Configured(named, LedgerSettings(max_dynamic=1)), now=START)
    assert submit(ledger, "p1", "root.x.q1") == "root.x.q1"
    assert submit(ledger, "p2", "root.x.q2") == BELOW_X
    ledger.apply(
        on.Configured(replace(named, queues=named.queues[:-1]), LedgerSettings(max_dynamic=1)), now=START
    )
    tree = ledger.view.tree
    assert (tree.made_below(QueuePath("root.x")), tree.made) == (1, 1)


@pytest.mark.rule("PL-12")
def test_a_pod_that_runs_counts_in_recovery_beyond_it() -> None:
    """A tenant who names nodes cannot create more queues either."""
    ledger = ledger_of(most=1)
    assert submit(ledger, "p0", "root.x.q0", node="n1") == "root.x.q0"
    assert submit(ledger, "p1", "root.x.q1", node="n1") == "root.@recovery@"
    assert ledger.view.tree.made == 1
    assert ledger.view.application(AppId("p1", "default", recovered=True)) is not None
    assert drifts(ledger) == []


def test_what_ran_before_a_restart_has_its_queue_after_it() -> None:
    ledger = ledger_of(listed=False)
    for at in range(2):
        assert submit(ledger, f"p{at}", f"root.x.q{at}", node="n1") == f"root.x.q{at}"
    assert submit(ledger, "waits", "root.x.waits") == BELOW_X


def test_thousands_that_wait_are_not_all_placed_anew() -> None:
    """Each application costs memory, and at most as many are checked again as queues may be created."""
    ledger = ledger_of(most=1)
    for at in range(200):
        submit(ledger, f"p{at}", f"root.x.q{at}")
    before = {at: ledger.view.application(AppId(f"p{at}", "default")) for at in range(200)}
    end(ledger, "p0", at=10)
    placed = [at for at in range(1, 200) if standing(ledger, f"p{at}") != BELOW_X]
    assert len(placed) == 1
    assert before[placed[0]] is not None
