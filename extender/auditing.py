"""Regular audits of the running ledger, in slices between calls."""

import asyncio
import time

from extender.engine.audit_round import AuditRound
from extender.engine.engine import Engine

EVERY = 60.0
"""Seconds between two audits."""

SLICE = 0.002
"""Approximate seconds of a slice of an audit."""

PAUSE = 0.02
"""Seconds between two slices, in which the event loop serves calls."""


class Auditing:
    """Audits of an engine's ledger. ``synced``: set once the cluster has been read."""

    def __init__(self, engine: Engine, synced: asyncio.Event) -> None:
        self._engine = engine
        self._synced = synced

    async def run(self) -> None:
        """Audit until cancelled. The first audit waits, since the start is busy enough."""
        await self._synced.wait()
        while True:
            await asyncio.sleep(EVERY)
            await self.once()

    async def once(self) -> list[str]:
        """Run an audit. Returns the differences, a sentence each."""
        audit = self._engine.audit()
        for _ in iter(lambda: _slice(audit), True):
            await asyncio.sleep(PAUSE)
        return [f"{drift.what}: {drift.actual}, not {drift.expected}" for drift in audit.drifts]


def _slice(audit: AuditRound) -> bool:
    until = time.perf_counter() + SLICE
    return audit.slice(lambda: time.perf_counter() >= until)
