"""Reports to pods at Paddock's own gate: the condition `ADMITTED` (DESIGN-6).

Their condition PodScheduled stays SchedulingGated and belongs to kube-scheduler.
"""

from core.ledger.admission.answers import note_held
from core.ledger.effects import SetCondition
from core.ledger.pods.record import PodRecord
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.reasons import SentRefusal
from core.workload.pod import ADMITTED

OPENED = "its turn has come"


def report_hold(state: State, record: PodRecord, sent: SentRefusal) -> None:
    """Write why a pod waits, unless its condition says the same already."""
    if not record.is_gated or record.admission.opening or record.uid in state.turns.of:
        return
    note_held(record, sent)
    if sent.text not in (record.admission.gate_reported, record.facts.gate_reported):
        _write(state, record, False, sent.code.value, sent.text)
    record.admission.gate_reported = sent.text


def forget_report(record: PodRecord) -> None:
    """Note that the condition of a pod was not written."""
    record.admission.gate_reported = ""


def report_opened(state: State, record: PodRecord) -> None:
    """Write that the gate of a pod is being opened, if a reason was written before."""
    if record.admission.gate_reported or record.facts.gate_reported:
        record.admission.gate_reported = ""
        _write(state, record, True, "Admitted", OPENED)


def begin_opening(record: PodRecord) -> None:
    """Note that the removal of a gate is requested. From now on the gate may be open (F-2)."""
    record.admission.opening = True


def end_opening(record: PodRecord) -> None:
    """Note that the removal of a gate was seen, or was refused."""
    record.admission.opening = False


def _write(state: State, record: PodRecord, status: bool, reason: str, message: str) -> None:
    facts = record.facts
    emit(state, SetCondition(facts.uid, facts.namespace, facts.name, ADMITTED, status, reason, message))
