"""Large answers as JSON, encoded from a moment in steps (REST-45)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import attrgetter, itemgetter
from typing import Any

import msgspec

from core.ids import ROOT, AppId, NodeName, PodUid
from core.resource import ZERO, Resource, Tally
from core.workload.application import Application
from core.workload.states import ENDED, AppState
from extender.rest.facts import PARTITION
from extender.rest.model.answer import Answer
from extender.rest.model.applications import NO_REQUEST
from extender.rest.model.nodes import NodeUtilizations
from extender.rest.moment.moment import Moment
from extender.rest.moment.order import RUN, in_order
from extender.rest.moment.rows import AppRow, PodRow, app_row
from extender.rest.projection.counting import Counted
from extender.rest.projection.nodes import Buckets, add_node, head_from, utilization_from
from extender.rest.projection.partitions import with_numbers
from extender.rest.projection.units import amounts

_ENCODER = msgspec.json.Encoder()

ROWS = 100
"""Number of rows that are written in one step."""

PLACE: Any = msgspec.Raw(b"\0")
"""Placeholder for rows in an encoded object. No JSON contains this byte."""

_BY_TIME = attrgetter("at", "uid")
_ORDER = attrgetter("order")


def written_list(parts: Iterable[Iterator[bytes]]) -> Iterator[bytes]:
    """Write a list of objects with a final newline. ``parts``: the pieces of each object."""
    yield from inner_list(parts)
    yield b"\n"


def inner_list(parts: Iterable[Iterator[bytes]]) -> Iterator[bytes]:
    """Write a list of objects inside an answer. ``parts``: the pieces of each object."""
    before = b"["
    for each in parts:
        for piece in each:
            yield before + piece
            before = b""
        before = b","
    yield b"[]" if before == b"[" else b"]"


@dataclass(slots=True)
class Rows:
    """Rows of one list, in the order of writing."""

    number: int = 0
    ordered: Iterator[PodRow] = field(default_factory=lambda: iter(()))

    @property
    def place(self) -> Any:
        """Return the value for their place in the object."""
        return (PLACE,) if self.number else ()


def _with_rows(head: Answer, *lists: Rows) -> Iterator[bytes]:
    """Write an object with its rows. It has one place for each list that is not empty."""
    before, *texts = _ENCODER.encode(head).split(b"\0")
    piece = bytearray(before)
    for rows, after in zip((each for each in lists if each.number), texts, strict=True):
        comma = b""
        while written := b",".join([row.written for row in islice(rows.ordered, ROWS)]):
            piece += comma + written
            yield bytes(piece)
            piece.clear()
            comma = b","
        piece += after
    yield bytes(piece)


def _rows_of(
    rows: Sequence[PodRow], *kinds: Counted
) -> Generator[bytes, None, list[tuple[list[PodRow], Rows]]]:
    """Return the rows of each kind, unsorted and sorted."""
    by_kind: dict[Counted, list[PodRow]] = {kind: [] for kind in kinds}
    for start in range(0, len(rows), ROWS):
        if start:
            yield b""
        for row in rows[start : start + ROWS]:
            if row.counted in by_kind:
                by_kind[row.counted].append(row)
    found = []
    for each in by_kind.values():
        found.append((each, Rows(len(each), (yield from in_order(each, _BY_TIME)))))
    return found


def size_of(rows: Iterable[PodRow]) -> Resource:
    """Return the total size of pods."""
    found = Tally()
    for row in rows:
        found.add(row.size)
    return found.as_resource()


def _size_in_steps(rows: Sequence[PodRow]) -> Generator[bytes, None, Resource]:
    """Return the total size of many pods."""
    parts = []
    for start in range(0, len(rows), ROWS):
        parts.append(size_of(rows[start : start + ROWS]))
        yield b""
    return Resource.sum_of(*parts)


# -- partition -----------------------------------------------------------------------------------------------


def partition(moment: Moment) -> Iterator[bytes]:
    """Write the partition with its amounts and numbers (REST-5)."""
    counts: Counter[str] = Counter()
    states = (each.state for each in chain[AppRow | Application](moment.apps.values(), moment.ended))
    for at, state in enumerate(states, 1):
        counts[state.value] += 1
        if at % RUN == 0:
            yield b""
    afloat = Tally()
    for at, row in enumerate(moment.afloat, 1):
        afloat.add(row.afloat or ZERO)
        if at % RUN == 0:
            yield b""
    root, nodes = moment.queues[ROOT], (yield from _names(moment))
    found = with_numbers(
        moment.partition,
        size=root.max,
        used=(root.held - afloat).pruned(),
        nodes=len(nodes),
        counts=counts,
    )
    yield _ENCODER.encode(found)


# -- nodes ---------------------------------------------------------------------------------------------------


def node_names(moment: Moment) -> Generator[bytes, None, Iterator[NodeName]]:
    """Return the names of all nodes, and of unknown nodes that have pods, sorted."""
    return (yield from in_order((yield from _names(moment)), str))


def _names(moment: Moment) -> Generator[bytes, None, list[NodeName]]:
    found = list(moment.nodes)
    for at, name in enumerate(moment.on_nodes, 1):
        if name not in moment.nodes:
            found.append(name)
        if at % RUN == 0:
            yield b""
    return found


def all_nodes(moment: Moment) -> Iterator[bytes]:
    """Write the nodes sorted by name, each with its pods sorted by time (REST-8)."""
    reserved = yield from _reservations(moment)
    names = yield from node_names(moment)
    yield from written_list(_node(moment, name, reserved.get(name, set())) for name in names)


def one_node(moment: Moment, name: NodeName) -> Iterator[bytes]:
    """Write a node with its pods."""
    reserved = yield from _reservations(moment)
    yield from _node(moment, name, reserved.get(name, set()))
    yield b"\n"


def node_utilizations(moment: Moment) -> Iterator[bytes]:
    """Write the utilization of all nodes (REST-37). Each node takes a step, then each resource."""
    buckets: dict[str, Buckets] = {}
    for name in (yield from node_names(moment)):
        rows = moment.on_nodes.get(name, ())
        placed = yield from _size_in_steps([row for row in rows if row.counted is Counted.ALLOCATION])
        add_node(buckets, head_from(name, moment.nodes.get(name), allocated=placed))
    head = NodeUtilizations(
        cluster_id=moment.facts.process.cluster_id,
        partition=PARTITION,
        utilizations=(PLACE,) if buckets else (),
    )
    before, _, after = _ENCODER.encode((head,)).partition(b"\0")
    yield before
    for at, kind in enumerate(sorted(buckets)):
        yield (b"," if at else b"") + _ENCODER.encode(utilization_from(kind, buckets[kind]))
    yield after + b"\n"


def _node(moment: Moment, name: NodeName, reserved: set[PodUid]) -> Iterator[bytes]:
    split = yield from _rows_of(moment.on_nodes.get(name, ()), Counted.ALLOCATION, Counted.FOREIGN)
    (managed, allocations), (others, foreign) = split
    head = head_from(
        name,
        moment.nodes.get(name),
        allocated=(yield from _size_in_steps(managed)),
        occupied=(yield from _size_in_steps(others)),
        reservations=tuple(sorted(reserved)),
    )
    yield from _with_rows(
        msgspec.structs.replace(head, allocations=allocations.place, foreign_allocations=foreign.place),
        allocations,
        foreign,
    )


def _reservations(moment: Moment) -> Generator[bytes, None, dict[NodeName, set[PodUid]]]:
    """Return the pods for which each node is nominated or reserved."""
    found: defaultdict[NodeName, set[PodUid]] = defaultdict(set)
    for at, row in enumerate(moment.awaiting, 1):
        for node in row.awaits:
            found[node].add(row.uid)
        if at % RUN == 0:
            yield b""
    return found


# -- applications --------------------------------------------------------------------------------------------


Wanted = Callable[[AppRow], bool]


def every_one(_row: AppRow) -> bool:
    """Accept every application."""
    return True


def active_applications(
    moment: Moment, wanted: Wanted = every_one
) -> Generator[bytes, None, Iterator[AppRow]]:
    """Return the wanted live applications, sorted by submission and id (REST-25)."""
    found = []
    for at, each in enumerate(moment.apps.values(), 1):
        if each.state not in ENDED and wanted(each):
            found.append(each)
        if at % RUN == 0:
            yield b""
    return (yield from in_order(found, _ORDER))


def applications(moment: Moment, wanted: Wanted = every_one) -> Iterator[bytes]:
    """Write the wanted live applications, each with its pods sorted by time (REST-32)."""
    rows = yield from active_applications(moment, wanted)
    yield from written_list(_application(moment, row) for row in rows)


def one_application(moment: Moment, row: AppRow) -> Iterator[bytes]:
    """Write an application with its pods."""
    yield from _application(moment, row)
    yield b"\n"


def ended_applications(moment: Moment, *, rejected: bool) -> Iterator[bytes]:
    """Write the rejected applications, or the completed and failed ones."""
    yield from written_list((yield from _ended_parts(moment, rejected=rejected)))


def every_application(moment: Moment) -> Iterator[bytes]:
    """Write the live, the ended and the rejected applications in one list (REST-14)."""
    live = yield from active_applications(moment)
    completed = yield from _ended_parts(moment, rejected=False)
    rejected = yield from _ended_parts(moment, rejected=True)
    yield from written_list(chain((_application(moment, row) for row in live), completed, rejected))


def _ended_parts(moment: Moment, *, rejected: bool) -> Generator[bytes, None, Iterator[Iterator[bytes]]]:
    found: list[tuple[tuple[float, AppId, float], Application | AppRow]] = []
    for at, ended in enumerate(moment.ended, 1):
        if (ended.state is AppState.REJECTED) is rejected:
            found.append(((ended.submitted, ended.id, ended.since), ended))
        if at % RUN == 0:
            yield b""
    for at, row in enumerate(moment.apps.values() if rejected else (), 1):
        if row.state is AppState.REJECTED:
            found.append((row.order, row))
        if at % RUN == 0:
            yield b""
    ordered = yield from in_order(found, itemgetter(0))
    return (
        _application(moment, each) if isinstance(each, AppRow) else _ended(moment, each)
        for _, each in ordered
    )


def _ended(moment: Moment, application: Application) -> Iterator[bytes]:
    yield from _with_rows(app_row(moment.facts, application).head)


def _application(moment: Moment, row: AppRow) -> Iterator[bytes]:
    split = yield from _rows_of(moment.of_apps.get(row.id, ()), Counted.REQUEST, Counted.ALLOCATION)
    (waiting, requests), (placed, allocations) = split
    used = yield from _size_in_steps([each for each in placed if not each.placeholder])
    pending = yield from _size_in_steps(waiting)
    reserved = tuple(sorted(each.uid for each in waiting if each.awaits))
    head = msgspec.structs.replace(
        row.head,
        used_resource=amounts(used),
        pending_resource=amounts(pending),
        requests=requests.place,
        allocations=allocations.place,
        has_reserved=bool(reserved),
        reservations=reserved,
        max_request_priority=max((each.priority for each in waiting), default=NO_REQUEST),
    )
    yield from _with_rows(head, requests, allocations)
