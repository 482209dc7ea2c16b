"""Rows of pods and applications. Each is made once and stored until its contents may have changed.

Large answers list rows, so a moment is taken by copying references. Rows are frozen, and the garbage
collector does not track them.
"""

from collections.abc import Callable, Iterator

import msgspec

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger.pods.record import Held, PodRecord
from core.queues.users.limits import Tracked
from core.resource import Resource
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.facts import Facts
from extender.rest.model.answer import Answer
from extender.rest.model.applications import App, Request
from extender.rest.projection.applications import head_from
from extender.rest.projection.counting import Counted, counted_as
from extender.rest.projection.nodes import awaited_by
from extender.rest.projection.pods import allocation_from, bound_at, foreign_from, request_from
from extender.rest.projection.units import nanoseconds

_ENCODER = msgspec.json.Encoder()


class PodRow(msgspec.Struct, frozen=True, gc=False):
    """Row of a request, an allocation or a foreign allocation."""

    uid: PodUid
    counted: Counted
    #: Application of the pod; None without one.
    app: AppId | None
    #: Node of the pod; empty for a request.
    node: NodeName
    #: Time in nanoseconds. Lists are sorted by it.
    at: int
    size: Resource
    placeholder: bool
    priority: int
    #: Nodes that are nominated or reserved for the pod.
    awaits: tuple[NodeName, ...]
    #: Quota that is reserved for the pod while it has no node; None for none.
    afloat: Resource | None
    #: Last reason for which the pod was refused; empty for none, and for a pod on a node.
    reason: str
    #: JSON of the row.
    written: bytes


class AppRow(msgspec.Struct, frozen=True, gc=False):
    """Row of an application, without its pods."""

    id: AppId
    state: AppState
    #: All past and present states. A change of state replaces them.
    states: tuple[tuple[float, AppState], ...]
    queue: QueuePath | None
    #: Paths of its queue and of the queues above.
    chain: tuple[QueuePath, ...]
    user: str
    #: User group whose limits count it; empty for none.
    group: str
    #: True if it counts for the limit on running applications.
    counts: bool
    #: Submission, id and time of the end. Lists are sorted by it.
    order: tuple[float, AppId, float]
    head: App

    def tracked(self) -> Iterator[Tracked]:
        """Yield the keys of its user and its user group in its queue and above."""
        for path in self.chain:
            yield Tracked("user", self.user, path)
            if self.group:
                yield Tracked("group", self.group, path)


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
        nanoseconds(created),
        record.facts.size,
        record.facts.placeholder,
        record.facts.priority,
        awaited_by(record, counted),
        charge.size if charge.held is Held.RESERVED and charge.queue and not charge.node else None,
        _reason(shown),
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


def _reason(shown: Answer) -> str:
    log = shown.allocation_log if isinstance(shown, Request) else ()
    return log[-1].message if log else ""


def app_row(facts: Facts, application: Application) -> AppRow:
    """Make the row of an application, live or ended."""
    leaf = facts.view.tree.get(application.queue) if application.queue is not None else None
    return AppRow(
        application.id,
        application.state,
        application.states,
        application.queue,
        leaf.paths if leaf is not None else (),
        application.identity.user,
        application.group,
        leaf is not None and application.id in leaf.running,
        (application.submitted, application.id, application.since),
        head_from(facts, application),
    )


Facing = Callable[[], Facts]
"""Callable that returns the facts at the time of the call."""
