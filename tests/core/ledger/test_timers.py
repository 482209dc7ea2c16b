"""The work in one step is small, however much is due, since a verb may wait for it."""

import statistics
from dataclasses import replace

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.cycle import WORK_PER_SLICE
from core.ledger.admission.turns import EXPIRED_AT_ONCE
from core.ledger.ledger import Ledger
from core.ledger.node_reservation.search import AGED_AT_ONCE, RESERVED_AFTER
from core.workload.gangs.gang import PodGroup
from core.workload.pod import OWN_GATE
from tests.builders import START, filtered, make_ledger, make_node, make_pod, make_queue
from tests.effort import effort

UNITS, TEAMS, APPS = 3, 6, 5
POLICIES = ("fifo", "fair", "stateaware")
LARGE = 60_000


def hierarchy() -> Ledger:
    """Three levels under all three policies, and nodes with a little free capacity each."""
    queues = []
    for unit in range(UNITS):
        queues.append(make_queue(f"root.u{unit}", leaf=False, guaranteed={"vcore": 1000 * unit}))
        for team in range(TEAMS):
            policy = {"application.sort.policy": POLICIES[team % len(POLICIES)]}
            queues.append(replace(make_queue(f"root.u{unit}.t{team}"), properties=policy))
    ledger = make_ledger(*queues, nodes=0)
    for at in range(2 * WORK_PER_SLICE):
        name = f"n{at:03}"
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=LARGE)), now=START)
        runs = make_pod(f"runs-{name}", cpu=LARGE - 1500, node=name, app="runs", queue="root.u0.t0")
        ledger.apply(on.PodObserved(runs), now=START)
    return ledger


def asks(ledger: Ledger, cpu: int, *, created: float, gates: tuple[str, ...] = ()) -> list[PodUid]:
    """Asks, one of each application."""
    uids = []
    for number in range(UNITS * TEAMS * APPS):
        unit, team, app = number % UNITS, number // UNITS % TEAMS, number // UNITS // TEAMS
        queue = f"root.u{unit}.t{team}"
        name = f"ask-{cpu}-{number:03}"
        pod = make_pod(name, cpu=cpu, queue=queue, app=f"{queue}-{app}", created=created, gates=gates)
        ledger.apply(on.PodObserved(pod), now=START)
        uids.append(pod.uid)
    return uids


def slices(ledger: Ledger) -> list[int]:
    """The effort of each slice of the cycles that are wanted."""
    found = []
    while ledger.view.cycle_wanted:
        found.append(effort(lambda: ledger.apply(on.CycleDue(), now=START)))
    return found


def run_passes(ledger: Ledger, *, at: float = 0.0) -> None:
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START + at)


def test_no_slice_of_a_pass_is_much_longer_than_the_others() -> None:
    """The asks fit, or need a search for a node."""
    ledger = hierarchy()
    asks(ledger, 1000, created=START, gates=(OWN_GATE,))
    asks(ledger, LARGE, created=START - RESERVED_AFTER, gates=(OWN_GATE,))
    found = slices(ledger)
    assert len(ledger.view.reserved_nodes) > 0
    assert len(ledger.view.turns) > 50
    assert len(found) > 20
    assert max(found) < 2 * statistics.median(found)


def test_nor_of_one_that_begins_while_many_have_turns() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=20)
    for count, turns in ((20 * WORK_PER_SLICE, 0), (WORK_PER_SLICE, 20 * WORK_PER_SLICE)):
        run_passes(ledger)
        assert len(ledger.view.turns) == turns
        for number in range(count):
            pod = make_pod(f"p{turns}-{number}", gates=(OWN_GATE,))
            ledger.apply(on.PodObserved(pod), now=START)
    found = slices(ledger)
    assert max(found) < 2 * statistics.median(found)


# -- what time brings about ----------------------------------------------------------------------------------


def test_an_ask_that_comes_of_age_is_not_checked_where_a_node_has_capacity_for_it() -> None:
    """kube-scheduler has not tried the pod yet, as happens to most pods of a burst."""
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("small", created=START)), now=START)
    run_passes(ledger)
    ledger.apply(on.TimePassed(), now=START + RESERVED_AFTER)
    assert not ledger.view.cycle_wanted
    assert ledger.view.next_due() is None


