"""Recovery from annotations: after a start, and when this instance becomes the acting one.

A standby knows the pods. The promises of the acting instance are only on them (DESIGN-4). Everything else
that outlives the process is read back here too.
"""

from itertools import compress

from core.ids import PodUid
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import end_turn, restore_rank
from core.ledger.applications.ending import resume_endings
from core.ledger.applications.forced import let_in_what_runs
from core.ledger.applications.moves.moving import finish_moves
from core.ledger.applications.relabelled import recover_labels
from core.ledger.applications.timeouts.due import judge_all_later
from core.ledger.applications.timeouts.expiry import recover_executions
from core.ledger.applications.timeouts.records import execution_records_of
from core.ledger.gangs.lifecycle import begin_all
from core.ledger.gangs.replacement import dissolve, remember_slot, resume_slots
from core.ledger.node_reservation.reservation import drop, remember
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
from core.ledger.pods.update import is_under_way
from core.ledger.preemption.execution import fall_short, send_off
from core.ledger.preemption.plans import forget_offers
from core.ledger.preemption.victims import remember_victim, spare, unmark
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.ledger.usage.over_max import doubt_reports, report_unreported
from core.ledger.usage.reservations import reserve
from core.workload.ask import Reservation
from core.workload.pod import GANG, GATE_OPENED, PREEMPTED_FOR, REPLACES, RESERVED_NODE, TRIGGERED, PodFacts

_RECORDS = (RESERVED_NODE, TRIGGERED, PREEMPTED_FOR, REPLACES, GANG)


def recover_record(state: State, record: PodRecord) -> None:
    """Recover the record of a pod from its annotations, when the pod is first seen.

    They are believed for pods in the first list only. Paddock cannot have written on a later pod, and a
    tenant could reserve nodes with forged annotations.
    """
    if record.is_gated and record.facts.gate_opened:
        write(state, record, Purpose.WITHDRAWAL, (GATE_OPENED, None))
    record.seen.trusted = not state.pods.listed
    recover_labels(state, record)
    if record.seen.trusted:
        _believe(state, record)
        return
    forged = _records_of(record.facts)
    if record.facts.running_since:
        forged += execution_records_of(record.facts)
    if forged:
        write(state, record, Purpose.WITHDRAWAL, *((key, None) for key in forged))


def resume(state: State) -> None:
    """Continue where the process before this one stopped, because all pods have been seen."""
    triggered = {
        uid for uid in state.reservations.of.values() if state.pods.records[uid].preemption.triggered
    }
    for preemptor in sorted({*state.preemption.victims, *triggered}):
        ask = state.pods.records.get(PodUid(preemptor))
        if ask is not None and ask.preemption.triggered:
            _spare_former(state, ask)
        if ask is not None and ask.preemption.triggered and not _comes_together(state, ask):
            # Not all of its victims were annotated. A new plan finds what is needed beside them.
            fall_short(state, ask)
        else:
            send_off(state, preemptor)


def _spare_former(state: State, ask: PodRecord) -> None:
    """Release victims of a former plan, whose annotations have outlived it."""
    for uid in sorted(state.preemption.victims.get(ask.uid, ())):
        plan = state.pods.records[uid].facts.preempted_plan
        if plan and plan != ask.preemption.triggered:
            spare(state, state.pods.records[uid])


def _comes_together(state: State, ask: PodRecord) -> bool:
    """True if an ask gets enough capacity when its victims have left its node.

    Also True if the node is not known yet.
    """
    node = ask.node_reservation.node
    if node not in state.cluster.nodes:
        return True
    leaving = [state.pods.records[uid] for uid in state.preemption.victims.get(ask.uid, ())]
    free = state.usage.free_capacity.free_on(node)
    return all(
        free.get(name, 0) + sum(each.facts.size.get(name) for each in leaving if each.node == node) >= amount
        for name, amount in ask.facts.size.items()
        if amount
    )


def take_over(state: State) -> Rounds:
    """Begin to act, and continue where the former acting instance stopped.

    Conclusions that a standby drew from the objects are void. So are unused turns, because kube-scheduler
    asked another instance. Before the first list nothing is known, and that list does the same. Cost:
    O(pods).
    """
    state.acts = True
    report_unreported(state)
    if not state.pods.listed:
        return
    forget_offers(state)
    records = list(state.pods.records.values())
    for record in records:
        record.seen.trusted = True
    dissolve(state)
    yield
    promised = [record for record in records if _is_promised(record)]
    for record in records:
        restore_rank(record)
        end_turn(state, record.uid)
    for record in promised:
        _forget(state, record)
    for record in promised:
        _believe(state, record)
    let_in_what_runs(state)
    begin_all(state)
    yield
    for record in promised:
        touch(state, record)
    yield
    resume(state)
    yield
    yield from resume_slots(state)
    yield from finish_moves(state)
    recover_executions(state)
    yield from resume_endings(state)
    request_cycle(state, CycleReason.ACTING_BEGAN)


def stand_by(state: State) -> None:
    """Stop acting: another instance, or none, acts from now on."""
    state.acts = False
    doubt_reports(state)
    judge_all_later(state)


def _is_promised(record: PodRecord) -> bool:
    """True if the record or the annotations of a pod contain a promise."""
    facts = record.facts
    known = record.node_reservation.node or record.preemption.triggered or record.preemption.preempted_for
    return bool(known or record.node_reservation.nominated or facts.nominated or _records_of(facts))


def _forget(state: State, record: PodRecord) -> None:
    drop(state, record)
    unmark(state, record)


def _believe(state: State, record: PodRecord) -> None:
    """Read the promises of a pod from its annotations."""
    if record.facts.replaces:
        remember_slot(state, record)
    else:
        remember(state, record)
    remember_victim(state, record)
    if record.admission.reservation is None and record.is_ask and is_under_way(record):
        # A nominated node that Paddock did not write means that PreBind is under way.
        whole = Reservation(state.config.settings.reservation_ttl, None, record.facts.version)
        reserve(state, record, whole)


def _records_of(facts: PodFacts) -> tuple[str, ...]:
    """Paddock's own annotations on a pod that are not empty."""
    values = facts.reserved_node, facts.triggered, facts.preempted_for, facts.replaces, facts.gang_noted
    return tuple(compress(_RECORDS, values))
