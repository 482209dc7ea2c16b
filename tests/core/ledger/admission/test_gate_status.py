"""Pods at our own gate: opened when their turn comes, and told why not before that (DESIGN-6)."""

from core.decisions.gating import decide_gate
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, OpenGate, SetCondition
from core.ledger.ledger import Ledger
from core.workload.pod import ADMITTED, OWN_GATE
from tests.builders import START, make_ledger, make_node, make_pod, make_queue

A = make_queue("root.a", max={"vcore": 1000})


def gated(ledger: Ledger, name: str, **facts: object) -> tuple[Effect, ...]:
    pod = make_pod(name, app=name, gates=(OWN_GATE,), **facts)  # type: ignore[arg-type]
    ledger.apply(on.PodObserved(pod), now=START)
    return passed(ledger)


def passed(ledger: Ledger, *, now: float = START) -> tuple[Effect, ...]:
    effects: list[Effect] = []
    while ledger.view.cycle_wanted:
        effects += ledger.apply(on.CycleDue(), now=now)
    return tuple(effects)


def told(ledger: Ledger, *, now: float = START) -> list[str]:
    """What is written when all at the gate are gone through."""
    texts = []
    for uid in ledger.view.gated():
        held = decide_gate(ledger.view, uid, now=now)
        for effect in ledger.apply(held, now=now) if held is not None else ():
            assert isinstance(effect, SetCondition)
            assert (effect.kind, effect.status) == (ADMITTED, False)
            texts.append(f"{effect.name}: {effect.message}")
    return texts


def test_who_fits_is_let_in_and_the_others_are_told_once() -> None:
    ledger = make_ledger(A)
    assert gated(ledger, "first") == (OpenGate(PodUid("uid-first"), "default", "first"),)
    assert gated(ledger, "second") == ()
    assert told(ledger) == ["second: WaitingForTurn: root.a"]
    assert told(ledger) == []


def test_the_lease_begins_when_the_gate_is_open() -> None:
    """Before that the pod cannot know of its turn, and gates are opened one after the other."""
    ledger = make_ledger(A)
    gated(ledger, "first")
    gated(ledger, "second")
    first, lease = PodUid("uid-first"), ledger.view.settings.turn_lease
    ledger.apply(on.PodWoken(first, reached=True), now=START + 1.5)
    ledger.apply(on.TimePassed(), now=START + 1.4 + lease)
    assert ledger.view.has_turn(first)
    ledger.apply(on.TimePassed(), now=START + 1.5 + lease)
    assert not ledger.view.has_turn(first)


def test_the_text_follows_the_reason() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    gated(ledger, "waits")
    assert told(ledger) == ["waits: QuotaExceeded: root.a max vcore=1"]
    ledger.apply(on.PodDeleted(PodUid("uid-running")), now=START)
    opened, condition = passed(ledger)
    assert isinstance(opened, OpenGate)
    assert isinstance(condition, SetCondition)
    assert (condition.status, condition.reason) == (True, "Admitted")
    assert told(ledger) == []


def test_what_no_node_takes_is_told_so() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=1000)), now=START)
    assert gated(ledger, "large", cpu=1500) == ()
    assert told(ledger) == ["large: Unschedulable: no node has room for it"]


def test_what_is_written_there_already_is_not_written_again() -> None:
    """As after a restart; and what could not be written is."""
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("running", node="n1")), now=START)
    text = "QuotaExceeded: root.a max vcore=1"
    gated(ledger, "before", gate_reported=text)
    gated(ledger, "fresh")
    assert told(ledger) == [f"fresh: {text}"]
    ledger.apply(on.GateReportFailed(PodUid("uid-fresh")), now=START)
    assert told(ledger) == [f"fresh: {text}"]


def test_only_our_own_gate_is_spoken_of() -> None:
    ledger = make_ledger(A)
    ledger.apply(on.PodObserved(make_pod("other", app="o", gates=("example.com/wait",))), now=START)
    ledger.apply(on.PodObserved(make_pod("plain", app="p")), now=START)
    assert told(ledger) == []
    assert decide_gate(ledger.view, PodUid("uid-nobody"), now=START) is None


def test_a_turn_lasts_while_everybody_who_waits_has_one() -> None:
    """A pass would give it again. It ends when somebody waits for the room."""
    ledger = make_ledger(A)
    gated(ledger, "first")
    first, late = PodUid("uid-first"), START + 2 * ledger.view.settings.turn_lease
    ledger.apply(on.TimePassed(), now=late)
    assert ledger.view.has_turn(first)
    assert not ledger.view.cycle_wanted
    assert ledger.view.next_due() is None
    gated(ledger, "second")
    ledger.apply(on.TimePassed(), now=late)
    assert not ledger.view.has_turn(first)


def test_a_gate_that_is_the_only_guard_is_opened_on_no_old_turn() -> None:
    """Its opening failed and was to be tried again; meanwhile others took the room by force (F-2)."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 2000}))
    gated = make_pod("gated", gates=(OWN_GATE,), asks_filter=False)
    ledger.apply(on.PodObserved(gated), now=START)
    assert opened(ledger, now=START) == [gated.uid]
    ledger.apply(on.PodWoken(gated.uid, reached=False), now=START)
    assert opened(ledger, now=START) == []
    ledger.apply(on.PodObserved(make_pod("forced", cpu=2000, node="n1", app="other")), now=START + 0.5)
    ledger.apply(on.TimePassed(), now=START + 2)
    assert opened(ledger, now=START + 2) == []
    ledger.apply(on.PodDeleted(PodUid("uid-forced")), now=START + 3)
    ledger.apply(on.TimePassed(), now=START + 3)
    assert opened(ledger, now=START + 3) == [gated.uid]


def opened(ledger: Ledger, *, now: float) -> list[PodUid]:
    return [effect.uid for effect in passed(ledger, now=now) if isinstance(effect, OpenGate)]
