"""Explanation of pods that belong together: an application with its gang, or a pod group. In steps."""

from collections import Counter
from collections.abc import Generator, Iterable

from core.decisions.explanation.explaining import explain_pod
from core.decisions.explanation.obstacles import standing_of
from core.decisions.explanation.values import Members, PodStanding, TogetherExplanation
from core.ids import AppId, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.workload.gangs.progress import GangProgress
from core.workload.pod_group import PLACED, Group, GroupKey, MemberPhase, standing_of_group

_PODS_PER_STEP = 50
_UNITS_PER_STEP = 10

Steps = Generator[int, None, TogetherExplanation | None]


def explain_application(view: LedgerView, app_id: AppId, namespace: str, *, now: float) -> Steps:
    """An application: its state, its gang, its pods by standing, and its first pending pod. None if unknown.

    ``namespace``: the only one whose pods are explained.
    """
    application = view.application(app_id)
    if application is None:
        return None
    gang, refusal = application.gang_progress, application.refusal
    text = (
        refusal.text.partition(": ")[2] if refusal is not None else gang.failure if gang is not None else ""
    )
    known = TogetherExplanation(
        app_id.namespace,
        app_id.name,
        application.queue,
        phase=application.state.value,
        gang_phase=gang.phase.shown if gang is not None else "",
        text=text,
        members=tuple(_task_groups(gang)) if gang is not None else (),
    )
    return (yield from _with_pods(view, known, list(application.pods), namespace, now=now))


def explain_pod_group(view: LedgerView, namespace: str, name: str, *, now: float) -> Steps:
    """A pod group: its members by standing, and its first pending member. None if unknown."""
    group = view.pod_group(GroupKey(namespace, name))
    if group is None:
        return None
    known = TogetherExplanation(
        namespace,
        name,
        group.queue,
        phase=standing_of_group(group),
        members=(_members_of(group),),
        until=group.wait_until if group.backs_off_until is None else group.backs_off_until,
    )
    return (yield from _with_pods(view, known, list(group.phases), namespace, now=now))


def _task_groups(gang: GangProgress) -> Iterable[Members]:
    for name, each in gang.groups.items():
        yield Members(
            name, each.needed, len(each.held) + each.replaced, len(each.pending) + len(each.wanting)
        )


def _members_of(group: Group) -> Members:
    pending = group.count(MemberPhase.PENDING)
    return Members(group.key.name, group.min_available, group.count(*PLACED), pending)


def _with_pods(
    view: LedgerView, known: TogetherExplanation, uids: list[PodUid], namespace: str, *, now: float
) -> Generator[int, None, TogetherExplanation]:
    """The explanation with its pods by standing, and with the first pending one explained."""
    counts, first = Counter[PodStanding](), None
    for number, uid in enumerate(uids, 1):
        record = view.pod(uid)
        if record is not None:
            standing = standing_of(record)
            counts[standing] += 1
            # An application may have pods in several namespaces, and not every reader may read all.
            asks = standing is PodStanding.PENDING and record.facts.namespace == namespace
            if asks and not view.has_turn(uid):
                first = _earlier(first, record)
        if number % _PODS_PER_STEP == 0:
            yield _UNITS_PER_STEP
    explained = (yield from explain_pod(view, first.uid, now=now)) if first is not None else None
    return known.with_pods(tuple(sorted(counts.items())), explained)


def _earlier(one: PodRecord | None, other: PodRecord) -> PodRecord:
    return other if one is None or other.rank < one.rank else one
