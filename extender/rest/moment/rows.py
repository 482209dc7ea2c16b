"""Rows of pods and applications. Each is made once and stored until its contents may have changed.

Large answers consist of rows. A row is a frozen value, so a moment is taken by copying references.
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
    #: Application of the pod; None without one.
    app: AppId | None
    #: Node of the pod; empty for a request.
    node: NodeName
    #: Sort key of lists: time in nanoseconds, and UID.
    order: tuple[int, str]
    size: Resource
    placeholder: bool
    priority: int
    #: Nodes that are nominated or reserved for the pod.
    awaits: tuple[NodeName, ...]
    #: JSON of the row.
    written: bytes


class AppRow(NamedTuple):
    """An application without its pods."""

    id: AppId
    state: AppState
    queue: QueuePath | None
    #: Sort key of lists: time of submission, id, and time of the end.
    order: tuple[float, AppId, float]
    head: App


def pod_row(facts: Facts, uid: PodUid) -> PodRow | None:
    """Make the row of a pod; None for a pod that no answer lists."""
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
    """Make the row of an application, live or ended."""
    return AppRow(
        application.id,
        application.state,
        application.queue,
        (application.submitted, application.id, application.since),
        head_from(facts, application),
    )


Facing = Callable[[], Facts]
"""Callable that returns the facts at the time of the call."""
