"""Judgement of plans, when they are made and when they are committed: lawful, and still valid (PRE-20)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.decisions.preemption import laws
from core.decisions.preemption.case import Case, case_of
from core.decisions.preemption.eligibility import is_pending
from core.decisions.preemption.laws import numbers
from core.decisions.preemption.receipts import Finding, Kind, NodeNotes, Plan, Receipt, Victim, passed
from core.decisions.preemption.selection import Choice
from core.decisions.preemption.wording import guarantee_sentence
from core.decisions.required_node import breach_of
from core.ids import PodUid, QueuePath
from core.ledger.view import LedgerView
from core.queues.guarantees import below_common, losable, remaining
from core.queues.queue import Queue
from core.queues.whatif import WhatIf


@dataclass(frozen=True, slots=True)
class Breach:
    """Law that a plan breaks. ``victim``: victim concerned; None if the ask itself may not preempt."""

    law: str
    victim: PodUid | None
    text: str


def check_laws(view: LedgerView, plan: Plan) -> tuple[Breach, ...]:
    """Laws that a plan breaks on the current ledger, before its victims are marked. Empty for none.

    Only plans that reach for a guarantee are bound by all laws (RNP-1, QCP-6). Plans for a DaemonSet's pod
    are bound by two, if the settings say so (F-10).
    """
    if plan.kind not in (Kind.GUARANTEE, Kind.REQUIRED_NODE):
        return ()
    record = view.pod(plan.uid)
    leaf = view.queue_of(record) if record is not None else None
    if record is None or leaf is None:
        return (Breach("LAW-4", None, "the ask is in no queue"),)
    if plan.kind is Kind.REQUIRED_NODE:
        broken = breach_of(view, plan, record, leaf)
        return (Breach(*broken, "a DaemonSet's pod may not evict it"),) if broken else ()
    case = case_of(view, record, leaf)
    found = [
        Breach(finding.law, uid, finding.text)
        for uid, finding, holds in _findings(view, case, plan.victims)
        if not holds
    ]
    here = [each for each in plan.victims if each.node == plan.node]
    others = [each for each in plan.victims if each.node != plan.node]
    if not (laws.willing_come_first(here) and laws.willing_come_first(others)):
        found.append(Breach("LAW-1", None, "victims that opted out stand before others"))
    return tuple(found)


def outdated(view: LedgerView, plan: Plan) -> str:
    """Return the reason why a plan is no longer valid, even if it is lawful. Empty if it is valid.

    The ask must still wait. Its victims must still run on their nodes, and their eviction must be enough and
    necessary.
    """
    record = view.pod(plan.uid)
    leaf = view.queue_of(record) if record is not None else None
    if record is None or leaf is None or not is_pending(view, record):
        return "the ask does not wait any more"
    if plan.node not in view.nodes:
        return f"node {plan.node} was deleted"
    if plan.kind is Kind.REQUIRED_NODE and record.daemon.required_node != plan.node:
        return "no DaemonSet has made it for this node"
    if view.reserved_nodes.get(plan.node, plan.uid) != plan.uid:
        return f"node {plan.node} is reserved for another pod"
    for victim in plan.victims:
        running = view.pod(victim.uid)
        if running is None or running.node != victim.node or not running.evictable:
            return f"{victim.namespace}/{victim.name} does not run there any more"
    return "" if plan.kind is not Kind.GUARANTEE else _unfit(view, case_of(view, record, leaf), plan)


def _unfit(view: LedgerView, case: Case, plan: Plan) -> str:
    choice = Choice(case, plan.node, case.free_on(view, plan.node))
    if choice.suffices():
        return "there is enough capacity without victims"
    for victim in plan.victims:
        queue = view.tree.get(victim.queue)
        if queue is None:
            return f"queue {victim.queue} was deleted"
        choice.add(victim, queue)
    return "" if choice.suffices() else "the ask would not fit any more"


def receipt_of(view: LedgerView, case: Case, victims: Sequence[Victim], nodes: NodeNotes) -> Receipt:
    """Receipt of a plan: each law with its figures."""
    findings: dict[PodUid | None, list[Finding]] = {}
    for uid, finding, _ in _findings(view, case, victims):
        findings.setdefault(uid, []).append(finding)
    return Receipt(
        Kind.GUARANTEE,
        tuple(findings.get(None, ())),
        tuple(
            passed(each, *findings.get(each.uid, ()), why=why)
            for each, why in zip(victims, _sentences(view, case, victims), strict=True)
        ),
        nodes,
    )


def _sentences(view: LedgerView, case: Case, victims: Sequence[Victim]) -> Iterator[str]:
    """Sentences that say why each victim may be evicted. Capacity of earlier victims counts as the ask's."""
    usage = case.usage.before()
    for victim in victims:
        leaf = view.tree.get(victim.queue)
        if leaf is None:
            yield ""
            continue
        yield guarantee_sentence(case, usage, leaf)
        usage.remove(leaf, victim.size)
        usage.place(case.leaf, victim.size)


