"""Reports of the engine, for the rows and the memory of the REST interface."""

from collections.abc import Sequence

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.pods.record import PodRecord
from extender.rest.memory.memory import RestMemory
from extender.rest.moment.stored import StoredRows


class Reports:
    """Receiver of the reports. ``rows``: the stored rows, which may be replaced by new ones."""

    def __init__(self, memory: RestMemory, rows: StoredRows) -> None:
        self.memory = memory
        self.rows = rows

    def settled(self, uids: Sequence[PodUid], now: float) -> None:
        """Record changes of pods whose charges may have changed."""
        self.rows.settled(uids)
        self.memory.settled(uids, now)

    def decided(self, record: PodRecord, verdict: object, *, now: float) -> None:
        """Record the decision of a verb on a pod."""
        self.rows.decided(record.uid)
        self.memory.decided(record, verdict, now=now)

    def learned(self, event: on.Event, *, now: float) -> None:
        """Record an event that the ledger has applied."""
        self.rows.learned(event)
        self.memory.learned(event, now=now)

    def drifted(self, drifts: Sequence[Drift]) -> None:
        """Record the differences that an audit found."""
        self.memory.drifted(drifts)
