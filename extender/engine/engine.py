"""The engine, which stands between the ledger and everything that waits, sends or measures.

Events go to the ledger together with the time. Effects go to the code that carries them out. Questions go to
the rules, together with a view that is valid only during the call. Clock, network and logger are passed in.
"""

from collections.abc import Callable, Collection, Mapping, Sequence, Set

from core.decisions.admission import decide_admission, decide_preemption
from core.decisions.binding import decide_binding
from core.decisions.decision import (
    Admission,
    Admitted,
    Binding,
    BindNow,
    BindWaits,
    Ignored,
    Preemption,
    Refused,
    Scoring,
)
from core.decisions.preemption.judging import undercut
from core.decisions.scoring import decide_scores
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.view import LedgerView
from core.workload.managed import is_managed
from core.workload.pod import PodFacts
from core.workload.timeouts.execution import SKEW_ALLOWED
from extender.engine.audit_round import AuditRound
from extender.engine.outward import Outward
from extender.engine.planner import Planner
from extender.engine.slices import Slices

CLEAN_EVERY = 10.0
"""Seconds between two removals of unused dynamic queues (Q-10)."""

_SKEW_STEP = 1.0
"""Seconds by which the skew of clocks must change to be noted: the server's Date has whole seconds."""


class Engine:
    """Owner of the ledger. Learns events and answers questions."""

    def __init__(self, outward: Outward, ledger: Ledger | None = None) -> None:
        self._outward = outward
        self._ledger = ledger or Ledger()
        #: The current ledger view, for synchronous use only. Do not hold it across an ``await``.
        self.view = self._ledger.view
        self.version = 0
        """Number that grows with each event. Time that passes without any consequence does not count."""
        self._skew = 0.0
        self._slices = Slices(lambda: self.view, self.learn, outward.clock, outward.later)
        self.planner = Planner(
            lambda: self.view,
            self.learn,
            outward.clock,
            self._slices.later,
            outward.witness,
            outward.acts,
        )

    def current_view(self) -> LedgerView:
        """Return `view`, for code that asks for it each time."""
        return self.view

    @property
    def now(self) -> float:
        """Seconds on the engine's clock."""
        return self._outward.clock()

    def learn(self, event: on.Event) -> None:
        """Apply an event, pass its effects on, and plan the work that it makes due."""
        now = self.now
        effects = self._ledger.apply(event, now=now)
        self._outward.witness.learned(event, now=now)
        settled = self._ledger.settled
        if effects or settled or not isinstance(event, on.TimePassed):
            self.version += 1
        if settled:
            self._outward.settled(settled, now)
        for effect in effects:
            self._outward.perform(effect)
        self.planner.wake()
        self._slices.wake(now=now)

    def asked(self) -> None:
        """Note that a call has arrived, for any pod."""
        self._slices.asked()

    @property
    def calls(self) -> int:
        """Calls that have arrived, for any pod."""
        return self._slices.calls

    def pass_time(self) -> None:
        """Process the timers that are due, in batches.

        Must be called regularly. Timers are late by at most the time between two calls.
        """
        self._slices.pass_time()

    def compare_clocks(self, skew: float) -> None:
        """Note by how many seconds the API server's clock is ahead of `now`. Small changes have no effect."""
        counts = skew if abs(skew) > SKEW_ALLOWED else 0.0
        if abs(counts - self._skew) > _SKEW_STEP:
            self._skew = counts
            self.learn(on.ClockCompared(counts))

    def clean(self) -> None:
        """Remove unused queues. Must be called every `CLEAN_EVERY` seconds."""
        self.learn(on.CleanerDue())

    def audit(self) -> AuditRound:
        """Begin an audit. The caller runs it in slices."""
        return AuditRound(self._ledger, self._outward.witness)

    # -- questions ---------------------------------------------------------------------------------

    def is_managed(self, pod: PodFacts) -> bool | None:
        """True if queues decide about this pod, or None if that is not known before the caches are synced."""
        known = self.view.pod(pod.uid)
        if known is not None and known.membership.classified:
            return known.membership.managed
        view = self.view
        verdict = is_managed(
            pod, view.namespace(pod.namespace), scheduler_names=view.settings.scheduler_names
        )
        return False if verdict is None and view.namespaces_listed else verdict

    def admit(self, uid: PodUid, offered: Callable[[], Sequence[NodeName]]) -> Admission:
        """Decide whether a pod may be placed on one of the offered nodes.

        A quota reservation that the answer includes is recorded when this returns.
        """
        record = self.view.pod(uid)
        if record is not None and record.placement.waits_bind:
            self.learn(on.FilterCalled(uid))
        verdict = decide_admission(self.view, uid, now=self.now, offered=offered)
        if isinstance(verdict, (Admitted, Refused)):
            self._learn_all(verdict.events)
        else:
            self.learn(on.FilterCalled(uid))
        self._report("filter", uid, verdict)
        return verdict

    def preempt(self, uid: PodUid, candidates: Collection[NodeName]) -> Preemption:
        """Decide which pods kube-scheduler may evict for this pod on one of the candidate nodes."""
        verdict = decide_preemption(self.view, uid, lambda: self.planner.offer(uid, candidates))
        self._report("preempt", uid, verdict)
        return verdict

    def unprotected(self, uid: PodUid, victims: Mapping[NodeName, Sequence[PodUid]]) -> list[NodeName]:
        """Nodes on which a pod in no queue may evict the victims that kube-scheduler proposes.

        All nodes, unless the setting ``paddock.preemption.protectGuarantees`` is ``foreign``.
        """
        view = self.view
        self._report("preempt", uid, Ignored())
        if not view.settings.preemption.protect_from_foreign:
            return list(victims)
        return [node for node, uids in victims.items() if undercut(view, uids) is None]

    def score(self, uid: PodUid, offered: Callable[[], Set[NodeName]]) -> Scoring:
        """Score each of the offered nodes for a pod."""
        verdict = decide_scores(self.view, uid, offered)
        self._report("prioritize", uid, verdict)
        return verdict

    def bind(self, uid: PodUid, node: NodeName) -> Binding:
        """Decide whether a Binding may be posted. If so, the pod is charged to the node when this returns."""
        verdict = decide_binding(self.view, uid, node, now=self.now)
        if isinstance(verdict, (BindNow, BindWaits, Refused)):
            self._learn_all(verdict.events)
        self._report("bind", uid, verdict)
        return verdict

    def _learn_all(self, events: tuple[on.Event, ...]) -> None:
        for event in events:
            self.learn(event)

    def _report(self, verb: str, uid: PodUid, verdict: object) -> None:
        record = self.view.pod(uid)
        if record is not None:
            self._outward.witness.decided(verb, record, verdict, now=self.now)
