"""Pods whose labels lead to another application now: reported, without effect while the pod lives (F-23).

A pod stays in the application that it joined. An annotation records its first labels, so that a restart finds
the same. A writer of the annotation could also write the labels, so forging it gains nothing. A change while
no Paddock ran cannot be detected.
"""

import json

from core.instants import has_come
from core.ledger.outcomes import Purpose
from core.ledger.pods.parts import Labelled
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post, write
from core.ledger.state.state import State
from core.workload.pod import APPLICATION, PodFacts

RELABELLED = "Relabelled"
"""Reason of the Event on a pod whose labels lead to another application."""

REPORTS_APART = 30.0
"""Seconds between two Events about one pod, because a user could cause thousands."""

_SHOWN = 64


def labelled(facts: PodFacts) -> Labelled:
    """Owner of a pod by its labels."""
    return Labelled(facts.app_id, facts.queue, facts.identity)


def recover_labels(state: State, record: PodRecord) -> None:
    """Take up the first labels of a pod from its annotation, when the pod is first seen."""
    written = record.facts.taken_as
    if not written:
        return
    known = _read(written) if record.seen.trusted else None
    if known is None:
        write(state, record, Purpose.WITHDRAWAL, (APPLICATION, None))
    else:
        record.membership.taken_as = Labelled(*known, record.facts.identity)
        record.membership.relabelled = labelled(record.facts)


def note_labels(state: State, record: PodRecord) -> None:
    """Report that a pod's labels differ from those when it joined its application."""
    if record.membership.application is None:
        return
    facts, taken_as = record.facts, record.membership.taken_as
    if taken_as == (facts.app_id, facts.queue, facts.identity):
        record.membership.relabelled = None
        return
    now = labelled(facts)
    if taken_as is None:
        record.membership.taken_as = now
    elif now != record.membership.relabelled:
        record.membership.relabelled = now
        _report(state, record, taken_as)


def _report(state: State, record: PodRecord, before: Labelled) -> None:
    state.applications.tally.relabelled += 1
    said = json.dumps({"app": before.app_id, "queue": before.queue})
    write(state, record, Purpose.LABELS, (APPLICATION, said))
    if record.membership.relabel_reported_at is None or has_come(
        record.membership.relabel_reported_at + REPORTS_APART, now=state.now
    ):
        record.membership.relabel_reported_at = state.now
        post(state, record, RELABELLED, relabelling_text(state, record))


def relabelling_text(state: State, record: PodRecord) -> str:
    """Text about a pod whose labels have changed; empty for any other pod."""
    application, now = state.application_of(record), record.membership.relabelled
    if application is None or now is None:
        return ""
    said = f"application {now.app_id[:_SHOWN] or 'none'}, queue {now.queue[:_SHOWN] or 'none'}"
    stays = f"application {application.id.name[:_SHOWN]}, queue {application.queue or 'none'}"
    return f"it says {said}, user {now.identity.user[:_SHOWN]} by now, and stays in {stays}"


def _read(text: str) -> tuple[str, str] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    app, queue = (found.get("app"), found.get("queue")) if isinstance(found, dict) else (None, None)
    return (app, queue) if isinstance(app, str) and isinstance(queue, str) else None
