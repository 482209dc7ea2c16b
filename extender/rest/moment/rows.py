"""Rows of pods and applications, each made once and stored until what it shows may have changed.

A row is a frozen value. Together they are what large answers list, so that one moment can be taken by
copying references.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger.pods.record import PodRecord
from core.resource import Resource
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.facts import Facts
from extender.rest.model.answer import Answer
from extender.rest.model.applications import App
from extender.rest.projection.applications import head_from
from extender.rest.projection.counting import Counted, counted_as
from extender.rest.projection.nodes import awaited_by
from extender.rest.projection.pods import allocation_from, bound_at, foreign_from, request_from
from extender.rest.projection.units import nanoseconds

_ENCODER = msgspec.json.Encoder()


class PodRow(NamedTuple):
    """A request, an allocation or a foreign allocation."""

    uid: PodUid
    counted: Counted
    #: None for a pod of no application.
    app: AppId | None
    #: Empty for a request.
    node: NodeName
    #: Time and key, by which lists are sorted.
    order: tuple[int, str]
    size: Resource
    placeholder: bool
    priority: int
    #: Nodes that it is nominated to or that are held for it.
    awaits: tuple[NodeName, ...]
    #: The row as JSON.
    written: bytes


class AppRow(NamedTuple):
    """An application without its pods."""

    id: AppId
    state: AppState
    queue: QueuePath | None
    #: Submission, id and time of its end, by which lists are sorted.
    order: tuple[float, AppId, float]
    head: App


def pod_row(facts: Facts, uid: PodUid) -> PodRow | None:
    """None for a pod that no answer lists."""
    record, charge = facts.view.pod(uid), facts.view.charge_of(uid)
    counted = counted_as(charge)
    if record is None or charge is None or counted is None:
        return None
    app = record.membership.application
    application = facts.view.application(app) if app is not None else None
    if application is None:
        if counted is not Counted.REQUEST:
            counted = Counted.FOREIGN
        app = None
    node = NodeName("") if counted is Counted.REQUEST else charge.node
    shown = _shown(facts, counted, application, record, node)
    if shown is None:
        return None
    created = record.facts.created if counted is Counted.REQUEST else bound_at(record)
    return PodRow(
        uid,
        counted,
        app,
        node,
        (nanoseconds(created), uid),
        record.facts.size,
        record.facts.placeholder,
        record.facts.priority,
        awaited_by(record, counted),
        _ENCODER.encode(shown),
    )


def _shown(
    facts: Facts, counted: Counted, application: Application | None, record: PodRecord, node: NodeName
) -> Answer | None:
    if counted is Counted.FOREIGN or application is None:
        return foreign_from(record, node) if counted is Counted.FOREIGN else None
    if counted is Counted.REQUEST:
        return request_from(facts, application, record)
    return allocation_from(application, record, node)


def app_row(facts: Facts, application: Application) -> AppRow:
    """Make the row of an application, alive or ended."""
    return AppRow(
        application.id,
        application.state,
        application.queue,
        (application.submitted, application.id, application.since),
        head_from(facts, application),
    )


Facing = Callable[[], Facts]
"""Facts of the moment at which it is called."""
