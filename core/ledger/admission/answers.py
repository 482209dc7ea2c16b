"""Last answer of Paddock to a pod: a refusal, or admission by filter (DESIGN-3)."""

from dataclasses import replace

from core.ledger.pods.record import PodRecord
from core.reasons import SentRefusal


def note_refused(record: PodRecord, sent: SentRefusal) -> None:
    """Note the refusal that filter or bind answered with."""
    record.admission.sent, record.admission.refused, record.admission.let_through = sent, True, False


def note_admitted(record: PodRecord) -> None:
    """Note that filter admitted a pod. The text of its last refusal is remembered, its rival is not."""
    record.admission.refused, record.admission.let_through = False, True
    if record.admission.sent is not None:
        record.admission.sent = replace(record.admission.sent, rival=None)


def note_held(record: PodRecord, sent: SentRefusal) -> None:
    """Note why Paddock's gate holds a pod."""
    record.admission.sent = sent


def believe_refused(record: PodRecord) -> None:
    """Note a refusal by a former process or by the acting instance, as the pod's condition tells."""
    record.admission.refused = True
