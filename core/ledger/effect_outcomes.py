"""Outcome of an effect as an event: one pure function for server and simulator."""

from typing import assert_never

from core.ledger import events as on
from core.ledger.effects import (
    CreatePlaceholder,
    DeletePod,
    Effect,
    EndWait,
    EvictPod,
    MarkFailed,
    NominateNode,
    OpenGate,
    PostEvent,
    ResolveGroups,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.ledger.outcomes import Answer, CreationOutcome, EvictionOutcome

_EVICTIONS = {
    Answer.DONE: EvictionOutcome.DONE,
    Answer.NOT_FOUND: EvictionOutcome.NOT_FOUND,
    Answer.BUDGET: EvictionOutcome.BUDGET,
}
_CREATIONS = {Answer.DONE: CreationOutcome.DONE, Answer.REFUSED: CreationOutcome.REFUSED}

Outcome = (
    on.PodWoken
    | on.NodeNominated
    | on.RecordWritten
    | on.PodEvicted
    | on.PlaceholderCreated
    | on.GateReportFailed
)


def outcome_of(effect: Effect, reached: Answer, *, why: str = "", certain: bool = True) -> Outcome | None:
    """Event that an effect ends with. None if the ledger does not wait for its end.

    ``why``: words of the API server, if it refused. ``certain``: False if an answer was lost and the effect
    may have been done.
    """
    done = reached is Answer.DONE
    match effect:
        case WakePod() | OpenGate():
            return on.PodWoken(effect.uid, reached=done, certain=certain)
        case NominateNode():
            return on.NodeNominated(effect.uid, effect.node, done, effect.purpose)
        case WriteRecord():
            return on.RecordWritten(effect.uid, effect.entries, done, effect.purpose)
        case EvictPod() | DeletePod():
            ended = _EVICTIONS.get(reached, EvictionOutcome.FAILED)
            return on.PodEvicted(effect.uid, ended, effect.purpose, effect.preemptor)
        case CreatePlaceholder():
            created = _CREATIONS.get(reached, CreationOutcome.FAILED)
            return on.PlaceholderCreated(effect.app, effect.name, created, why)
        case SetCondition():
            return None if done else on.GateReportFailed(effect.uid)
        case PostEvent() | ResolveGroups() | EndWait() | MarkFailed():
            return None
        case _:
            assert_never(effect)
