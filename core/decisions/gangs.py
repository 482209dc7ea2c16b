"""Rules about waiting for a gang or a pod group. Over the view, without changes."""

from collections.abc import Iterator

from core.ids import PodUid
from core.ledger.podgroups.membership import UNKNOWN
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.reasons import Code, Refusal
from core.workload.gangs.phase import FAILING, GangPhase
from core.workload.gangs.refusals import refusal_of_size
from core.workload.pod_group import Group, MemberPhase


def refusal_of_gang_pod(view: LedgerView, record: PodRecord) -> Refusal | None:
    """Reason why a pod must wait for its gang, or None (APP-11, GANG-9, GANG-10)."""
    app_id = record.membership.application
    application = view.application(app_id) if app_id is not None else None
    gang_progress = application.gang_progress if application is not None else None
    if app_id is None or gang_progress is None or not view.awaits_gang(record):
        return None
    if gang_progress.phase in FAILING:
        return Refusal(Code.RESERVATION_TIMEOUT, app_id.name, gang_progress.failure)
    if gang_progress.phase is GangPhase.STARTED:
        return Refusal(Code.WAITING_FOR_PLACEHOLDER, app_id.name, record.facts.task_group)
    needed = sum(each.needed for each in gang_progress.groups.values())
    if needed == 1:
        return Refusal(Code.GANG_INCOMPLETE, app_id.name, "starts once its placeholder has a node")
    return Refusal(Code.GANG_INCOMPLETE, app_id.name, f"starts once its {needed} placeholders have nodes")


def refusal_of_group(view: LedgerView, record: PodRecord, queue: Queue) -> Refusal | None:
    """Reason why a pod must wait for the others of its pod group, or None (COS-4)."""
    group = view.pod_group_of(record)
    return next(_refusals_of_member(group, record.uid, queue), None) if group is not None else None


def refusals_of_group(view: LedgerView, record: PodRecord, queue: Queue) -> Iterator[Refusal]:
    """All such reasons, the first one first."""
    group = view.pod_group_of(record)
    return _refusals_of_member(group, record.uid, queue) if group is not None else iter(())


def _refusals_of_member(group: Group, uid: PodUid, leaf: Queue) -> Iterator[Refusal]:
    """Reasons why a member must wait whatever the capacity (COS-4, GANG-6).

    The text names the required number, never the current one (DESIGN-3).
    """
    if group.phases.get(uid) is MemberPhase.STRAY:
        yield Refusal(Code.GANG_INCOMPLETE, group.title, f"is in queue {group.queue}")
    elif group.open:
        return
    elif group.min_available == UNKNOWN:
        yield Refusal(Code.GANG_INCOMPLETE, group.title, "its PodGroup is missing")
    else:
        too_large = refusal_of_size(leaf, group.least)
        if too_large is not None:
            yield too_large
        if not group.complete:
            yield Refusal(Code.GANG_INCOMPLETE, group.title, f"min-available={group.min_available}")
