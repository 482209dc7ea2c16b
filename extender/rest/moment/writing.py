"""Large answers as JSON, encoded from a moment in steps (REST-45)."""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

import msgspec

from core.ids import AppId, NodeName, PodUid
from core.resource import Resource, Tally
from core.workload.application import Application
from core.workload.states import ENDED, AppState
from extender.rest.model.answer import Answer
from extender.rest.model.applications import NO_REQUEST
from extender.rest.model.nodes import Node
from extender.rest.moment.moment import Moment
from extender.rest.moment.rows import AppRow, PodRow, app_row
from extender.rest.projection.counting import Counted
from extender.rest.projection.nodes import head_from, utilizations
from extender.rest.projection.units import amounts

_ENCODER = msgspec.json.Encoder()

ROWS = 200
"""Rows that are written in one step."""

_PLACE = msgspec.Raw(b"\0")
"""Placeholder for the rows in an encoded object. JSON never contains this byte."""

_ORDER = attrgetter("order")


def written_list(parts: Iterable[Iterator[bytes]]) -> Iterator[bytes]:
    """Pieces of a list of objects. ``parts``: the pieces of each object."""
    before = b"["
    for each in parts:
        for piece in each:
            yield before + piece
            before = b""
        before = b","
    yield b"[]\n" if before == b"[" else b"]\n"


def _with_rows(head: Answer, *lists: Sequence[PodRow]) -> Iterator[bytes]:
    """Pieces of an object. ``head``: has a placeholder for each of the ``lists`` that is not empty."""
    texts = _ENCODER.encode(head).split(b"\0")
    filled = [rows for rows in lists if rows]
    piece = bytearray(texts[0])
    for rows, after in zip(filled, texts[1:], strict=True):
        for start in range(0, len(rows), ROWS):
            if start:
                yield bytes(piece)
                piece = bytearray(b",")
            piece += b",".join([row.written for row in rows[start : start + ROWS]])
        piece += after
    yield bytes(piece)


def _place(rows: Sequence[PodRow]) -> Any:
    return (_PLACE,) if rows else ()


def size_of(rows: Iterable[PodRow]) -> Resource:
    """Return the total size of pods."""
    found = Tally()
    for row in rows:
        found.add(row.size)
    return found.as_resource()


def _size_in_steps(rows: Sequence[PodRow]) -> Generator[bytes, None, Resource]:
    """Add up sizes in steps, since an application may have very many pods."""
    parts = []
    for start in range(0, len(rows), ROWS):
        if start:
            yield b""
        parts.append(size_of(rows[start : start + ROWS]))
    return Resource.sum_of(*parts)


# -- nodes ---------------------------------------------------------------------------------------------------


def node_names(moment: Moment) -> list[NodeName]:
    """Return the names of all nodes, and of unknown nodes that pods name."""
    return sorted({*moment.nodes, *moment.on_nodes})


def all_nodes(moment: Moment) -> Iterator[bytes]:
    """Nodes sorted by name, each with its pods sorted by time (REST-8)."""
    reserved = _reservations(moment)
    return written_list(_node(moment, name, reserved) for name in node_names(moment))


def node_utilizations(moment: Moment) -> Iterator[bytes]:
    """Utilization of nodes (REST-37). Each node is counted in one step; the last step encodes the answer."""
    heads: list[Node] = []
    for name in node_names(moment):
        heads.append(_head(moment, name, {}))
        yield b""
    yield _ENCODER.encode((utilizations(moment.facts, heads),)) + b"\n"


def _node(moment: Moment, name: NodeName, reserved: dict[NodeName, tuple[PodUid, ...]]) -> Iterator[bytes]:
    rows = sorted(moment.on_nodes.get(name, ()), key=_ORDER)
    allocations = [row for row in rows if row.counted is Counted.ALLOCATION]
    foreign = [row for row in rows if row.counted is Counted.FOREIGN]
    head = msgspec.structs.replace(
        _head(moment, name, reserved), allocations=_place(allocations), foreign_allocations=_place(foreign)
    )
    yield from _with_rows(head, allocations, foreign)


def _head(moment: Moment, name: NodeName, reserved: dict[NodeName, tuple[PodUid, ...]]) -> Node:
    rows = moment.on_nodes.get(name, ())
    return head_from(
        name,
        moment.nodes.get(name),
        allocated=size_of(row for row in rows if row.counted is Counted.ALLOCATION),
        occupied=size_of(row for row in rows if row.counted is Counted.FOREIGN),
        reservations=reserved.get(name, ()),
    )


def _reservations(moment: Moment) -> dict[NodeName, tuple[PodUid, ...]]:
    found: defaultdict[NodeName, set[PodUid]] = defaultdict(set)
    for row in moment.awaiting:
        for node in row.awaits:
            found[node].add(row.uid)
    return {node: tuple(sorted(uids)) for node, uids in found.items()}


# -- applications --------------------------------------------------------------------------------------------


def active_applications(moment: Moment) -> list[AppRow]:
    """Return the live applications, sorted by submission and id (REST-25)."""
    return sorted((each for each in moment.apps.values() if each.state not in ENDED), key=_ORDER)


def applications(moment: Moment, rows: Iterable[AppRow]) -> Iterator[bytes]:
    """Applications, each with its pods sorted by time (REST-32)."""
    return written_list(_application(moment, row) for row in rows)


def ended_applications(moment: Moment, *, rejected: bool) -> Iterator[bytes]:
    """Ended applications. ``rejected``: True for the rejected ones, False for all others."""
    return written_list(_ended_parts(moment, rejected=rejected))


def every_application(moment: Moment) -> Iterator[bytes]:
    """Live, ended and rejected applications, in one list (REST-14)."""
    live = (_application(moment, row) for row in active_applications(moment))
    ended = (_ended_parts(moment, rejected=rejected) for rejected in (False, True))
    return written_list(chain(live, *ended))


def _ended_parts(moment: Moment, *, rejected: bool) -> Iterator[Iterator[bytes]]:
    found: list[tuple[tuple[float, AppId, float], Application | AppRow]] = [
        ((each.submitted, each.id, each.since), each)
        for each in moment.ended
        if (each.state is AppState.REJECTED) is rejected
    ]
    if rejected:
        found += [(each.order, each) for each in moment.apps.values() if each.state is AppState.REJECTED]
    found.sort(key=itemgetter(0))
    for _, each in found:
        yield _application(moment, each) if isinstance(each, AppRow) else _ended(moment, each)


def _ended(moment: Moment, application: Application) -> Iterator[bytes]:
    yield from _with_rows(app_row(moment.facts, application).head)


def _application(moment: Moment, row: AppRow) -> Iterator[bytes]:
    rows = sorted(moment.of_apps.get(row.id, ()), key=_ORDER)
    requests = [each for each in rows if each.counted is Counted.REQUEST]
    allocations = [each for each in rows if each.counted is Counted.ALLOCATION]
    reserved = tuple(sorted(each.uid for each in requests if each.awaits))
    used = yield from _size_in_steps([each for each in allocations if not each.placeholder])
    pending = yield from _size_in_steps(requests)
    head = msgspec.structs.replace(
        row.head,
        used_resource=amounts(used),
        pending_resource=amounts(pending),
        requests=_place(requests),
        allocations=_place(allocations),
        has_reserved=bool(reserved),
        reservations=reserved,
        max_request_priority=max((each.priority for each in requests), default=NO_REQUEST),
    )
    yield from _with_rows(head, requests, allocations)
