"""Planner of preemption. It finds a node and victims for an ask whose queue is below its guarantee (PRE-1).

Queues are checked before pods, and sums before single pods. A plan can be made in slices, so verbs need not
wait for it. The judgement at the end finds changes that happened between slices.
"""

from collections.abc import Collection, Generator
from heapq import heappop, heappush

from core.decisions.preemption import laws
from core.decisions.preemption.case import Case, gather_case
from core.decisions.preemption.eligibility import (
    held_back,
    is_in_back_off,
    is_pending,
    limited,
    why_not_eligible,
)
from core.decisions.preemption.judging import check_laws, outdated, receipt_of
from core.decisions.preemption.no_node import NO_POD, RESERVED, SPARED, TOO_FEW, why_no_node
from core.decisions.preemption.receipts import SHOWN, Finding, Kind, NodeTally, NoPlan, Plan, Stop, Victim
from core.decisions.preemption.search import (
    Open,
    candidates_in,
    candidates_on,
    could_help,
    may_cover,
    may_suffice,
    names_of,
    why_unfit,
)
from core.decisions.preemption.selection import Choice, Trial, fits, lacking, pick_on_node
from core.decisions.required_node import plan_required_node
from core.ids import NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.guarantees import remaining
from core.queues.queue import Queue

WORK_PER_SLICE = 100
"""Units of about ten microseconds in one slice, so that no verb waits longer than two milliseconds."""

NODES_COMPARED = 16
"""Nodes with victims that are compared. More only if all of these need victims that opted out (PRE-15)."""

PODS_COMPARED = 2_000
"""Pods that are compared if queues lack headroom (PRE-16). More only if these are too few or opted out."""

_NODES_PER_UNIT = 8
_UNITS_PER_CANDIDATE = 4

Outcome = Plan | NoPlan
Steps = Generator[int, None, Outcome]
Picked = list[tuple[Victim, Queue]]
Heap = list[tuple[tuple[bool, bool, bool, float, int, PodUid], Victim, Queue]]


def plan_preemption(
    view: LedgerView, uid: PodUid, *, now: float, candidates: Collection[NodeName] | None = None
) -> Outcome:
    """Make a plan for an ask at once, or return the reason against it; see `Planning`."""
    planning = Planning(view, uid, now=now, candidates=candidates)
    while planning.result is None:
        planning.slice()
    return planning.result


