"""Surprises in properties: unknown, invalid, not inherited by dynamic queues, or huge."""

import difflib
from collections.abc import Callable, Generator, Iterator, Mapping

from core.durations import duration_text
from core.ids import QueuePath
from core.queues import properties as known
from core.queues.properties import inherited, properties_from, readable
from extender.queueconfig.hierarchy import PartitionNode, QueueNode
from extender.queueconfig.problems import DocumentFinding, Location, shown
from extender.queueconfig.schema import ChildTemplate, PreemptionSection
from extender.queueconfig.surprises.creation import creation_parents

_DELAY = "a duration above zero, such as 30s"
_ALLOWED = {
    known.SORT_POLICY: ("fifo or fair, in lower case", "fifo"),
    known.SORT_PRIORITY: ("enabled or disabled", "enabled"),
    known.PRIORITY_POLICY: ("default or fence", "default"),
    known.PRIORITY_OFFSET: ("a whole number of 32 bits, such as -5", "0"),
    known.PREEMPTION_POLICY: ("default, fence or disabled", "default"),
    known.PREEMPTION_DELAY: (_DELAY, "30s"),
    known.QUOTA_PREEMPTION_DELAY: (_DELAY, "never"),
    known.UNSCHEDULED_BACKOFF: ("a whole number, 0 or more", "0"),
    known.UNSCHEDULED_DELAY: (_DELAY, "30s"),
    known.EXECUTION_TIMEOUT: ("a duration above zero, such as 24h", "no time-out"),
    known.EXECUTION_BAR: ("a duration of zero or more, such as 10m", "0s"),
}
"""Valid values of each property, and the default for an invalid value (Q-4)."""

_DEFAULTS = properties_from({}, is_leaf=True)
_PREEMPTION_IS_OFF = "has no effect: preemption.enabled of the partition is false"
_QUOTA_IS_OFF = "has no effect: set preemption.quotapreemptionenabled of the partition to true"
_WITHOUT_END = "pods without an application id share one per namespace, which never times out; name one"
_ON_ROOT = "has no effect on the root, which is compared with no other queue; remove it"


