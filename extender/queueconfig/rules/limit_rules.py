"""Rules for limits of users and groups, in a queue and along the tree.

CFG-8, CFG-13 to CFG-21, CFG-41 to CFG-46. Amounts have the units of `amounts`.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import TypeVar

from core.queues.placement.filters import GROUP_NAME, USER_NAME
from extender.queueconfig.amounts import Excess, amounts_from, excesses, named
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, Location, shown
from extender.queueconfig.schema import LimitEntry

T = TypeVar("T")

ANY = "*"
Names = Callable[[LimitEntry], Sequence[str]]
_KINDS: tuple[tuple[str, Names], ...] = (
    ("users", lambda entry: entry.users),
    ("groups", lambda entry: entry.groups),
)
_NAME_RULES = {
    "users": (USER_NAME, "a user begins with a letter or _, then has letters, digits and : # / _ . @ -"),
    "groups": (GROUP_NAME, "a group begins with a letter or _, then has letters, digits and : _ . -"),
}


def limit_structure(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check that the limits of the partition and of the root do not differ (CFG-8)."""
    own, root = partition.section.limits, partition.root.section.limits
    if own and root and own != root:
        message = "limits of the partition and of the root differ; keep those of the root"
        yield DocumentFinding((*partition.at, "limits"), "CFG-8", message)


def limits(partition: PartitionNode, queue: QueueNode) -> Iterator[DocumentFinding]:
    """Check each entry of a queue's limits, by itself and against the queue (CFG-13 to CFG-21)."""
    entries, at = _limits_of(partition, queue)
    if not entries:
        return
    cap = {} if queue.is_root else amounts_from(queue.section.resources.max)[0]
    seen: dict[str, set[str]] = {"users": set(), "groups": set()}
    for place, entry in enumerate(entries):
        where = (*at, place)
        if not (entry.users or entry.groups):
            yield DocumentFinding(where, "CFG-13", "names neither users nor groups; name at least one")
        for kind, names in _KINDS:
            yield from _names(kind, names(entry), seen[kind], (*where, kind))
        if ANY in entry.groups and seen["groups"] == {ANY}:
            message = "a wildcard group needs a named group before it; name one on the same queue"
            yield DocumentFinding((*where, "groups"), "CFG-17", message)
        yield from _amounts(entry, where)
        yield from _within_queue(queue, cap, entry, where)


def _limits_of(partition: PartitionNode, queue: QueueNode) -> tuple[Sequence[LimitEntry], Location]:
    """Limits of a queue and their location. A root without limits has those of the partition (CFG-8)."""
    if queue.is_root and not queue.section.limits:
        return partition.section.limits, (*partition.at, "limits")
    return queue.section.limits, (*queue.at, "limits")


def _names(kind: str, names: Sequence[str], seen: set[str], at: Location) -> Iterator[DocumentFinding]:
    pattern, right = _NAME_RULES[kind]
    for place, name in enumerate(names):
        where = (*at, place)
        if name != ANY and not pattern.fullmatch(name):
            yield DocumentFinding(
                where, "CFG-14", f"{shown(name)} is not the name of a {kind[:-1]}, nor *; {right}"
            )
        elif name in seen:
            yield DocumentFinding(
                where, "CFG-15", f"{shown(name)} has a limit on this queue already; keep one"
            )
        elif ANY in seen:
            yield DocumentFinding(where, "CFG-16", f"{shown(name)} comes after *; put the wildcard last")
        seen.add(name)


def _amounts(entry: LimitEntry, at: Location) -> Iterator[DocumentFinding]:
    amounts, broken = amounts_from(entry.maxresources)
    for name, message in broken.items():
        yield DocumentFinding((*at, "maxresources", name), "CFG-18", message)
    if entry.maxresources and not broken and not any(amounts.values()):
        yield DocumentFinding((*at, "maxresources"), "CFG-18", "all values are zero; one must be above")
    if not entry.maxresources and not entry.maxapplications:
        yield DocumentFinding(at, "CFG-19", "limits nothing; give maxresources or maxapplications")


def _within_queue(
    queue: QueueNode, cap: Mapping[str, int], entry: LimitEntry, at: Location
) -> Iterator[DocumentFinding]:
    most = queue.section.maxapplications
    if most and entry.maxapplications > most:
        message = f"{entry.maxapplications} is above the queue's own {most}; use at most {most}"
        yield DocumentFinding((*at, "maxapplications"), "CFG-20", message)
    for excess in excesses(amounts_from(entry.maxresources)[0], cap):
        yield _too_much(excess, "the queue's max", (*at, "maxresources"), "CFG-21")


