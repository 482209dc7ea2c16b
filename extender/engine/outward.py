"""The engine's border: what it needs from outside, and the witness of what it does."""

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
    """Receiver of everything decided and learned: metrics, logs, stories. Must be quick and must not fail."""

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None: ...

    def learned(self, event: on.Event, *, now: float) -> None: ...

    def drifted(self, drifts: list[Drift]) -> None: ...


def _always() -> bool:
    return True


def _ignore(_uids: Sequence[PodUid], _now: float) -> None:
    """Do nothing with what was settled."""


@dataclass(slots=True)
class Outward:
    """The world outside, as far as the engine needs it."""

    #: Time in seconds since 1970; never goes back.
    clock: Callable[[], float]
    #: Calls back after so many seconds, on the same thread.
    later: Callable[[float, Callable[[], None]], object]
    #: Carries out an effect.
    perform: Callable[[Effect], None]
    #: Receives everything decided and learned.
    witness: Witness
    #: True while this instance carries out effects on its own account.
    acts: Callable[[], bool] = _always
    #: Receives the pods whose charge an event may have changed, and the time.
    settled: Callable[[Sequence[PodUid], float], None] = _ignore
