"""Preemption plans, made when they are due, in slices between calls.

No decision is made here: `core.decisions.preemption.planning` makes the plans. Each plan is checked against
the laws again before it is carried out. A breach is a bug. The plan is then dropped and the breach reported.
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
from core.decisions.preemption.wording import eviction_reason
from core.ids import NO_NODE, NO_POD, NodeName, PodUid, QueuePath
from core.instants import has_come
from core.ledger import events as on
from core.ledger.view import LedgerView
from core.queues.queue import Queue

SETTLED = 1.0
"""Seconds for which a victim must have been on its node before it is offered to kube-scheduler.

kube-scheduler's cache may be older than Paddock's.
"""


class Audience(Protocol):
    """Receiver of plans, of the reasons why there is no plan, and of breaches of the laws."""

    def planned(self, outcome: Outcome, *, pod: str, how: str, now: float) -> None:
        """Note a plan, or why there is none.

        ``pod``: namespace and name of the ask. ``how``: ``tick``, or ``verb`` for a preempt call.
        """
        ...

    def breached(self, plan: Plan, breaches: tuple[Breach, ...], *, pod: str, now: float) -> None:
        """Note a plan that broke a law and was dropped."""
        ...


class Planner:
    """Make preemption plans, one at a time.

    ``later(seconds, call)``: calls back on the same thread.
    ``acts()``: True if this instance carries out effects.
    """

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
        """Plan a slice if a plan may be due. An instance that does not act makes no plans."""
        if not self._awaited and self.wanted and self._acts():
            self._awaited = True
            self._later(0.0, self._run)

    def finish(self) -> None:
        """Make all plans that are due, without slices."""
        while self.wanted and self._acts():
            self._step()

    @property
    def wanted(self) -> bool:
        """True if an ask or a queue waits for a plan, or if a plan is being made."""
        view = self._view()
        return self._planning is not None or bool(view.trying or view.reclaims)

    def _run(self) -> None:
        self._awaited = False
        if self._view().synced:
            self._step()
            self.wake()

    def _step(self) -> None:
        """Run a slice of a plan, or carry one out."""
        self._end_offers()
        for path in self._view().reclaims:
            self._reclaim(path)
            return
        if self._planning is None:
            if not self._order.prepare(self._view()):
                return
            # An ask that the order does not contain is tried as well.
            uid = self._order.first(self._view()) or next(iter(self._view().trying), None)
            if uid is None:
                return
            self._learn(on.PreemptionTried(uid))
            self._planning = Planning(self._view(), uid, now=self._clock())
        if self._planning.result is None:
            self._planning.slice()
        else:
            # A complete plan is checked again and carried out in a slice of its own.
            outcome, self._planning = self._planning.result, None
            self._settle(outcome)

    def _end_offers(self) -> None:
        """Withdraw expired offers."""
        # Their timer may be late, and a plan must not count them.
        ends = [offer.until for offer in self._view().offers.values()]
        if ends and has_come(min(ends), now=self._clock()):
            self._learn(on.OffersDue())

    def _settle(self, outcome: Outcome) -> None:
        """Carry out a plan if it is still valid and breaks no law, and report it."""
        outcome = self._judged(outcome)
        if isinstance(outcome, Plan):
            now = self._clock()
            self._learn(on.PlanCommitted(outcome.uid, _id(outcome, now), outcome.node, _victims(outcome)))
        self._report(outcome, "tick")

    def _reclaim(self, path: QueuePath) -> None:
        """Plan the quota reclaim of a queue over its max, once each time that it becomes due (QCP-9)."""
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
        """Make a plan that kube-scheduler may carry out on one of the candidate nodes, or None.

        If kube-scheduler cannot carry out the plan, since some victims are on other nodes, it is done here.
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
            # Other queues come first. The tick plans for their asks and then for this one.
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
        """True if no ask is due in a queue that comes before this one (F-14)."""
        return not self._view().trying or (self._order.prepare(self._view()) and self._order.goes_first(leaf))

    def _offerable(self, plan: Plan, now: float) -> bool:
        """True if kube-scheduler can carry out the plan and has seen its victims."""
        if not plan.on_its_node or plan.breaks_budgets:
            return False
        records = [self._view().pod(victim.uid) for victim in plan.victims]
        return all(
            each is not None and has_come(each.placement.placed_at + SETTLED, now=now) for each in records
        )


def _id(plan: Plan, now: float) -> str:
    """Id of a plan: time in milliseconds and uid of the ask."""
    return f"{int(now * 1000)}-{plan.uid}"


def _victims(plan: Plan) -> tuple[on.ChosenVictim, ...]:
    """The victims, each with the text that is written on it."""
    return tuple(on.ChosenVictim(each.uid, eviction_reason(plan.kind, each)) for each in plan.receipt.victims)
