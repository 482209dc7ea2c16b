"""Access lists and limits of a partition's queues: CFG-8, CFG-12 to CFG-21 and CFG-41 to CFG-46.

Names are folded when the document is parsed, amounts are in the units of `resource_rules`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from core.errors import QuantityError
from core.quantity import queue_amount
from core.queues.filters import GROUP_NAME, USER_NAME
from core.resource import UNLIMITED, Limit
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import Finding, Location, shown
from extender.queueconfig.schema import LimitEntry

T = TypeVar("T")

ANY = "*"
Names = Callable[[LimitEntry], Sequence[str]]
_KINDS: tuple[tuple[str, Names], ...] = (
    ("users", lambda entry: entry.users),
    ("groups", lambda entry: entry.groups),
)


def limit_structure(partition: PartitionNode) -> Iterator[Finding]:
    """Limits of the partition and of the root may not differ (CFG-8)."""
    own, root = partition.section.limits, partition.root.section.limits
    if own and root and own != root:
        message = "limits of the partition and of the root differ; keep those of the root"
        yield Finding((*partition.at, "limits"), "CFG-8", message)


def access_and_limits(partition: PartitionNode) -> Iterator[Finding]:
    """Each queue's access lists and limits by themselves (CFG-12 to CFG-21)."""
    for queue in partition.root.walk():
        for key, text in (("adminacl", queue.section.adminacl), ("submitacl", queue.section.submitacl)):
            if text.strip() not in ("", ANY) and len(text.split()) > 2:
                message = f"{shown(text)} has more than users and groups; write users, a blank, groups"
                yield Finding((*queue.at, key), "CFG-12", message)
        yield from _limits(queue, *_limits_of(partition, queue))


def _limits_of(partition: PartitionNode, queue: QueueNode) -> tuple[Sequence[LimitEntry], Location]:
    """A queue's limits; the partition's are the root's when it has none (CFG-8)."""
    if queue.is_root and not queue.section.limits:
        return partition.section.limits, (*partition.at, "limits")
    return queue.section.limits, (*queue.at, "limits")


def _limits(queue: QueueNode, entries: Sequence[LimitEntry], at: Location) -> Iterator[Finding]:
    seen: dict[str, set[str]] = {"users": set(), "groups": set()}
    for place, entry in enumerate(entries):
        where = (*at, place)
        if not (entry.users or entry.groups):
            yield Finding(where, "CFG-13", "names neither users nor groups; name at least one")
        for kind, names in _KINDS:
            yield from _names(kind, names(entry), seen[kind], (*where, kind))
        if seen["groups"] == {ANY}:
            message = "a wildcard group needs a named group before it on the same queue"
            yield Finding((*where, "groups"), "CFG-17", message)
        yield from _amounts(queue, entry, where)


def _names(kind: str, names: Sequence[str], seen: set[str], at: Location) -> Iterator[Finding]:
    pattern = USER_NAME if kind == "users" else GROUP_NAME
    for place, name in enumerate(names):
        where = (*at, place)
        if name != ANY and not pattern.fullmatch(name):
            yield Finding(where, "CFG-14", f"{shown(name)} is not the name of a {kind[:-1]}, nor *")
        elif name in seen:
            yield Finding(where, "CFG-15", f"{shown(name)} has a limit on this queue already; keep one")
        elif ANY in seen:
            yield Finding(where, "CFG-16", f"{shown(name)} comes after *; put the wildcard last")
        seen.add(name)


def _amounts(queue: QueueNode, entry: LimitEntry, at: Location) -> Iterator[Finding]:
    amounts, broken = _read(entry.maxresources)
    for name, message in broken.items():
        yield Finding((*at, "maxresources", name), "CFG-18", message)
    if entry.maxresources and not broken and not any(amounts.values()):
        yield Finding((*at, "maxresources"), "CFG-18", "all values are zero; one must be above")
    if not entry.maxresources and not entry.maxapplications:
        message = "limits nothing; give maxresources or maxapplications"
        yield Finding(at, "CFG-19", message)
    cap = queue.section.maxapplications
    if cap and entry.maxapplications > cap:
        message = f"{entry.maxapplications} is above the queue's own {cap}"
        yield Finding((*at, "maxapplications"), "CFG-20", message)
    if not queue.is_root:
        most, _ = _read(queue.section.resources.max or {})
        yield from _above(amounts, Limit(most), (*at, "maxresources"), "CFG-21", "the queue's max")


