"""Plans of evictions that give queues their guarantees, made when they are due, in slices between verbs.

Nothing is decided here: `core.decisions.preemption.planning` plans, and the laws are asked once more before a
plan is carried out. A breach of them is a bug of ours: nothing is done, and it is reported.
"""

from collections.abc import Callable, Collection
from typing import Protocol

from core.decisions.decision import Offered
from core.decisions.preemption.due_order import DueOrder
from core.decisions.preemption.eligibility import tried_recently, why_not_eligible
from core.decisions.preemption.judging import Breach, check_laws, outdated
from core.decisions.preemption.planning import Outcome, Planning, plan_preemption
from core.decisions.preemption.quota_reclaim import plan_reclaim
from core.decisions.preemption.receipts import Kind, NoPlan, Plan, Stop
from core.ids import NO_NODE, NO_POD, NodeName, PodUid, QueuePath
from core.instants import has_come
from core.ledger import events as on
from core.ledger.view import LedgerView
from core.queues.queue import Queue

SETTLED = 1.0
"""Seconds that a pod must have been seen on its node to be named to kube-scheduler, which may be behind."""

WHY_LENGTH = 400
"""Of a receipt, what is written on a victim."""


class Audience(Protocol):
    """Receiver of plans, of what stopped them, and of breaches, which there must not be."""

    def planned(self, outcome: Outcome, *, pod: str, how: str, now: float) -> None:
        """``pod``: namespace and name of the ask; ``how``: by a tick of ours, or in a preempt call."""
        ...

    def breached(self, plan: Plan, breaches: tuple[Breach, ...], *, pod: str, now: float) -> None: ...


