"""Events and annotations on pods. Callers provide the content."""

from core.ledger.effects import PostEvent, WriteRecord
from core.ledger.outcomes import RecordPurpose
from core.ledger.pods.record import PodRecord
from core.ledger.state.outbox import emit
from core.ledger.state.state import State

GANG_SCHEDULING = "GangScheduling"
"""Reason of all Events about gangs and pod groups. The action says what was done (REST-17)."""


def post(
    state: State, record: PodRecord, reason: str, message: str, *, warning: bool = True, action: str = ""
) -> None:
    """Post an Event on a pod."""
    facts = record.facts
    emit(state, PostEvent("Pod", facts.namespace, facts.name, facts.uid, reason, message, warning, action))


def write(state: State, record: PodRecord, purpose: RecordPurpose, *entries: tuple[str, str | None]) -> None:
    """Write data that must outlive the process onto a pod. None removes an annotation."""
    facts = record.facts
    emit(state, WriteRecord(facts.uid, facts.namespace, facts.name, entries, purpose))
