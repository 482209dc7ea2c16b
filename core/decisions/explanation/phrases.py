"""Sentences of explanations. None names another pod or a usage, so that the same text may stand in Events."""

from collections.abc import Iterable

from core.decisions.explanation.values import (
    NodeCounts,
    PodExplanation,
    PodStanding,
    Remedy,
    TogetherExplanation,
)
from core.ledger.trial.change import Change, Raise
from core.queues.limit_state import LimitKind, LimitState
from core.reasons import Code, Refusal
from core.resource import Resource
from core.sentences import amount_phrase, amounts_phrase

LONGEST_QUOTE = 1_000
"""Characters of a text of others that an explanation repeats."""

LEAVING = "it is being deleted"
NOT_READY = "Paddock has not yet read everything that it needs to judge the pod"
BACK_OFF = "its last turns led to no node, so it backs off for a moment"
PASSED_OVER = "its last turn led to no node, so other pods go first this time"
NO_NODES = "its application is in back-off: too many of its pods found no node"
GROUP_BACK_OFF = "its pod group waited for members in vain and tries again later"
OWN_NODE = "a node is reserved for it but still lacks capacity"
NOT_JUDGED = (
    "only kube-scheduler can judge its nodes: volumes, ports, terms between pods, or many constraints"
)
RESERVED = "each node that could take it is reserved for another pod"

_UNFIT = {"affinity": "not admitted by its affinity", "taint": "tainted", "cordon": "cordoned"}


def foreign_gates(gates: Iterable[str]) -> str:
    """Sentence about the gates of a pod."""
    return quoted(f"gates of others hold it: {', '.join(sorted(gates))}")


def quoted(text: str) -> str:
    """Text of others, shortened."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def of_refusal(refusal: Refusal) -> str:
    """Sentence for a refusal without figures."""
    match refusal.code:
        case Code.WAITING_FOR_TURN:
            return f"it waits for its turn in {refusal.subject}"
        case Code.STATE_AWARE_HOLD:
            return f"{refusal.subject} starts one application after the other, and another is starting"
        case _:
            return refusal.text.partition(": ")[2]


def of_limit(state: LimitState) -> str:
    """Sentence for a limit that is short, without usage."""
    key = state.key
    owner = f"{key.kind} {key.name} in {key.path}" if key.name else str(key.path)
    if not key.resource:
        return f"{owner} may run {state.bound} applications at a time"
    if key.kind is LimitKind.CLUSTER:
        return f"the nodes of the cluster offer {amount_phrase(key.resource, state.bound)} in all"
    return f"{owner} may use {amount_phrase(key.resource, state.bound)}"


def no_node(size: Resource, counts: NodeCounts) -> str:
    """Sentence for an ask that no node takes, with what rules nodes out."""
    unfit = counts.by_reason
    named = ", ".join(f"{unfit[each]} {phrase}" for each, phrase in _UNFIT.items() if each in unfit)
    needed = amounts_phrase(dict(size.items()))
    if not counts.judged:
        return f"it needs {needed}, and there is no node that it may run on"
    if "capacity" not in unfit:
        return f"no node admits it: {named}"
    which = "its affinity admits" if "affinity" in unfit else "admits it"
    return f"it needs {needed} and fits on no node that {which}" + (f" ({named})" if named else "")


# -- verdicts and changes ----------------------------------------------------------------------------------

_STANDINGS = {
    PodStanding.UNMANAGED: "no queue applies to it",
    PodStanding.BOUND: "it has a node",
    PodStanding.RESERVED: "its quota is reserved until kube-scheduler binds it",
    PodStanding.LEAVING: LEAVING,
    PodStanding.PENDING: "it has its turn, and kube-scheduler may place it",
    PodStanding.GATED: "gates of others hold it",
}


def verdict_on(explanation: PodExplanation) -> str:
    """Sentence about a pod: the text that its condition has, else what holds it, else its standing."""
    return explanation.refusal.text if explanation.refusal is not None else _held_by(explanation)


def _held_by(explanation: PodExplanation) -> str:
    found = explanation.obstacles
    if found:
        return found[0].text
    remedies = explanation.remedies
    if remedies is not None and remedies.remedy is Remedy.NOTHING:
        return "nothing holds it, and the next cycle gives it its turn"
    return _STANDINGS[explanation.standing]


def verdict_together(explanation: TogetherExplanation) -> str:
    """Sentence about an application or a pod group."""
    if explanation.text:
        return explanation.text
    if explanation.first is not None:
        return f"its first pending pod waits: {verdict_on(explanation.first)}"
    return "none of its pods waits for a turn"


def verdict_on_arrival(pods: int, placed: int | None, first: PodExplanation | None) -> str:
    """Sentence about pods that would arrive now, of which some would get their turn."""
    if placed is None:
        return "not known: too many pods go first to play them all"
    subject = "it" if pods == 1 else f"each of the {pods} pods"
    if placed == pods:
        return f"{subject} would get its turn now"
    # A pod that does not exist has no condition.
    why = _held_by(first) if first is not None else "not known why"
    if placed:
        return f"{placed} of {pods} pods would get a turn now, and the next waits: {why}"
    return f"{subject} would wait: {why}"


def of_change(change: Change) -> str:
    """Sentence about a change, without names of pods."""
    found = [f"raise {_limit_name(each)} by {_amount(each)}" for each in change.raises]
    if change.node is not None:
        found.append(f"add a node with {amounts_phrase(dict(change.node.allocatable.items()))}")
    if change.ended:
        found.append(f"end {len(change.ended)} pod{'s' if len(change.ended) > 1 else ''}")
    return ", and ".join(found)


def _limit_name(raised: Raise) -> str:
    key = raised.key
    return f"the limit of {key.kind} {key.name} in {key.path}" if key.name else f"the max of {key.path}"


def _amount(raised: Raise) -> str:
    if not raised.key.resource:
        return f"{raised.by} application{'s' if raised.by > 1 else ''}"
    return amount_phrase(raised.key.resource, raised.by)
