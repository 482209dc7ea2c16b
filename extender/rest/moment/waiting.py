"""Pods that wait for nodes, over all applications, written in steps (REST-45)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from core.ids import NodeName, PodUid, QueuePath
from core.workload.states import ENDED
from extender.rest.model.pending import Pending, PendingPod, PendingReason
from extender.rest.moment.moment import Moment
from extender.rest.moment.order import RUN, in_order
from extender.rest.moment.rows import AppRow, PodRow
from extender.rest.moment.writing import PLACE, ROWS
from extender.rest.projection.counting import Counted

_ENCODER = msgspec.json.Encoder()

REASONS = 100
"""Most reasons in an answer."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Pods that are asked for."""

    #: Number of pods in the answer.
    most: int
    #: Queue whose pods are listed, with those of the queues below it; None for all.
    queue: QueuePath | None = None
    #: Node that is nominated or reserved for the pods; None for all pods.
    node: NodeName | None = None


class _Found(NamedTuple):
    at: int
    uid: PodUid
    app: AppRow
    row: PodRow


def pending_pods(moment: Moment, wanted: Wanted) -> Iterator[bytes]:
    """The oldest of these pods, and the number for each reason."""
    found: list[_Found] = []
    for at, each in enumerate(_requests(moment, wanted), 1):
        if each is not None:
            found.append(each)
        if at % RUN == 0:
            yield b""
    reasons: dict[str, tuple[int, int]] = {}
    for at, each in enumerate(found, 1):
        pods, oldest = reasons.get(each.row.reason, (0, each.at))
        reasons[each.row.reason] = pods + 1, min(oldest, each.at)
        if at % RUN == 0:
            yield b""
    ordered = yield from in_order(found, itemgetter(0, 1))
    head = Pending(total=len(found), reasons=_most_frequent(reasons), pods=_place(found))
    yield from _with_pods(head, islice(ordered, wanted.most))


def _requests(moment: Moment, wanted: Wanted) -> Iterator[_Found | None]:
    """Each pod of each live application. None for a pod that was not asked for."""
    for app in moment.apps.values():
        yield None
        if app.state in ENDED or (wanted.queue is not None and wanted.queue not in app.chain):
            continue
        for row in moment.of_apps.get(app.id, ()):
            waits = row.counted is Counted.REQUEST and (wanted.node is None or wanted.node in row.awaits)
            yield _Found(row.at, row.uid, app, row) if waits else None


def _most_frequent(reasons: dict[str, tuple[int, int]]) -> tuple[PendingReason, ...]:
    """``reasons``: number of pods and creation of the oldest, by reason."""
    found = (
        PendingReason(reason=reason, pods=pods, oldest=oldest) for reason, (pods, oldest) in reasons.items()
    )
    return tuple(sorted(found, key=lambda each: (-each.pods, each.reason))[:REASONS])


def _place(found: list[_Found]) -> Any:
    return (PLACE,) if found else ()


def _with_pods(head: Pending, pods: Iterator[_Found]) -> Iterator[bytes]:
    before, _, after = _ENCODER.encode(head).partition(b"\0")
    yield before
    comma = b""
    while part := [_written(each) for each in islice(pods, ROWS)]:
        yield comma + b",".join(part)
        comma = b","
    yield after + b"\n"


def _written(each: _Found) -> bytes:
    head = each.app.head
    request: Any = msgspec.Raw(each.row.written)
    pod = PendingPod(
        application_id=head.application_id,
        namespace=head.namespace,
        queue_name=head.queue_name,
        user=head.user,
        request=request,
    )
    return _ENCODER.encode(pod)
