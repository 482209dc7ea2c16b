"""Stories of pods for the admin port: events, decisions and the present verdict."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from core.decisions.decision import (
    Admitted,
    BindNow,
    BindWaits,
    BoundAlready,
    Faulted,
    Offered,
    Refused,
    Scored,
    Unscored,
    Vetoed,
    Withheld,
)
from core.decisions.explain import Explanation, explain
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.resource import Limit, Resource
from core.workload.gangs.gang import Gang, Misdefined, PodGroup
from core.workload.gangs.progress import GangProgress
from core.workload.pod_group import standing_of_group
from extender.views.journal import Journal


def story_of(view: LedgerView, journal: Journal, namespace: str, name: str) -> Mapping[str, Any] | None:
    """The story of a pod, or None for an unknown pod. Amounts: vcore in millicores, else base units."""
    record = view.pod_named(namespace, name)
    if record is None:
        return None
    queue = view.queue_of(record)
    return {
        "namespace": namespace,
        "name": name,
        "uid": record.uid,
        "managed": record.membership.managed,
        "application": record.membership.application.name if record.membership.application else "",
        "applicationNamespace": record.membership.application.namespace
        if record.membership.application
        else "",
        "queue": queue.path if queue else "",
        "fellBack": record.membership.fell_back or "",
        "placement": _placement(view, record),
        "relabelled": view.identities.relabelling(record),
        "node": record.node,
        "daemonSet": _daemon_set(record),
        "size": _amounts(record.facts.size),
        "notCounted": _not_counted(record.facts.claims),
        "gang": _gang(view, record),
        "told": record.admission.sent.text if record.admission.sent and record.admission.refused else "",
        "verdict": _verdict(explain(view, record)),
        "story": [
            {"at": _stamp(line.at), "what": line.what, "detail": line.detail, "times": line.times}
            for line in journal.story(record.uid)
        ],
    }


def _placement(view: LedgerView, record: PodRecord) -> Mapping[str, Any] | None:
    """Origin of the queue of the pod's application (PL-1). None without an application.

    ``requested``: queue that its first pod named, or empty. ``passedOver``: reason why it is not used.
    """
    application = view.application(record.membership.application) if record.membership.application else None
    if application is None:
        return None
    definer = view.pod(application.definer)
    return {
        "requested": application.requested,
        "passedOver": application.passed_over,
        "definedBy": definer.facts.name if definer is not None else "",
        "user": application.identity.user,
        "groups": list(application.groups or ()),
    }


def _daemon_set(record: PodRecord) -> str:
    """The DaemonSet that a pod names, and whether it created the pod (RNP-1, F-10)."""
    if record.daemon.daemon_set is None:
        return ""
    name = f"{record.daemon.daemon_set.namespace}/{record.daemon.daemon_set.name}"
    return f"{name} has not made it: it counts as any other pod" if record.is_unproved else name


def _not_counted(claims: int) -> str:
    """Note about the devices of a pod that no quota counts, or empty."""
    # A device that a ResourceClaim asks for is not part of the pod's requests.
    return f"the devices of {claims} ResourceClaims: no quota sees them" if claims else ""


def _gang(view: LedgerView, record: PodRecord) -> Mapping[str, Any] | None:
    """The pod's gang and pod group, with errors in their definition. None without either."""
    facts = record.facts
    application = view.application(record.membership.application) if record.membership.application else None
    gang = application.gang if application is not None else None
    group = facts.pod_group
    wrong = [each.why for each in (facts.gang, group) if isinstance(each, Misdefined)]
    if gang is None and not isinstance(group, PodGroup) and not wrong:
        return None
    shown: dict[str, Any] = {"wrong": wrong}
    if gang is not None:
        shown |= _task_groups(gang, facts.task_group)
    if application is not None and application.gang_progress is not None:
        shown |= _progress_of_gang(application.gang_progress)
    if record.gang.slot is not None:
        shown |= {"takesOver": record.gang.slot.placeholder, "on": record.gang.slot.node}
    if isinstance(group, PodGroup):
        shown |= {"podGroup": group.name, "minAvailable": group.min_available}
        shown |= _progress(view, record)
    return shown


