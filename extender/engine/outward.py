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
    """Nobody wants to know."""


@dataclass(slots=True)
class Outward:
    """What the engine needs of the world outside. ``later(seconds, call)`` calls back on the same thread;
    ``acts()``: whether effects on our own account are carried out by this instance; ``settled(uids, now)`` is
    told after each event whose pods have perhaps other charges now."""

    clock: Callable[[], float]
    later: Callable[[float, Callable[[], None]], object]
    perform: Callable[[Effect], None]
    witness: Witness
    acts: Callable[[], bool] = _always
    settled: Callable[[Sequence[PodUid], float], None] = _ignore
