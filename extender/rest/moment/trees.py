"""Queues from a moment, each in a step of its own (REST-6). The trees of users and groups use it, too."""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from core.ids import ROOT, AppId, QueuePath, parent_path
from core.resource import UNLIMITED, ZERO, Limit, Tally
from core.workload.states import STARTED
from extender.rest.facts import PARTITION
from extender.rest.model.answer import Answer
from extender.rest.model.queues import Queue
from extender.rest.moment.moment import Moment
from extender.rest.moment.order import RUN, in_order
from extender.rest.moment.rows import AppRow
from extender.rest.moment.writing import PLACE
from extender.rest.projection.queues import own_left, queue_from

_ENCODE = msgspec.json.Encoder().encode

Children = Mapping[QueuePath, Sequence[QueuePath]]


@dataclass(slots=True)
class Running:
    """Applications that count for limits, by queue. Each counts in its queue and above."""

    #: Number of running applications, by queue.
    numbers: defaultdict[QueuePath, int] = field(default_factory=lambda: defaultdict(int))
    #: Names of applications that do not run yet, by queue.
    waiting: defaultdict[QueuePath, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: Quota that is reserved for pods without a node, by queue.
    afloat: defaultdict[QueuePath, Tally] = field(default_factory=lambda: defaultdict(Tally))


def shown_names(moment: Moment) -> Generator[bytes, None, Callable[[AppId], str]]:
    """Return a function that names an application: by its id alone if that is unique among live ones."""
    namesakes: defaultdict[str, int] = defaultdict(int)
    for at, app in enumerate(moment.apps, 1):
        namesakes[app.name] += 1
        if at % RUN == 0:
            yield b""
    return lambda app: app.name if namesakes[app.name] < 2 else str(app)


def apps_by_id(moment: Moment) -> Generator[bytes, None, Iterator[AppRow]]:
    """Return the live applications, sorted by id."""
    return (yield from in_order(tuple(moment.apps.values()), key=lambda each: each.id))


def running(moment: Moment) -> Generator[bytes, None, Running]:
    """Count applications, and quota without a node, for every queue."""
    found, shown = Running(), (yield from shown_names(moment))
    for at, row in enumerate((yield from apps_by_id(moment)), 1):
        for path in row.chain if row.counts else ():
            if row.state in STARTED:
                found.numbers[path] += 1
            else:
                found.waiting[path].append(shown(row.id))
        if at % RUN == 0:
            yield b""
    for at, pod in enumerate(moment.afloat, 1):
        app = moment.apps.get(pod.app) if pod.app is not None else None
        for path in app.chain if app is not None else ():
            found.afloat[path].add(pod.afloat or ZERO)
        if at % RUN == 0:
            yield b""
    return found


def children_of(paths: Sequence[QueuePath]) -> Generator[bytes, None, Children]:
    """Return the paths below each path, sorted."""
    found: defaultdict[QueuePath, list[QueuePath]] = defaultdict(list)
    for at, path in enumerate((yield from in_order(paths, key=lambda each: each)), 1):
        parent = parent_path(path)
        if parent is not None:
            found[parent].append(path)
        if at % RUN == 0:
            yield b""
    return found


def written_tree(path: QueuePath, head: Callable[[QueuePath], Answer], children: Children) -> Iterator[bytes]:
    """Write an object and those below it. ``head()``: an object, with a place for its children."""
    below = children.get(path, ())
    before, _, after = _ENCODE(head(path)).partition(b"\0")
    yield before
    for at, each in enumerate(below):
        if at:
            yield b","
        yield from written_tree(each, head, children)
    yield after


# -- queues --------------------------------------------------------------------------------------------------


def queue_tree(moment: Moment) -> Iterator[bytes]:
    """Write the root with all queues below it. Only the root names the partition."""
    yield from _queue(moment, ROOT, partition=PARTITION, subtree=True)
    yield b"\n"


def one_queue(moment: Moment, path: QueuePath, *, subtree: bool) -> Iterator[bytes]:
    """Write a queue, alone or with all queues below it."""
    yield from _queue(moment, path, partition="", subtree=subtree)
    yield b"\n"


def _queue(moment: Moment, path: QueuePath, *, partition: str, subtree: bool) -> Iterator[bytes]:
    counted = yield from running(moment)
    children = yield from children_of(tuple(moment.queues))
    left = dict(_left_above(moment, path))

    def head(each: QueuePath) -> Queue:
        row, afloat = moment.queues[each], counted.afloat.get(each)
        left[each] = own_left(row).tightest(left.get(parent_path(each) or QueuePath(""), UNLIMITED))
        found = queue_from(
            row,
            afloat=afloat.as_resource() if afloat is not None else None,
            left=left[each],
            running=counted.numbers.get(each, 0),
            waiting=tuple(counted.waiting.get(each, ())),
            reclaims=moment.reclaims,
        )
        below = tuple(children.get(each, ()))
        return msgspec.structs.replace(
            found,
            partition=partition if each == path else "",
            child_names=below,
            children=(PLACE,) if subtree and below else (),
        )

    yield from written_tree(path, head, children if subtree else {})


def _left_above(moment: Moment, path: QueuePath) -> Iterator[tuple[QueuePath, Limit]]:
    """Yield the headroom of the parent under all limits above, if there is a parent."""
    left, above = UNLIMITED, parent_path(path)
    each = above
    while each is not None:
        left = left.tightest(own_left(moment.queues[each]))
        each = parent_path(each)
    if above is not None:
        yield above, left