def _read(texts: Mapping[str, str]) -> tuple[dict[str, int], dict[str, str]]:
    """Amounts, and what is wrong with the others."""
    amounts, broken = {}, {}
    for name, text in texts.items():
        try:
            amounts[name] = queue_amount(name, text)
        except QuantityError as error:
            broken[name] = f"{error}; write it like 10, 500m (vcore only), 5G or 512Mi"
    return amounts, broken


def _above(amounts: Mapping[str, int], cap: Limit, at: Location, rule: str, whose: str) -> Iterator[Finding]:
    for name, amount in amounts.items():
        most = cap.get(name)
        if most is not None and amount > most:
            yield Finding((*at, name), rule, f"{name}={amount} is above {whose}, {name}={most}")


# -- along the hierarchy -----------------------------------------------------------------------------------

Carried = Mapping[tuple[str, str], Limit]
Counted = Mapping[tuple[str, str], int]


def limit_resources(partition: PartitionNode) -> Iterator[Finding]:
    """A name's resources fit what it, or the wildcard, has above (CFG-41 to CFG-43)."""
    yield from _resources_below(partition, partition.root, {})


def _resources_below(partition: PartitionNode, queue: QueueNode, above: Carried) -> Iterator[Finding]:
    carried = dict(above)
    entries, at = _limits_of(partition, queue)
    for place, entry in enumerate(entries):
        own, _ = _read(entry.maxresources)
        for kind, names in _KINDS:
            for name in names(entry):
                inherited, rule = _inherited(above, kind, name, ("CFG-41", "CFG-42", "CFG-43"))
                where = (*at, place, "maxresources")
                yield from _above(own, inherited or UNLIMITED, where, rule, f"what {shown(name)} has above")
                same = (kind, name) in above
                tightest = Limit(own).tightest(inherited) if same and inherited is not None else Limit(own)
                carried[kind, name] = tightest
    for child in queue.children:
        yield from _resources_below(partition, child, carried)


def _inherited(
    above: Mapping[tuple[str, str], T], kind: str, name: str, rules: Sequence[str]
) -> tuple[T | None, str]:
    """What holds for a name from above and the rule that says so: its own entry, else the wildcard's.

    ``rules``: for an entry of that name, for the wildcard above a name, for a wildcard below a wildcard.
    """
    if name == ANY:
        return above.get((kind, ANY)), rules[2]
    if (kind, name) in above:
        return above[kind, name], rules[0]
    return above.get((kind, ANY)), rules[1]


def limit_applications(partition: PartitionNode) -> Iterator[Finding]:
    """The same for the numbers of applications, where none is more than any (CFG-44 to CFG-46)."""
    yield from _applications_below(partition, partition.root, {})


def _applications_below(partition: PartitionNode, queue: QueueNode, above: Counted) -> Iterator[Finding]:
    carried = dict(above)
    entries, at = _limits_of(partition, queue)
    for place, entry in enumerate(entries):
        for kind, names in _KINDS:
            for name in names(entry):
                inherited, rule = _inherited(above, kind, name, ("CFG-44", "CFG-45", "CFG-44"))
                wanted = entry.maxapplications
                if inherited and (wanted > inherited or wanted == 0):
                    message = (
                        f"{wanted or 'no number'} for {shown(name)} is above the {inherited} it has above"
                    )
                    yield Finding((*at, place, "maxapplications"), rule, message)
                carried[kind, name] = wanted
    for child in queue.children:
        yield from _applications_below(partition, child, carried)
