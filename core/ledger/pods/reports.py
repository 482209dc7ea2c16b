"""Events on pods. What they say is the matter of whoever has something to say."""

from core.ledger.effects import PostEvent
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State


def post(
    state: State, record: PodRecord, reason: str, message: str, *, warning: bool = True, action: str = ""
) -> None:
    facts = record.facts
    state.outbox.append(
        PostEvent("Pod", facts.namespace, facts.name, facts.uid, reason, message, warning, action)
    )
