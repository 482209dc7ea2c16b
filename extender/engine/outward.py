"""Interfaces that the engine needs: clock, timers, effects, and a witness of its decisions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.effects import Effect
from core.ledger.pods.record import PodRecord
from extender.engine.planner import Audience


class Witness(Audience, Protocol):
    """Receiver of all decisions and events, for metrics, logs and stories.

    Its methods run during calls, so they must be quick and must not raise.
    """

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None:
        """Note the answer to a call."""
        ...

    def learned(self, event: on.Event, *, now: float) -> None:
        """Note an event that the ledger has applied."""
        ...

    def drifted(self, drifts: list[Drift]) -> None:
        """Note the differences that a complete audit found, possibly none."""
        ...


def _always() -> bool:
    return True


def _ignore(_uids: Sequence[PodUid], _now: float) -> None:
    """Do nothing with what was settled."""


@dataclass(slots=True)
class Outward:
    """Everything that the engine needs from outside."""

    #: Seconds since 1970, monotonic.
    clock: Callable[[], float]
    #: Calls back after some seconds, on the same thread.
    later: Callable[[float, Callable[[], None]], object]
    #: Carries out an effect.
    perform: Callable[[Effect], None]
    #: Receiver of decisions and events.
    witness: Witness
    #: True while this instance carries out effects.
    acts: Callable[[], bool] = _always
    #: Receives the pods whose charge an event may have changed, and the time.
    settled: Callable[[Sequence[PodUid], float], None] = _ignore
