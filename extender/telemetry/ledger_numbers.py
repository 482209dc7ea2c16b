"""Counts over all pods, applications and pod groups. They are made in slices and stored."""

from collections import Counter
from collections.abc import Iterator

from core.ledger.pods.record import Charge, Held, PodRecord
from core.ledger.view import LedgerView
from core.workload.gangs.phase import GangPhase
from core.workload.pod_group import MemberPhase, standing_of_group

NO_CODE = "none"
"""Code of pods that were not refused yet."""

PODS_AT_ONCE, OTHERS_AT_ONCE = 1_000, 200


class LedgerNumbers:
    """The counts as of the last `refresh`."""

    def __init__(self) -> None:
        self.pods = self.with_claims = self.unproved = 0
        self.gangs_waiting = self.placeholders = 0
        self.binds_waiting = 0
        self.standings: Counter[str] = Counter()
        #: Number of pods that wait for a node, and creation of the oldest, by the code of their last refusal.
        self.pending: dict[str, tuple[int, float]] = {}

    def refresh(self, view: LedgerView) -> Iterator[None]:
        """Count again, with pauses."""
        yield from self._count_pods(view)
        yield from self._count_gangs(view)
        yield from self._count_pod_groups(view)

    def _count_pods(self, view: LedgerView) -> Iterator[None]:
        records = list(view.pods())
        with_claims = unproved = 0
        pending: dict[str, tuple[int, float]] = {}
        for place, record in enumerate(records):
            if record.membership.managed:
                with_claims += bool(record.facts.claims)
                unproved += record.is_unproved
                if _is_pending(view.charge_of(record.uid)):
                    _add(pending, record)
            if place % PODS_AT_ONCE == 0:
                yield
        self.pods, self.with_claims, self.unproved = len(records), with_claims, unproved
        self.pending = pending

    def _count_gangs(self, view: LedgerView) -> Iterator[None]:
        waiting = placeholders = 0
        for place, application in enumerate(list(view.applications())):
            progress = application.gang_progress
            waiting += progress is not None and progress.phase is GangPhase.RESERVING
            placeholders += len(application.holders)
            if place % OTHERS_AT_ONCE == 0:
                yield
        self.gangs_waiting, self.placeholders = waiting, placeholders

    def _count_pod_groups(self, view: LedgerView) -> Iterator[None]:
        standings: Counter[str] = Counter()
        waiting = 0
        for place, group in enumerate(list(view.pod_groups())):
            standings[standing_of_group(group)] += 1
            waiting += group.counts[MemberPhase.WAITING]
            if place % OTHERS_AT_ONCE == 0:
                yield
        self.standings, self.binds_waiting = standings, waiting


def _is_pending(charge: Charge | None) -> bool:
    return charge is not None and charge.held is Held.PENDING and charge.queue is not None


def _add(pending: dict[str, tuple[int, float]], record: PodRecord) -> None:
    sent = None if record.admission.let_through else record.admission.sent
    code = sent.code.value if sent is not None else NO_CODE
    pods, oldest = pending.get(code, (0, record.facts.created))
    pending[code] = pods + 1, min(oldest, record.facts.created)