def test_one_that_no_node_has_capacity_for_is() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("runs", cpu=60_000, node="n1", app="other")), now=START)
    ledger.apply(on.PodObserved(make_pod("large", cpu=60_000, created=START)), now=START)
    run_passes(ledger)
    ledger.apply(on.TimePassed(), now=START + RESERVED_AFTER)
    assert ledger.view.cycle_wanted


def test_one_that_a_node_had_capacity_for_is_when_kube_scheduler_finds_none_after_all() -> None:
    """Two nodes of 100 cores have 40 free each: the sum suffices, and neither node does."""
    ledger = make_ledger(make_queue("root.a"), nodes=2)
    ledger.apply(on.PodObserved(make_pod("large", cpu=60_000, created=START)), now=START)
    tick(ledger, RESERVED_AFTER)
    assert not ledger.view.cycle_wanted
    for name in ("n1", "n2"):
        runs = make_pod(f"on-{name}", cpu=60_000, node=name, app="other")
        ledger.apply(on.PodObserved(runs), now=START + RESERVED_AFTER)
    filtered(ledger, PodUid("uid-large"), now=START + RESERVED_AFTER)
    failed = make_pod("large", cpu=60_000, created=START, version=9, unscheduled="0/2 nodes: too little cpu")
    ledger.apply(on.PodObserved(failed), now=START + RESERVED_AFTER)
    for moment in range(3, 12):
        tick(ledger, float(moment))
        run_passes(ledger, at=float(moment))
    assert list(ledger.view.reserved_nodes.values()) == [PodUid("uid-large")]


def tick(ledger: Ledger, at: float) -> None:
    ledger.apply(on.TimePassed(), now=START + at)


def test_many_come_of_age_some_at_a_time() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for number in range(AGED_AT_ONCE + 1):
        ledger.apply(on.PodObserved(make_pod(f"p{number}", created=START)), now=START)
    tick(ledger, RESERVED_AFTER)
    assert ledger.view.cycle.overdue
    assert ledger.view.next_due() == START + RESERVED_AFTER
    tick(ledger, RESERVED_AFTER)
    assert not ledger.view.cycle.overdue
    assert ledger.view.next_due() is None


def test_many_turns_end_some_at_a_time() -> None:
    """All of them end with their leases and not later (DESIGN-3)."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000 * (EXPIRED_AT_ONCE + 1)}))
    for number in range(EXPIRED_AT_ONCE + 3):
        pod = make_pod(f"p{number:03}", created=float(number), gates=(OWN_GATE,))
        ledger.apply(on.PodObserved(pod), now=START)
    run_passes(ledger)
    assert len(ledger.view.turns) == EXPIRED_AT_ONCE + 1
    tick(ledger, ledger.view.settings.turn_lease)
    assert (len(ledger.view.turns), ledger.view.cycle.overdue) == (1, True)
    tick(ledger, ledger.view.settings.turn_lease)
    assert (len(ledger.view.turns), ledger.view.cycle.overdue) == (0, False)


def test_turns_of_a_large_group_which_ends_as_one_are_in_nobodys_way() -> None:
    group = PodGroup("g", EXPIRED_AT_ONCE + 1)
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000 * (EXPIRED_AT_ONCE + 2)}))
    for number in range(EXPIRED_AT_ONCE + 3):
        named = {"pod_group": group} if number <= EXPIRED_AT_ONCE else {}
        pod = make_pod(f"p{number:03}", created=float(number), gates=(OWN_GATE,), **named)
        ledger.apply(on.PodObserved(pod), now=START)
    run_passes(ledger)
    assert len(ledger.view.turns) == EXPIRED_AT_ONCE + 2
    single = PodUid(f"uid-p{EXPIRED_AT_ONCE + 1:03}")
    assert list(ledger.view.turns)[-1] == single
    tick(ledger, ledger.view.settings.turn_lease)
    assert not ledger.view.has_turn(single)
    assert not ledger.view.cycle.overdue
