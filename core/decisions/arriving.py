"""Explanation of pods that do not exist: how many would get their turn now, and what the next one waits for.

In steps of bounded work. Changes nothing.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from core.decisions.explanation import phrases
from core.decisions.explanation.explaining import explain_pod
from core.decisions.explanation.playing import Budget, play
from core.decisions.explanation.values import PodExplanation
from core.ids import AppId, PodUid, QueuePath
from core.ledger.trial.arrival import Arrival
from core.ledger.trial.change import NO_CHANGE
from core.ledger.view import LedgerView
from core.workload.gangs.gang import Gang
from core.workload.pod import PodFacts

PODS_AT_MOST = 1_000
"""Pods of one question."""

UNITS_AT_MOST = 20_000
"""Units of work, of less than ten microseconds, for the trial of all of them."""


@dataclass(frozen=True, slots=True)
class ArrivalExplanation:
    """Fate of pods of one application, if they were created now."""

    #: Namespace and name of the first pod.
    namespace: str
    name: str
    #: Leaf that placement chooses; None without one.
    queue: QueuePath | None
    application: AppId
    #: Number of pods, or of placeholders of a gang.
    pods: int
    #: Number that would get their turn now; None if the budget did not suffice.
    placed: int | None
    #: Explanation of the first one without a turn; None if there is none, or none is known.
    first: PodExplanation | None
    #: State in which they have arrived.
    arrival: Arrival

    @property
    def view(self) -> LedgerView:
        """View of that state, for the names of others."""
        return LedgerView(self.arrival.state)

    @property
    def sentence(self) -> str:
        """Verdict in one sentence, without usage and without names of other pods."""
        return phrases.verdict_on_arrival(self.pods, self.placed, self.first)


Steps = Generator[int, None, ArrivalExplanation]


def explain_arrival(view: LedgerView, pods: Sequence[PodFacts], *, now: float) -> Steps:
    """Play the arrival of pods, at least one. A gang is played as its placeholders.

    Whoever gets the result must call `Arrival.dismantle` when it has been read.
    """
    pods = asks_of(pods)
    arrival = view.arrived(pods)
    try:
        return (yield from _played(view, arrival, pods, now=now))
    except BaseException:
        arrival.dismantle()
        raise


def _played(view: LedgerView, arrival: Arrival, pods: Sequence[PodFacts], *, now: float) -> Steps:
    yield 5 + len(view.waiting) // 100
    application, records, there = arrival.application, arrival.records, LedgerView(arrival.state)

    def explanation(placed: int | None, first: PodExplanation | None) -> ArrivalExplanation:
        facts, queue = pods[0], application.queue
        return ArrivalExplanation(
            facts.namespace, facts.name, queue, application.id, len(pods), placed, first, arrival
        )

    if records[-1].uid not in there.waiting:
        first = yield from explain_pod(there, records[0].uid, now=now)
        return explanation(0, first)
    # Without a change no queue is copied for the trial.
    trial = yield from play(there, records[-1], NO_CHANGE, Budget(UNITS_AT_MOST))
    if trial is None:
        return explanation(None, None)
    left = [each for each in records if each.uid not in trial.state.turns.of]
    if not left:
        return explanation(len(records), None)
    placed = len(records) - len(left)
    # With the turns of the others, it is seen what they leave for it.
    after = LedgerView(trial.state) if placed else there
    first = yield from explain_pod(after, left[0].uid, now=now)
    return explanation(placed, first)


def asks_of(pods: Sequence[PodFacts]) -> list[PodFacts]:
    """Pods that ask for capacity: those of a gang are its placeholders (GANG-4)."""
    gang = pods[0].gang
    if not isinstance(gang, Gang):
        return list(pods)
    first = pods[0]
    return [
        replace(
            first,
            uid=PodUid(f"{first.uid}-{group.name}-{number}"),
            name=f"{first.name}-{group.name}-{number}",
            size=group.size,
            gang=None,
            task_group="",
        )
        for group in gang.groups
        for number in range(group.members)
    ]