class Planning:
    """Plan in the making.

    ``candidates``: nodes that kube-scheduler offers, or None for all nodes that fit the ask. The ledger is
    never changed, and each slice reads it again.
    """

    def __init__(
        self,
        view: LedgerView,
        uid: PodUid,
        *,
        now: float,
        candidates: Collection[NodeName] | None = None,
    ) -> None:
        self._view = view
        self._uid = uid
        self._now = now
        self._candidates = None if candidates is None else frozenset(candidates)
        self._nodes = NodeTally()
        self._hardest: list[str] = []
        self._steps: Steps | None = self._plan()
        self.result: Outcome | None = None

    def slice(self, work: int = WORK_PER_SLICE) -> int:
        """Do at least ``work`` units of work, or as many as there are. Return how many were done."""
        done = 0
        while done < work and self._steps is not None:
            try:
                done += next(self._steps)
            except StopIteration as end:
                self.result = end.value
                self.drop()
        return done

    def drop(self) -> None:
        """Drop the steps, which refer to this object. Must be called if they are not done to the end."""
        if self._steps is not None:
            self._steps.close()
        self._steps = None

    # -- steps: each yields its units of work ---------------------------------------------------------------

    def _plan(self) -> Steps:
        view, record = self._view, self._view.pod(self._uid)
        leaf = view.queue_of(record) if record is not None else None
        if record is None or leaf is None or not is_pending(view, record):
            return NoPlan(self._uid, Stop.NOT_AN_ASK, "PRE-5", "it does not wait in a queue")
        if is_in_back_off(view, record):
            return NoPlan(self._uid, Stop.BACKS_OFF, "CYC-4", "its application is in back-off")
        if record.daemon.required_node:
            held = held_back(view, record, leaf, now=self._now)
            return held or plan_required_node(view, record, leaf)
        no = (
            why_not_eligible(view, record, leaf, now=self._now)
            or limited(view, record, leaf)
            or self._too_complex(record)
        )
        if no is not None:
            return no
        case = yield from gather_case(view, record, leaf)
        return (yield from self._search(case))

    def _too_complex(self, record: PodRecord) -> NoPlan | None:
        """Result for an ask with volumes, ports or terms between pods (DESIGN-4).

        Only kube-scheduler can judge them.
        """
        plans_complex = self._view.settings.preemption.plans_complex
        given = self._candidates is not None or (plans_complex and not record.facts.constraints.unread)
        if given or not record.facts.complex:
            return None
        text = "its volumes, ports or terms between pods are for kube-scheduler to judge"
        return NoPlan(record.uid, Stop.COMPLEX, "complexAsks", text)

    def _search(self, case: Case) -> Steps:
        open_ = Open(case)
        for _ in open_.judge_leaves():
            yield 2
        if not could_help(case, open_):
            rest = remaining(case.usage, case.leaf, case.leaf)
            text = f"wants {laws.numbers(case.wanted)}, left to its guarantee: {laws.numbers(rest)}"
            # The first resource that the guarantee has too little left of, or that it does not name.
            name = next((each for each in case.wanted if case.wanted[each] > (rest or {}).get(each, 0)), "")
            return self._no(open_, Stop.GUARANTEE, Finding("LAW-4", text, case.leaf.path, name))
        yield len(case.reach)
        if not open_:
            text = f"no pod below {case.fence.root.path} may be evicted"
            return self._no(open_, Stop.NO_VICTIMS, Finding("LAW-7", text, case.fence.root.path))
        short = Choice(case, NodeName(""), {}).short()
        self._hardest = list(case.wanted)
        names = names_of(self._candidates, self._view)
        roomy = yield from self._with_capacity(case, names, wanted=bool(short))
        if roomy is not None and not short:
            text = f"{roomy} and its queues have enough capacity"
            return self._no(open_, Stop.ENOUGH_CAPACITY, Finding("PRE-14", text))
        if roomy is not None:
            plan = yield from self._complete(case, open_, roomy, [])
            if plan is not None:
                return plan
        return (yield from self._over_nodes(case, open_, names))

    def _with_capacity(
        self, case: Case, names: list[NodeName], *, wanted: bool
    ) -> Generator[int, None, NodeName | None]:
        """Find the first node that has the capacity without victims.

        kube-scheduler has already tried the nodes that it offers. Such a node counts only if the queues lack
        headroom (PRE-14).
        """
        if self._candidates is not None and not wanted:
            return None
        view, given = self._view, self._candidates is not None
        for number, name in enumerate(names):
            if number % _NODES_PER_UNIT == 0:
                yield 1
            node = view.nodes.get(name)
            if node is None or not fits(case.free_on(view, name), case.wanted):
                continue
            if not (self._is_reserved(name) or why_unfit(case, node, given=given)):
                return name
        return None

    def _over_nodes(self, case: Case, open_: Open, names: list[NodeName]) -> Steps:
        """Try nodes in the order of their names, and take the one with the most willing victims (PRE-15)."""
        found: list[tuple[Score, Picked]] = []
        for name in names:
            yield 1
            picked = yield from self._on_node(case, open_, name)
            if not picked:
                continue
            found.append((_score(name, picked), picked))
            if found[-1][0][:2] == _BEST:
                break
            willing = any(not any(score[0]) for score, _ in found)
            if len(found) >= NODES_COMPARED and willing:
                break
        for score, picked in sorted(found, key=lambda each: each[0]):
            plan = yield from self._complete(case, open_, score[-1], picked)
            if plan is not None:
                return plan
            self._nodes.lose(score[-1], "its queues lack headroom")
        if found:
            cause = Finding("PRE-17", "no evictions give its queues enough headroom")
            return self._no(open_, Stop.HEADROOM, cause)
        cause = why_no_node(self._view, case, open_, self._nodes.notes())
        return self._no(open_, Stop.NO_NODE, cause)

    def _on_node(self, case: Case, open_: Open, name: NodeName) -> Generator[int, None, Picked | None]:
        """Find victims that free enough capacity on a node. None if there are none or it is ruled out."""
        view = self._view
        node, use = view.nodes.get(name), view.use_of(name)
        self._nodes.considered += 1
        if node is None or use is None or not use.evictable.groups:
            return self._lose(name, NO_POD)
        short = lacking(case.free_on(view, name), case.wanted)
        if not short:
            return self._lose(name, "has enough capacity")
        if not may_suffice(open_, use.evictable, short, self._hardest):
            return self._lose(name, TOO_FEW)
        if self._is_reserved(name):
            return self._lose(name, RESERVED)
        unfit = why_unfit(case, node, given=self._candidates is not None)
        if unfit:
            return self._lose(name, unfit)
        candidates = candidates_on(view, case, open_, use.evictable)
        yield _UNITS_PER_CANDIDATE * len(candidates)
        picked = pick_on_node(Trial(case), short, candidates)
        return picked if picked is not None else self._lose(name, SPARED)

    def _complete(
        self, case: Case, open_: Open, name: NodeName, picked: Picked
    ) -> Generator[int, None, Outcome | None]:
        """Complete the plan for a node, with victims elsewhere if queues lack headroom (PRE-16, PRE-17)."""
        choice, trial = Choice(case, name, case.free_on(self._view, name)), Trial(case)
        for victim, leaf in picked:
            trial.take(victim, leaf)
            choice.add(victim, leaf)
        if not choice.suffices():
            yield from self._add_elsewhere(case, open_, choice, trial, only=name if picked else NodeName(""))
        if not choice.suffices():
            return None
        choice.give_back()
        if not choice.victims:
            return self._no(open_, Stop.ENOUGH_CAPACITY, Finding("PRE-16", "no pod needs to be evicted"))
        # The judgement is a slice of its own, because it checks all queues concerned.
        yield WORK_PER_SLICE
        return self._judged(case, name, choice.victims)

    def _add_elsewhere(
        self, case: Case, open_: Open, choice: Choice, trial: Trial, *, only: NodeName
    ) -> Generator[int, None, None]:
        """Add victims elsewhere. ``only``: with whole asks, the node that provides all victims (PRE-17)."""
        leaves = [each.leaf for each in open_.leaves() if _could_help(choice, each.leaf)]
        yield len(case.reach)
        if not may_cover(case, open_, leaves, choice.short()):
            return
        here = only if case.settings.whole_ask else NodeName("")
        taken = frozenset(victim.uid for victim in choice.victims)
        heap: Heap = []
        for number, (victim, leaf) in enumerate(candidates_in(self._view, case, open_, leaves, taken), 1):
            yield 1
            if victim is not None and (not here or victim.node == here):
                heappush(heap, (victim.order, victim, leaf))
            if number % PODS_COMPARED == 0:
                yield from self._take(heap, choice, trial, willing=True)
                if choice.suffices():
                    return
        yield from self._take(heap, choice, trial, willing=False)

    def _take(self, heap: Heap, choice: Choice, trial: Trial, *, willing: bool) -> Generator[int, None, None]:
        """Take the first victims of ``heap``, as many as needed.

        ``willing``: only those that did not opt out.
        """
        while heap and not choice.suffices() and not (willing and any(heap[0][1].wishes)):
            _, victim, leaf = heappop(heap)
            if _helps(choice, victim, leaf) and not trial.take(victim, leaf):
                choice.add(victim, leaf)
            yield _UNITS_PER_CANDIDATE

    def _judged(self, case: Case, name: NodeName, victims: list[Victim]) -> Outcome:
        """Make the plan and judge it on the current ledger, which may have changed between slices."""
        here = sorted((each for each in victims if each.node == name), key=lambda each: each.order)
        others = sorted((each for each in victims if each.node != name), key=lambda each: each.order)
        chosen = (*here, *others)
        receipt = receipt_of(self._view, case, chosen, self._nodes.notes())
        plan = Plan(Kind.GUARANTEE, self._uid, case.leaf.path, name, chosen, receipt)
        stale = outdated(self._view, plan) or "; ".join(each.text for each in check_laws(self._view, plan))
        return NoPlan(self._uid, Stop.STALE, "PRE-20", stale) if stale else plan

    # -- notes --------------------------------------------------------------------------------------------

    def _is_reserved(self, name: NodeName) -> bool:
        """True if a node is reserved for another ask (PRE-12)."""
        return self._view.reserved_nodes.get(name, self._uid) != self._uid

    def _lose(self, name: NodeName, reason: str) -> Picked | None:
        self._nodes.lose(name, reason)
        return None

    def _no(self, open_: Open, stop: Stop, why: Finding) -> NoPlan:
        queues = tuple(open_.closed[:SHOWN])
        return NoPlan(
            self._uid, stop, why.law, why.text, self._nodes.notes(), queues, why.queue, why.resource
        )


Score = tuple[tuple[bool, ...], int, NodeName]
_BEST = ((False, False, False), 1)


def _score(name: NodeName, picked: Picked) -> Score:
    """Score of a choice. The lowest is the best (PRE-15)."""
    wishes = zip(*(victim.wishes for victim, _ in picked), strict=True)
    return tuple(any(each) for each in wishes), len(picked), name


def _could_help(choice: Choice, leaf: Queue) -> bool:
    """True if pods of a leaf may free amounts that the queues lack, or that the victims must provide."""
    return bool(choice.uncovered()) or any(queue in leaf.chain for queue, _, _ in choice.short())


def _helps(choice: Choice, victim: Victim, leaf: Queue) -> bool:
    """True if a victim frees amounts that the queues lack, or that the victims must provide."""
    gives = victim.size.get
    if any(gives(name) > 0 and queue in leaf.chain for queue, name, _ in choice.short()):
        return True
    missing = choice.uncovered()
    return any(gives(name) > 0 for name in missing) if missing else not choice.short()