def _too_much(excess: Excess, whose: str, at: Location, rule: str) -> DocumentFinding:
    name, amount, most = excess
    message = f"{named(name, amount)} is above {whose}, {named(name, most)}; use at most that"
    return DocumentFinding((*at, name), rule, message)


# -- along the hierarchy -----------------------------------------------------------------------------------

Above = dict[tuple[str, str], T]
"""Limits of the queues above, by kind and name of the user or user group."""

Caps = tuple[Mapping[str, int], ...]
"""Amounts that all apply to a name. Their minimum is the CWMIN of CFG-41.

They are not merged, since that would cost names times resources.
"""

Check = Callable[[Sequence[LimitEntry], Location, Above[T]], Generator[DocumentFinding, None, Above[T]]]


def limit_resources(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check resources against the limits above for the same name or for the wildcard (CFG-41 to CFG-43)."""
    nothing: Above[Caps] = {}
    yield from _along(partition, partition.root, nothing, _resources)


def limit_applications(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Check numbers of applications against the limits above, where 0 is unlimited (CFG-44 to CFG-46)."""
    nothing: Above[int] = {}
    yield from _along(partition, partition.root, nothing, _applications)


def _along(
    partition: PartitionNode, queue: QueueNode, above: Above[T], check: Check[T]
) -> Iterator[DocumentFinding]:
    """Run a check for a queue and all below it. ``above`` is changed meanwhile and restored at the end."""
    # A copy for each queue would cost queues times names.
    own = yield from check(*_limits_of(partition, queue), above)
    hidden = {key: above[key] for key in own if key in above}
    above.update(own)
    for child in queue.children:
        yield from _along(partition, child, above, check)
    for key in own:
        del above[key]
    above.update(hidden)


def _inherited(
    above: Mapping[tuple[str, str], T], kind: str, name: str, rules: Sequence[str]
) -> tuple[T | None, str]:
    """The limit from above for a name, and its rule. A limit for the name itself precedes the wildcard's.

    ``rules``: for an entry with that name, for a name below the wildcard, and for a wildcard below one.
    """
    if name == ANY:
        return above.get((kind, ANY)), rules[2]
    if (kind, name) in above:
        return above[kind, name], rules[0]
    return above.get((kind, ANY)), rules[1]


def _resources(
    entries: Sequence[LimitEntry], at: Location, above: Above[Caps]
) -> Generator[DocumentFinding, None, Above[Caps]]:
    own: Above[Caps] = {}
    for place, entry in enumerate(entries):
        amounts, _ = amounts_from(entry.maxresources)
        where, alone = (*at, place, "maxresources"), (amounts,)
        # The names of an entry mostly inherit the same caps, so each comparison is made once.
        known: dict[int, tuple[list[Excess], Caps]] = {}
        for kind, names in _KINDS:
            for name in names(entry):
                caps, rule = _inherited(above, kind, name, ("CFG-41", "CFG-42", "CFG-43"))
                caps = caps or ()
                if id(caps) not in known:
                    known[id(caps)] = _smallest_excesses(amounts, caps), (*caps, amounts)
                found, both = known[id(caps)]
                for excess in found:
                    yield _too_much(excess, f"what {shown(name)} has in a queue above", where, rule)
                own[kind, name] = both if (kind, name) in above else alone
    return own


def _smallest_excesses(amounts: Mapping[str, int], caps: Caps) -> list[Excess]:
    found: dict[str, Excess] = {}
    for cap in caps:
        for excess in excesses(amounts, cap):
            found[excess[0]] = min(excess, found.get(excess[0], excess))
    return [found[name] for name in sorted(found)]


def _applications(
    entries: Sequence[LimitEntry], at: Location, above: Above[int]
) -> Generator[DocumentFinding, None, Above[int]]:
    own: Above[int] = {}
    for place, entry in enumerate(entries):
        wanted = entry.maxapplications
        for kind, names in _KINDS:
            for name in names(entry):
                inherited, rule = _inherited(above, kind, name, ("CFG-44", "CFG-45", "CFG-44"))
                own[kind, name] = wanted
                if inherited and (wanted > inherited or wanted == 0):
                    what = wanted or "0 or absent, which is unlimited,"
                    message = f"{what} is above the {inherited} that {shown(name)} has in a queue above"
                    message = f"{message}; use 1 to {inherited}"
                    yield DocumentFinding((*at, place, "maxapplications"), rule, message)
                    own[kind, name] = inherited
    return own