def properties(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find keys without effect and invalid values, in queues and templates (Q-4, PRI-8)."""
    idle = _idle_keys(partition.section.preemption)
    for queue in partition.root.with_descendants():
        at = (*queue.at, "properties")
        for key, value in queue.section.properties.items():
            if queue.is_root and key in (known.PRIORITY_POLICY, known.PRIORITY_OFFSET):
                yield DocumentFinding((*at, key), "PRI-8", _ON_ROOT)
            else:
                yield from _entry(key, value, (*at, key), idle)
        for key, value in _template_properties(queue).items():
            where = (*queue.at, "childtemplate", "properties", key)
            if key and value:
                yield from _entry(key, value, where, idle)
            else:
                yield DocumentFinding(
                    where, "TPL-1", "an empty key or value is dropped from a template; remove it"
                )


def _idle_keys(preemption: PreemptionSection) -> Mapping[str, str]:
    """Properties without effect due to a switch of the partition, with the reason."""
    idle = {}
    if preemption.enabled is False:
        idle = dict.fromkeys((known.PREEMPTION_POLICY, known.PREEMPTION_DELAY), _PREEMPTION_IS_OFF)
    if not preemption.quotapreemptionenabled:
        idle[known.QUOTA_PREEMPTION_DELAY] = _QUOTA_IS_OFF
    return idle


def _entry(key: str, value: str, at: Location, idle: Mapping[str, str]) -> Iterator[DocumentFinding]:
    understood = readable(key, value)
    if understood is None:
        yield DocumentFinding(at, "Q-4", f"no such property, so it has no effect; {_hint(key)}")
    elif not understood and not (key == known.PRIORITY_POLICY and not value):
        allowed, otherwise = _ALLOWED[key]
        yield DocumentFinding(at, "Q-4", f"{shown(value)} is not {allowed}: {otherwise} counts")
    elif key in idle:
        yield DocumentFinding(at, "QUO-12" if key == known.QUOTA_PREEMPTION_DELAY else "Q-4", idle[key])


def _hint(key: str) -> str:
    close = difflib.get_close_matches(key[:80].lower(), _ALLOWED, n=1)
    return f"did you mean {close[0]}" if close else f"known here: {', '.join(_ALLOWED)}"


def _template_properties(queue: QueueNode) -> Mapping[str, str]:
    template = queue.section.childtemplate
    return template.properties if template is not None else {}


def execution_timeouts(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find time-outs that a queue above makes shorter, and say once what never times out (ACT-40, ACT-46)."""
    yield from _longer_below(partition.root, None)
    at = next(_timed(partition.root), None)
    if at is not None:
        yield DocumentFinding(at, "ACT-46", _WITHOUT_END)


def _longer_below(queue: QueueNode, above: float | None) -> Iterator[DocumentFinding]:
    own = properties_from(queue.section.properties, is_leaf=True).execution_timeout
    if own is not None and above is not None and own > above:
        message = f"has no effect: a queue above allows only {duration_text(above)}"
        yield DocumentFinding((*queue.at, "properties", known.EXECUTION_TIMEOUT), "ACT-40", message)
    least = min((each for each in (own, above) if each is not None), default=None)
    for child in queue.children:
        yield from _longer_below(child, least)


def _timed(queue: QueueNode) -> Iterator[Location]:
    for each in queue.with_descendants():
        if properties_from(each.section.properties, is_leaf=True).execution_timeout is not None:
            yield (*each.at, "properties", known.EXECUTION_TIMEOUT)


# -- dynamic queues ------------------------------------------------------------------------------------------

_READ: dict[str, Callable[[known.QueueProperties], object]] = {
    known.SORT_POLICY: lambda read: read.sort_policy,
    known.SORT_PRIORITY: lambda read: read.sort_by_priority,
    known.PREEMPTION_POLICY: lambda read: read.preemption,
    known.PREEMPTION_DELAY: lambda read: read.preemption_delay,
    known.QUOTA_PREEMPTION_DELAY: lambda read: read.quota_preemption_delay,
    known.UNSCHEDULED_BACKOFF: lambda read: read.unscheduled_backoff,
    known.UNSCHEDULED_DELAY: lambda read: read.unscheduled_delay,
}
"""The properties that a configured leaf inherits."""


def not_taken_over(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find properties that configured leaves inherit and dynamic leaves do not (Q-6)."""
    parents = creation_parents(partition)
    if parents:
        reported: set[Location] = set()
        yield from _lost_below(partition.root, {}, frozenset(), parents, reported)


def _lost_below(
    queue: QueueNode,
    above: Mapping[str, Location],
    template: frozenset[str],
    parents: frozenset[QueuePath],
    reported: set[Location],
) -> Iterator[DocumentFinding]:
    """Find such properties in a queue and below. ``above``: properties in force above, with locations."""
    in_force = _in_force(queue, above)
    template = _keys_of_template(queue.section.childtemplate, template)
    lost = [at for key, at in in_force.items() if key not in template] if queue.path in parents else []
    for at in lost:
        if at not in reported:
            reported.add(at)
            message = "dynamic queues made below do not inherit this; set it in the childtemplate too"
            yield DocumentFinding(at, "Q-6", message)
    for child in queue.children:
        if not child.is_leaf:
            yield from _lost_below(child, in_force, template, parents, reported)


def _in_force(queue: QueueNode, above: Mapping[str, Location]) -> Mapping[str, Location]:
    """Properties in force in a queue that matter to leaves, with locations."""
    own = queue.section.properties
    if not own:
        return above
    below = properties_from(inherited(own, {}), is_leaf=True)
    from_above = {key: at for key, at in above.items() if key not in own}
    at = (*queue.at, "properties")
    return from_above | {key: (*at, key) for key in own if key in _READ and _matters(below, key)}


def _matters(below: known.QueueProperties, key: str) -> bool:
    return _READ[key](below) not in (_READ[key](_DEFAULTS), known.SortPolicy.STATE_AWARE)


def _keys_of_template(template: ChildTemplate | None, above: frozenset[str]) -> frozenset[str]:
    """Properties of the template in force. An empty one counts as absent (TPL-1, TPL-3)."""
    if template is None or template.is_empty:
        return above
    return frozenset(key for key, value in template.properties.items() if key and value)


# -- offsets -------------------------------------------------------------------------------------------------

SYSTEM_CLASSES = 2_000_000_000
"""Lowest priority of Kubernetes' own classes. Those of users end at half of that."""

_HIGHEST_OF_USERS = 1_000_000_000
_LARGE = 999_999_999


def offsets(partition: PartitionNode) -> Iterator[DocumentFinding]:
    """Find offsets that can lift the pods of users to the system's priority classes (PRI-6, PRI-9).

    Offsets add up towards the root, in 32 bits. A fence shows its own offset instead (PRI-7). The root's
    offset is not used (PRI-8).
    """
    reached: dict[QueuePath, int] = {}
    for queue in reversed(list(partition.root.with_descendants())):
        at = (*queue.at, "childtemplate", "properties")
        inside = yield from _lifted(_template_properties(queue), _HIGHEST_OF_USERS, at)
        inside = max([inside, *(reached[child.path] for child in queue.children)])
        if not queue.is_root:
            at = (*queue.at, "properties")
            reached[queue.path] = yield from _lifted(queue.section.properties, inside, at)


def _lifted(entries: Mapping[str, str], inside: int, at: Location) -> Generator[DocumentFinding, None, int]:
    """Highest priority that a queue with these properties shows. ``inside``: the highest one in it."""
    if not entries:
        return inside
    read = properties_from(entries, is_leaf=True)
    offset = read.priority_offset
    shows = offset if read.priority_fence else max(-(2**31), min(2**31 - 1, inside + offset))
    if offset > _LARGE or (offset > 0 and shows >= SYSTEM_CLASSES):
        message = (
            f"pods here can count as {shows}, and the system's priority classes begin at {SYSTEM_CLASSES}; "
            f"keep the offsets on a path together below {_LARGE + 1}"
        )
        yield DocumentFinding((*at, known.PRIORITY_OFFSET), "PRI-9", message)
    return shows