Found = tuple[PodUid | None, Finding, bool]
"""Victim, law with its figures, and True if the plan respects it. The victim is None for the ask."""


def _findings(view: LedgerView, case: Case, victims: Sequence[Victim]) -> Iterator[Found]:
    """Judge victims in order. Capacity of earlier victims counts as the ask's."""
    usage, without = case.usage.before(), case.usage.before()
    own = (case.fence.root.path, case.fence.bound)
    yield None, Finding("LAW-7", f"victims come from below {own[0]} ({own[1]})"), True
    for victim in victims:
        leaf = view.tree.get(victim.queue)
        if leaf is None:
            yield victim.uid, Finding("LAW-5", f"queue {victim.queue} was deleted"), False
            continue
        for finding, holds in _of_victim(view, case, usage, victim, leaf):
            yield victim.uid, finding, holds
        usage.remove(leaf, victim.size)
        usage.place(case.leaf, victim.size)
        without.remove(leaf, victim.size)
    rest = remaining(without, case.leaf, case.leaf)
    holds = laws.is_below_guarantee(rest, case.wanted, may_exceed=case.settings.may_exceed_guarantee)
    text = f"wants {numbers(case.wanted)}, left to its guarantee after the evictions: {numbers(rest)}"
    yield None, Finding("LAW-4", text), holds


def _of_victim(
    view: LedgerView, case: Case, usage: WhatIf, victim: Victim, leaf: Queue
) -> Iterator[tuple[Finding, bool]]:
    if any(victim.wishes):
        wishes = ("guarded by a budget", "opted out", "an originator")
        wish = ", ".join(word for word, holds in zip(wishes, victim.wishes, strict=True) if holds)
        yield Finding("LAW-1", f"{wish}: taken because the others were not enough"), True
    below = below_common(leaf, case.leaf)
    spare = losable(usage, below)
    text = (
        f"gives {numbers(dict(victim.size.items()))}, above guarantees: {numbers(spare)}"
        if spare
        else "no guarantee"
    )
    yield Finding("LAW-2", text), laws.keeps_guarantee(usage, below, victim.size)
    record = view.pod(victim.uid)
    app = record.membership.application if record is not None else None
    name = app.name if app is not None else "none"
    yield Finding("LAW-3", f"application {name}"), laws.is_of_another(app, case.record.membership.application)
    rest = remaining(usage, leaf, case.leaf)
    yield (
        Finding("LAW-5", f"left to its queue's guarantee: {numbers(rest)}"),
        laws.is_above_guarantee(rest, case.wanted),
    )
    found = case.reach.get(leaf.path)
    worth = "none" if found is None else "any" if found.fair_game else f"at most {found.priority}"
    yield (
        Finding("LAW-6", f"priority {victim.priority}, allowed: {worth}"),
        laws.is_no_more_important(found, victim.priority),
    )
    yield Finding("LAW-7", f"below {case.fence.root.path}"), laws.is_inside_fence(case.fence, leaf)


def undercut(view: LedgerView, uids: Iterable[PodUid]) -> QueuePath | None:
    """First queue that would fall below its guarantee, or further below, if those pods were evicted.

    For preemptors in no queue (``paddock.preemption.protectGuarantees: foreign``). They have no common
    ancestor with any queue, so every queue up to the root counts. Pods without a queue are ignored.
    """
    usage = WhatIf()
    for uid in uids:
        record = view.pod(uid)
        leaf = view.queue_of(record) if record is not None else None
        if record is None or leaf is None or not record.node or record.preempting:
            continue
        for queue in leaf.chain:
            if not laws.keeps_guarantee(usage, (queue,), record.facts.size):
                return queue.path
        usage.remove(leaf, record.facts.size)
    return None