class Planner:
    """Makes one plan at a time. ``later(seconds, call)`` calls back on the same thread; ``acts()``: whether
    this instance is the one that acts."""

    def __init__(
        self,
        view: Callable[[], LedgerView],
        learn: Callable[[on.Event], None],
        clock: Callable[[], float],
        later: Callable[[float, Callable[[], None]], object],
        audience: Audience,
        acts: Callable[[], bool],
    ) -> None:
        self._view = view
        self._learn = learn
        self._clock = clock
        self._later = later
        self._audience = audience
        self._acts = acts
        self._planning: Planning | None = None
        self._order = DueOrder()
        self._awaited = False

    def wake(self) -> None:
        """Somebody may have a plan made for it now. An instance that may not act makes none."""
        if not self._awaited and self.wanted and self._acts():
            self._awaited = True
            self._later(0.0, self._go)

    def finish(self) -> None:
        """Make every plan that is due, at once."""
        while self.wanted and self._acts():
            self._step()

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for a plan, or one is in the making."""
        view = self._view()
        return self._planning is not None or bool(view.trying or view.reclaims)

    def _go(self) -> None:
        self._awaited = False
        if self._view().synced:
            self._step()
            self.wake()

    def _step(self) -> None:
        """One slice of a plan."""
        self._end_offers()
        for path in self._view().reclaims:
            self._reclaim(path)
            return
        if self._planning is None:
            if not self._order.prepare(self._view()):
                return
            # Should the order have lost one, it is tried all the same.
            uid = self._order.first(self._view()) or next(iter(self._view().trying), None)
            if uid is None:
                return
            self._learn(on.PreemptionTried(uid))
            self._planning = Planning(self._view(), uid, now=self._clock())
        if self._planning.result is None:
            self._planning.slice()
        else:
            # In a slice of its own: it is judged anew, and carried out.
            outcome, self._planning = self._planning.result, None
            self._settle(outcome)

    def _end_offers(self) -> None:
        """Withdraw offers whose time is over."""
        # The timer may be late, and plans are judged by what counts.
        ends = [offer.until for offer in self._view().offers.values()]
        if ends and has_come(min(ends), now=self._clock()):
            self._learn(on.OffersDue())

    def _settle(self, outcome: Outcome) -> None:
        """Carry out what still stands and breaks no law."""
        outcome = self._judged(outcome)
        if isinstance(outcome, Plan):
            now = self._clock()
            self._learn(on.PlanCommitted(outcome.uid, _id(outcome, now), outcome.node, _victims(outcome)))
        self._report(outcome, "tick")

    def _reclaim(self, path: QueuePath) -> None:
        """Whom a queue over its max gives up (QCP-9); once per start, whatever comes of it."""
        view = self._view()
        queue = view.tree.get(path)
        found = plan_reclaim(view, queue) if queue is not None else None
        if found is None or not found.victims:
            self._learn(on.QuotaReclaimed(NO_POD, path, ()))
            return
        plan = Plan(Kind.QUOTA, NO_POD, path, NO_NODE, found.victims, found.receipt)
        self._learn(on.QuotaReclaimed(NO_POD, path, _victims(plan)))
        self._audience.planned(plan, pod=str(path), how="tick", now=self._clock())

    def _judged(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, NoPlan):
            return outcome
        stale = outdated(self._view(), outcome)
        if stale:
            return NoPlan(outcome.uid, Stop.STALE, "PRE-20", stale)
        breaches = check_laws(self._view(), outcome)
        if breaches:
            self._audience.breached(outcome, breaches, pod=self._name(outcome.uid), now=self._clock())
            return NoPlan(outcome.uid, Stop.STALE, breaches[0].law, breaches[0].text)
        return outcome

    def _report(self, outcome: Outcome, how: str) -> None:
        self._audience.planned(outcome, pod=self._name(outcome.uid), how=how, now=self._clock())

    def _name(self, uid: PodUid) -> str:
        record = self._view().pod(uid)
        return f"{record.facts.namespace}/{record.facts.name}" if record is not None else str(uid)

    # -- for a preempt call ----------------------------------------------------------------------------------

    def offer(self, uid: PodUid, candidates: Collection[NodeName]) -> Offered | None:
        """A plan that kube-scheduler may carry out, on one of the nodes it named; None when none is due.

        What it cannot carry out, because not all victims are on the plan's node, is done here.
        """
        self._end_offers()
        view, now = self._view(), self._clock()
        record = view.pod(uid)
        leaf = view.queue_of(record) if record is not None else None
        if record is None or leaf is None or uid in view.offers:
            return None
        if why_not_eligible(view, record, leaf, now=now) or tried_recently(record, now=now):
            return None
        if not (record.facts.complex or self._goes_first(leaf)):
            # The tick plans for those first, and then for it too.
            return None
        self._learn(on.PreemptionTried(uid))
        outcome = self._judged(plan_preemption(self._view(), uid, now=now, candidates=candidates))
        if isinstance(outcome, Plan) and not self._offerable(outcome, now):
            self._settle(outcome)
            return None
        self._report(outcome, "verb")
        if isinstance(outcome, NoPlan):
            return None
        self._learn(on.PlanOffered(uid, _id(outcome, now), outcome.node, _victims(outcome)))
        return Offered(outcome, 0)

    def _goes_first(self, leaf: Queue) -> bool:
        """Whether no ask is due of a queue that goes before this one (F-14)."""
        return not self._view().trying or (self._order.prepare(self._view()) and self._order.goes_first(leaf))

    def _offerable(self, plan: Plan, now: float) -> bool:
        """Whether kube-scheduler can carry it out, and has seen what it is about."""
        if not plan.on_its_node or plan.breaks_budgets:
            return False
        records = [self._view().pod(victim.uid) for victim in plan.victims]
        return all(
            each is not None and has_come(each.placement.placed_at + SETTLED, now=now) for each in records
        )


def _id(plan: Plan, now: float) -> str:
    """When, and for which ask."""
    return f"{int(now * 1000)}-{plan.uid}"


def _victims(plan: Plan) -> tuple[on.ChosenVictim, ...]:
    """With what is written on each of them."""
    return tuple(
        on.ChosenVictim(each.uid, _short(plan.kind, [(found.law, found.text) for found in each.findings]))
        for each in plan.receipt.victims
    )


def _short(kind: str, findings: list[tuple[str, str]]) -> str:
    text = f"{kind}: " + "; ".join(f"{law} {why}" for law, why in findings)
    return text if len(text) <= WHY_LENGTH else text[: WHY_LENGTH - 1] + "…"