def _progress(view: LedgerView, record: PodRecord) -> Mapping[str, Any]:
    """State of the pod's pod group."""
    group = view.pod_group_of(record)
    if group is None:
        return {}
    shown: dict[str, Any] = {
        "minAvailable": group.min_available,
        "standing": standing_of_group(group),
        "queue": group.queue or "",
        "members": {phase.value: count for phase, count in group.counts.items() if count},
        "timeouts": group.timeouts,
    }
    if group.wait_until is not None:
        shown["waitsUntil"] = _stamp(group.wait_until)
    if group.backs_off_until is not None:
        shown["restsUntil"] = _stamp(group.backs_off_until)
    return shown


def _task_groups(gang: Gang, named: str) -> Mapping[str, Any]:
    own = gang.group(named)
    return {
        "memberOf": own.name if own is not None else "",
        "style": gang.policy.style.value,
        "placeholderTimeoutSeconds": gang.policy.placeholder_timeout,
        "taskGroups": [
            {"name": each.name, "members": each.members, "size": _amounts(each.size)} for each in gang.groups
        ],
        "total": _amounts(gang.total),
    }


def _progress_of_gang(gang_progress: GangProgress) -> Mapping[str, Any]:
    """State of the pod's gang."""
    return {
        "phase": gang_progress.phase.shown,
        "why": gang_progress.failure,
        "begun": _stamp(gang_progress.begun_at),
        "timesOut": _stamp(gang_progress.due) if gang_progress.due is not None else "",
        "progress": [
            {
                "name": name,
                "needed": each.needed,
                "count": each.count,
                "placeholdersPending": len(each.pending),
                "placeholdersBound": len(each.held),
                "membersWaiting": len(each.wanting),
                "replaced": each.replaced,
                "timedOut": each.timed_out,
            }
            for name, each in gang_progress.groups.items()
        ],
    }


def _verdict(explanation: Explanation) -> Mapping[str, Any]:
    refusal = explanation.refusal
    return {
        "state": explanation.state,
        "code": refusal.code.value if refusal else "",
        "text": refusal.text if refusal else "",
        "message": explanation.message,
        "requeued": explanation.requeued.value if explanation.requeued else "",
        "headroom": _amounts(explanation.headroom) if explanation.headroom is not None else None,
        "queues": [
            {
                "queue": numbers.path,
                "max": _amounts(numbers.max) if numbers.max is not None else None,
                "allocated": _amounts(numbers.allocated),
                "reserved": _amounts(numbers.reserved),
                "pending": _amounts(numbers.pending),
            }
            for numbers in explanation.queues
        ],
    }


def _amounts(values: Resource | Limit) -> dict[str, int]:
    return dict(sorted(values.items()))


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def described(verdict: object) -> tuple[str, str]:
    """Code and detail of a verdict, for people. There are only a few codes."""
    if isinstance(verdict, Admitted):
        return "Admitted", ""
    if isinstance(verdict, BindNow):
        return "Binding", ""
    match verdict:
        case Refused(refusal, _, _) | Vetoed(refusal):
            return refusal.code.value, refusal.text
        case Offered(plan):
            names = ", ".join(f"{each.namespace}/{each.name}" for each in plan.victims)
            return "Offered", f"on {plan.node}: {names}"
        case Withheld():
            return "Withheld", "no plan of its queue's is due"
        case BindWaits():
            return "WaitingForGroup", "its Binding waits for the others of its pod group"
        case BoundAlready():
            return "BoundAlready", ""
        case Scored():
            return "Scored", _scored(verdict)
        case Unscored():
            return "Unscored", "no node policy is named: kube-scheduler chooses by itself"
        case Faulted(message):
            return "Error", message
        case _:
            return "Passed", ""


def _scored(verdict: Scored) -> str:
    count = sum(len(names) for _, names in verdict.bands)
    # Every known node has a score above zero.
    best = next((f"{names[0]} is the best" for score, names in verdict.bands if score), "none is known")
    return f"{verdict.policy}: of {count} nodes {best}"
