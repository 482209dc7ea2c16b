"""The engine: between the ledger and everything that waits, sends or measures.

It hands events to the ledger with the time, effects to whoever performs them, and questions to rules with a
snapshot that never outlives the call. It has no clock, no network and no logger of its own: they are given.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

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
from core.decisions.gating import decide_gate
from core.decisions.preemption.judging import undercut
from core.decisions.scoring import decide_scores
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.effects import Effect
from core.ledger.ledger import Ledger
from core.ledger.pods.record import PodRecord
from core.ledger.view import Snapshot
from core.workload.managed import is_managed
from core.workload.pod import PodFacts
from extender.engine.planner import Audience, Planner

PASSES_APART = 0.02
"""Seconds between the end of a pass and the next, so that a burst of news does not cost a pass for each."""

ROUNDS_APART = 3
"""Rounds of the loop between two slices of a pass or a plan: in these a call that came is answered."""

ASKED_LATELY = 1.0
"""Seconds without a call after which one round is enough. With gates alone nobody calls, and how fast they
open is how fast pods are bound."""

TOLD_AT_ONCE, LOOKED_AT = 10, 30
"""Pods at our gate that are told why they wait in one go, and that are looked at for it, at most; more of
them `TOLD_APART` seconds later."""

TOLD_APART = 0.05

TELL_DELAY = 1.0
"""Seconds from a pass to the first of them."""

CLEAN_EVERY = 10.0
"""Seconds between two removals of queues that nobody needs (Q-10)."""


class Witness(Audience, Protocol):
    """Who is told what was decided and learned: metrics, logs, stories. Must be quick and must not fail."""

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None: ...

    def learned(self, event: on.Event, *, now: float) -> None: ...

    def drifted(self, drifts: list[Drift]) -> None: ...


def _always() -> bool:
    return True


@dataclass(slots=True)
class Outward:
    """What the engine needs of the world outside. ``later(seconds, call)`` calls back on the same thread;
    ``acts()``: whether effects on our own account are carried out by this instance."""

    clock: Callable[[], float]
    later: Callable[[float, Callable[[], None]], object]
    perform: Callable[[Effect], None]
    witness: Witness
    acts: Callable[[], bool] = _always


class Engine:
    """Owns the ledger."""

    def __init__(self, outward: Outward, ledger: Ledger | None = None) -> None:
        self._outward = outward
        self._ledger = ledger or Ledger()
        self._pass_planned = False
        self._passed_at = self._asked_at = float("-inf")
        self._to_tell: list[PodUid] = []
        self._telling = self._passed_since = self._catching_up = False
        self.planner = Planner(
            lambda: self.snapshot,
            self.learn,
            outward.clock,
            self._later,
            outward.witness,
            outward.acts,
        )

    @property
    def snapshot(self) -> Snapshot:
        """For one synchronous use; never keep it over an ``await``."""
        return self._ledger.snapshot

    @property
    def now(self) -> float:
        return self._outward.clock()

    def learn(self, event: on.Event) -> None:
        """Something happened. Effects are handed on at once, passes are planned and coalesced."""
        now = self.now
        effects = self._ledger.apply(event, now=now)
        self._outward.witness.learned(event, now=now)
        for effect in effects:
            self._outward.perform(effect)
        self.planner.wake()
        if self._ledger.snapshot.pass_wanted and not self._pass_planned:
            self._pass_planned = True
            if self._ledger.snapshot.passing:
                self._give_way(self._run_pass)
            else:
                self._outward.later(max(0.0, self._passed_at + PASSES_APART - now), self._run_pass)

    def asked(self) -> None:
        """A verb is being called, for whatever pod."""
        self._asked_at = self.now

    def _give_way(self, call: Callable[[], None]) -> None:
        """Go on with something at once, but after the verbs that have come meanwhile."""
        self._after(ROUNDS_APART if self.now - self._asked_at < ASKED_LATELY else 1, call)

    def _after(self, rounds: int, call: Callable[[], None]) -> None:
        self._outward.later(0.0, call if rounds == 1 else partial(self._after, rounds - 1, call))

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        if seconds:
            self._outward.later(seconds, call)
        else:
            self._give_way(call)

    def _run_pass(self) -> None:
        self._pass_planned = False
        if self.snapshot.synced:
            self._passed_at = self.now
            self.learn(on.PassDue())
            if not self.snapshot.passing:
                self._passed_since = True
                self._tell_later(TELL_DELAY)

    def _tell_later(self, seconds: float) -> None:
        if not self._telling and (self._to_tell or self._passed_since):
            self._telling = True
            self._outward.later(seconds, self._tell_gated)

    def _tell_gated(self) -> None:
        """Go through all pods at our gate, some at a time, and again when there was a pass meanwhile."""
        if not self._to_tell:
            self._to_tell, self._passed_since = self.snapshot.gated()[::-1], False
        now, told = self.now, 0
        for _ in range(min(LOOKED_AT, len(self._to_tell))):
            held = decide_gate(self.snapshot, self._to_tell.pop(), now=now)
            if held is not None:
                self.learn(held)
                told += 1
            if told == TOLD_AT_ONCE:
                break
        self._telling = False
        self._tell_later(TOLD_APART if self._to_tell else TELL_DELAY)

    def pass_time(self) -> None:
        """To be called every now and then: by so much, what expires lasts too long. Many are taken some at a
        time."""
        self.learn(on.TimePassed())
        if self.snapshot.overdue and not self._catching_up:
            self._catching_up = True
            self._give_way(self._catch_up)

    def _catch_up(self) -> None:
        self._catching_up = False
        self.pass_time()

    def clean(self) -> None:
        """To be called every `CLEAN_EVERY` seconds."""
        self.learn(on.CleanerDue())

    def audit(self) -> "AuditRound":
        """A round of the audit, to be taken in slices."""
        return AuditRound(self._ledger, self._outward.witness)

    # -- questions ---------------------------------------------------------------------------------

    def is_managed(self, pod: PodFacts) -> bool | None:
        """Whose pod this is, also before the caches are synced; None when it cannot be told yet."""
        known = self.snapshot.pod(pod.uid)
        if known is not None and known.classified:
            return known.managed
        snapshot = self.snapshot
        verdict = is_managed(
            pod, snapshot.namespace(pod.namespace), scheduler_names=snapshot.settings.scheduler_names
        )
        return False if verdict is None and snapshot.namespaces_listed else verdict

    def admit(self, uid: PodUid, offered: Callable[[], Sequence[NodeName]]) -> Admission:
        """May this pod be placed on one of the nodes? What the answer promises is noted when it returns."""
        self.learn(on.FilterCalled(uid))
        verdict = decide_admission(self.snapshot, uid, now=self.now, offered=offered)
        if isinstance(verdict, Admitted | Refused):
            self._keep(verdict.events)
        self._tell("filter", uid, verdict)
        return verdict

    def preempt(self, uid: PodUid, candidates: Collection[NodeName]) -> Preemption:
        """Whom may kube-scheduler evict for this pod, on one of the nodes it names?"""
        verdict = decide_preemption(self.snapshot, uid, lambda: self.planner.offer(uid, candidates))
        self._tell("preempt", uid, verdict)
        return verdict

    def unprotected(self, uid: PodUid, victims: Mapping[NodeName, Sequence[PodUid]]) -> list[NodeName]:
        """Nodes on which a pod in no queue may evict whom kube-scheduler names: all, unless guarantees are to
        hold against it too."""
        snapshot = self.snapshot
        self._tell("preempt", uid, Ignored())
        if not snapshot.settings.preemption.protect_from_foreign:
            return list(victims)
        return [node for node, uids in victims.items() if undercut(snapshot, uids) is None]

    def score(self, uid: PodUid, nodes: Sequence[NodeName]) -> Scoring:
        """How good is each of the nodes for this pod?"""
        verdict = decide_scores(self.snapshot, uid, nodes)
        self._tell("prioritize", uid, verdict)
        return verdict

    def bind(self, uid: PodUid, node: NodeName) -> Binding:
        """May this Binding be posted? If so, its node is charged when this returns."""
        verdict = decide_binding(self.snapshot, uid, node, now=self.now)
        if isinstance(verdict, BindNow | BindWaits | Refused):
            self._keep(verdict.events)
        self._tell("bind", uid, verdict)
        return verdict

    def _keep(self, events: tuple[on.Event, ...]) -> None:
        for event in events:
            self.learn(event)

    def _tell(self, verb: str, uid: PodUid, verdict: object) -> None:
        record = self.snapshot.pod(uid)
        if record is not None:
            self._outward.witness.decided(verb, record, verdict, now=self.now)


class AuditRound:
    """One audit of the running ledger, in slices between the verbs."""

    def __init__(self, ledger: Ledger, witness: Witness) -> None:
        self._steps = ledger.audit_steps()
        self._witness = witness
        self.drifts: list[Drift] = []

    def slice(self, until: Callable[[], bool]) -> bool:
        """Go on until ``until()`` says that the time is used up. True when the round is complete."""
        for step in self._steps:
            self.drifts += step
            if until():
                return False
        self._witness.drifted(self.drifts)
        return True
