"""Usage of users and user groups, from a moment (REST-9)."""

from collections import defaultdict
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import msgspec

from core.ids import ROOT, QueuePath, parent_path
from core.queues.users.limits import ANY, Tracked, entry_for
from core.resource import ZERO, Tally
from extender.rest.model.usage import GroupUsage, QueueUsage, UserUsage
from extender.rest.moment.moment import Moment
from extender.rest.moment.order import RUN, in_order
from extender.rest.moment.trees import apps_by_id, children_of, shown_names, written_tree
from extender.rest.moment.writing import PLACE, written_list
from extender.rest.projection.usage import GROUP, USER, is_named, usage_head

_ENCODE = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Person:
    """A user or user group."""

    #: Queues in which it has usage or a limit names it.
    paths: set[QueuePath] = field(default_factory=set)
    #: Names of its applications that count for limits, by queue.
    running: defaultdict[QueuePath, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: Group that counts by application, for a user; names of applications, for a group.
    groups: dict[str, str] = field(default_factory=dict)
    #: Quota that is reserved for pods without a node, by queue.
    afloat: defaultdict[QueuePath, Tally] = field(default_factory=lambda: defaultdict(Tally))


People = defaultdict[tuple[str, str], Person]


def people(moment: Moment) -> Generator[bytes, None, People]:
    """Collect all users and user groups, by kind and name."""
    found: People = defaultdict(Person)
    yield from _from_usage(moment, found)
    yield from _from_limits(moment, found)
    yield from _from_applications(moment, found)
    yield from _from_afloat(moment, found)
    return found


def _from_usage(moment: Moment, found: People) -> Iterator[bytes]:
    for at, key in enumerate(moment.held, 1):
        found[key.kind, key.name].paths.add(key.path)
        if at % RUN == 0:
            yield b""


def _from_limits(moment: Moment, found: People) -> Iterator[bytes]:
    """Add the people that limits name. The wildcard is a name for user groups only (UGM-5)."""
    for at, (path, row) in enumerate(moment.queues.items(), 1):
        for entry in row.spec.limits:
            named = (
                *((USER, name) for name in entry.users if name != ANY),
                *((GROUP, each) for each in entry.groups),
            )
            for kind, name in named:
                if is_named(entry_for(moment.limits, Tracked(kind, name, path)), kind, name):
                    found[kind, name].paths.add(path)
        if at % RUN == 0:
            yield b""


def _from_applications(moment: Moment, found: People) -> Iterator[bytes]:
    shown = yield from shown_names(moment)
    for at, row in enumerate((yield from apps_by_id(moment)), 1):
        name = shown(row.id)
        if row.counts:
            for key in row.tracked():
                person = found[key.kind, key.name]
                person.paths.add(key.path)
                person.running[key.path].append(name)
        if row.group:
            found[USER, row.user].groups[name] = row.group
            found[GROUP, row.group].groups[name] = row.group
        if at % RUN == 0:
            yield b""


def _from_afloat(moment: Moment, found: People) -> Iterator[bytes]:
    for at, pod in enumerate(moment.afloat, 1):
        app = moment.apps.get(pod.app) if pod.app is not None else None
        for key in app.tracked() if app is not None else ():
            found[key.kind, key.name].afloat[key.path].add(pod.afloat or ZERO)
        if at % RUN == 0:
            yield b""


# -- writing -------------------------------------------------------------------------------------------------


def everybody(moment: Moment, kind: str) -> Iterator[bytes]:
    """Write all users, or all user groups, sorted by name."""
    found = yield from people(moment)
    named = [name for (each, name), person in found.items() if each == kind and person.paths]
    names = yield from in_order(named, str)
    yield from written_list(_person(moment, kind, name, found[kind, name]) for name in names)


def one(moment: Moment, kind: str, name: str) -> Generator[bytes, None, bool]:
    """Write a user or user group. Returns False, and writes nothing, without usage and without a limit."""
    found = yield from people(moment)
    person = found.get((kind, name))
    if person is None or not person.paths:
        return False
    yield from _person(moment, kind, name, person)
    yield b"\n"
    return True


def _person(moment: Moment, kind: str, name: str, person: Person) -> Iterator[bytes]:
    paths: set[QueuePath] = set()
    for at, path in enumerate(person.paths, 1):
        paths.update(_with_ancestors(path))
        if at % RUN == 0:
            yield b""
    children = yield from children_of(tuple(paths))

    def head(path: QueuePath) -> QueueUsage:
        key = Tracked(kind, name, path)
        held, afloat = moment.held.get(key, ZERO), person.afloat.get(path)
        found = usage_head(
            path,
            held=held - afloat if afloat is not None else held,
            running=tuple(person.running.get(path, ())),
            limit=entry_for(moment.limits, key),
        )
        return msgspec.structs.replace(found, children=(PLACE,) if path in children else ())

    before, _, after = _ENCODE(_outer(kind, name, person)).partition(b"\0")
    yield before
    yield from written_tree(ROOT, head, children)
    yield after


def _outer(kind: str, name: str, person: Person) -> UserUsage | GroupUsage:
    if kind == USER:
        return UserUsage(user_name=name, groups=person.groups, queues=PLACE)
    return GroupUsage(group_name=name, applications=tuple(person.groups), queues=PLACE)


def _with_ancestors(path: QueuePath) -> Iterator[QueuePath]:
    each: QueuePath | None = path
    while each is not None:
        yield each
        each = parent_path(each)
