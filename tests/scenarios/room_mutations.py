"""How rules are switched off that say where room is made, how it is kept, and what outlives a restart."""

from collections.abc import Callable, Iterator
from typing import Any

from core.decisions import admission, required_node
from core.decisions.preemption import case, judging, selection
from core.decisions.preemption import planning as preemption
from core.decisions.preemption.receipts import NoPlan, Stop, Victim
from core.ledger import recovery as recalling
from core.ledger import timers as moments
from core.ledger import view as snapshot
from core.ledger.admission import cycle as turn_pass
from core.ledger.node_reservation import reservation as keeping
from core.ledger.pods import sightings
from core.ledger.preemption import attempts as tries
from core.ledger.preemption import execution as carrying
from core.ledger.preemption import victims as marks
from core.ledger.settings import PreemptionSettings
from core.ledger.state import State
from core.workload.nodes.room import NodeRoom
from extender.engine import engine
from tests.scenarios.mutating import Mutate, answering, both, fixed, replaced, valued

Rule = Callable[..., Any]

WHOLE_ASK = fixed(PreemptionSettings, "whole_ask", True)
MINIMAL = fixed(PreemptionSettings, "whole_ask", False)
NO_BUDGETS = answering(case, "forbids", False)
OLDEST_FIRST = valued(Victim, "order", property(lambda self: (*self.wishes, self.created, self.seq)))


# -- nodes ------------------------------


def _nowhere(*_: Any, **__: Any) -> Iterator[int]:
    """No node has room as it is."""
    yield 1


def _without_number(rule: Rule, name: Any, picked: Any) -> Any:
    wishes, _, name = rule(name, picked)
    return wishes, 1, name


NOT_KEPT = both(
    answering(admission, "kept_from", ()),
    replaced(NodeRoom, "tightest", lambda rule, *args, besides=(), **more: rule(*args, **more)),
)


def _for_ever(patch: Any) -> None:
    for module in (keeping, marks, moments):
        patch.setattr(module, "KEPT_AT_MOST", 1e9)


def _only_of_nodes(rule: Rule, state: State, uid: Any) -> None:
    """An ask that is deleted stays."""
    record = state.pods.get(uid)
    if record is None or record.node:
        rule(state, uid)


# -- pods of one node ------------------------------


def _by_the_switch(rule: Rule, state: snapshot.Snapshot, record: Any, leaf: Any) -> Any:
    if state.preempts:
        return rule(state, record, leaf)
    return NoPlan(record.uid, Stop.SWITCHED_OFF, "PRE-1", "")


def _not_its_own(rule: Rule, pod: Any, ask: Any, *, strict: bool) -> str:
    return "its own" if pod.application == ask.application else rule(pod, ask, strict=strict)


def _as_documented(rule: Rule, victim: Victim) -> int:
    return 2 if victim.originator else 3 if victim.opted_out else 1


def _again(rule: Rule, state: Any, record: Any, leaf: Any) -> Any:
    """As if it had not chosen before."""
    before, record.triggered = record.triggered, ""
    try:
        return rule(state, record, leaf)
    finally:
        record.triggered = before


def required(name: str, by: Callable[..., Any]) -> Mutate:
    return replaced(required_node, name, by)


NOTHING_RECALLED = both(answering(recalling, "remember", None), answering(sightings, "resume", None))

ROOM: dict[str, Mutate] = {
    "guarantee-after-a-restart": NOTHING_RECALLED,
    "guarantee-against-strangers": answering(engine, "undercut", None),
    "guarantee-chooses-fewest-victims": replaced(preemption, "_score", _without_number),
    "guarantee-chooses-the-willing-node": answering(case, "is_opted_out", False),
    "guarantee-credits-free-quota": WHOLE_ASK,
    "guarantee-credits-free-room": WHOLE_ASK,
    "guarantee-credits-no-free-quota-by-setting": MINIMAL,
    "guarantee-credits-no-free-room-by-setting": MINIMAL,
    "guarantee-keeps-the-room": NOT_KEPT,
    "guarantee-keeps-the-room-for-two-hours": _for_ever,
    "guarantee-killed-after-a-victim-was-marked": answering(sightings, "resume", None),
    "guarantee-killed-after-an-eviction": answering(sightings, "resume", None),
    "guarantee-killed-after-the-ask-was-marked": answering(recalling, "_comes_together", True),
    "guarantee-killed-after-the-nomination": NOTHING_RECALLED,
    "guarantee-nominates-when-all-are-gone": answering(turn_pass, "nominate", ()),
    "guarantee-of-an-ask-that-goes": replaced(sightings, "delete_pod", _only_of_nodes),
    "guarantee-on-which-nodes": answering(preemption, "why_unfit", ""),
    "guarantee-refused-by-a-budget": answering(carrying, "_give_up", None),
    "guarantee-spares-who-is-guarded": NO_BUDGETS,
    "guarantee-takes-no-more-than-needed": answering(selection.Choice, "give_back", None),
    "guarantee-waits-for-a-budget": valued(tries, "TRIES_APART", 60.0),
    "guarantee-with-a-smaller-victim-by-setting": MINIMAL,
    "guarantee-with-a-victim-smaller-than-the-ask": WHOLE_ASK,
    "guarantee-with-victims-anywhere": OLDEST_FIRST,
    "guarantee-with-victims-of-another-node": valued(preemption.Planning, "_with_room", _nowhere),
    "required-node-and-a-budget": NO_BUDGETS,
    "required-node-at-once": replaced(preemption, "plan_required_node", _by_the_switch),
    "required-node-chooses-once": both(
        replaced(preemption, "plan_required_node", _again), answering(snapshot.Snapshot, "coming", {})
    ),
    "required-node-credits-free-room": required("lacking", lambda rule, free, wanted: dict(wanted)),
    "required-node-keeps-guarantees-by-setting": answering(required_node, "keeps_guarantee", True),
    "required-node-order-opted-out": required("kind_of", _as_documented),
    "required-node-order-originators": required(
        "_order", lambda rule, victim: (required_node.kind_of(victim), -victim.priority, victim.seq)
    ),
    "required-node-order-regular": required(
        "_order", lambda rule, victim: (required_node.kind_of(victim), *victim.newness)
    ),
    "required-node-spares": answering(required_node, "_spared", ""),
    "required-node-spares-equals-by-setting": both(
        required("_spared", lambda rule, pod, ask, strict: rule(pod, ask, strict=False)),
        answering(judging, "breach_of", None),
    ),
    "required-node-takes-its-own": required("_spared", _not_its_own),
    "required-node-within-its-quota": answering(required_node, "shortfall", None),
    "required-node-without-enough": required("_covered", lambda rule, victims, missing: bool(victims)),
}
