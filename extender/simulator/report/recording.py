"""The record of a run: values for the reports, the page and the tests.

Times are milliseconds from the start of the scenario. Amounts are millicores for ``vcore`` and base units
otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Amounts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Happening:
    """A line of the timeline."""

    #: Time of it, in milliseconds from the start of the scenario.
    at: int
    #: Kind: submitted, refused, waits, placed, succeeded, failed, deleted, evicted, spared, gone, nominated,
    #: gate, woken, event, config, settings, node, restart or error.
    kind: str
    #: Event in a few words.
    what: str
    #: Full name of the pod; empty when it is about none.
    pod: str = ""
    #: Path of the queue; empty when it is about none.
    queue: str = ""
    #: Name of the node; empty when it is about none.
    node: str = ""
    #: Reason in full, or empty.
    why: str = ""
    #: Code of the refusal; empty if nothing was refused.
    code: str = ""


@dataclass(frozen=True, slots=True)
class QueueSample:
    """State of a queue at the end of an instant at which it changed."""

    #: Time of that instant, in milliseconds from the start of the scenario.
    at: int
    #: Amounts that its pods hold.
    used: Amounts
    #: Amounts that its pending pods ask for.
    pending: Amounts
    #: Guaranteed amounts; None when the queue has none.
    guaranteed: Amounts | None
    #: Most that its pods may hold; None when the queue has no max.
    max: Amounts | None
    #: True if the queue is no longer in the document.
    draining: bool = False


@dataclass(frozen=True, slots=True)
class QueueHistory:
    """State of a queue over time."""

    #: Path of the queue.
    path: str
    #: True if pods may run in it.
    is_leaf: bool
    #: States in which it was, the oldest first.
    samples: tuple[QueueSample, ...]
    #: Time at which it ceased to exist, in milliseconds; None while it exists.
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Stay:
    """The time of one pod on a node."""

    #: Full name of the pod.
    pod: str
    #: Path of its queue; empty for an unmanaged pod.
    queue: str
    #: Amounts that it requests, without ``pods``.
    size: Amounts
    #: Time at which it was bound, in milliseconds.
    start: int
    #: Time at which it left, in milliseconds; None while it is there.
    end: int | None


@dataclass(frozen=True, slots=True)
class NodeHistory:
    """State of a node over time."""

    #: Name of the node.
    name: str
    #: Amounts that it offers to pods.
    allocatable: Amounts
    #: Time at which it came, in milliseconds.
    start: int
    #: Time at which it was removed, in milliseconds; None while it is there.
    end: int | None
    #: Pods that were on it.
    stays: tuple[Stay, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """An expectation of a scenario that was not met."""

    #: Entry as the file spells it: ``placed``, ``running.web``,
    #: ``queues.root.a.allocatedResource.vcore``.
    entry: str
    #: Time of the step, in milliseconds.
    at: int
    #: Line of the entry in the file.
    line: int
    #: Value that the file names.
    expected: str
    #: Value that was found.
    actual: str
    #: Events of the pod or queue concerned, one line each.
    story: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """The record of one run."""

    #: Name of the scenario.
    name: str
    #: Name of its file.
    file: str
    #: Time of the last step, in milliseconds.
    end: int
    #: Events, in order.
    timeline: tuple[Happening, ...]
    #: States of all queues that ever existed.
    queues: tuple[QueueHistory, ...]
    #: States of all nodes that ever existed.
    nodes: tuple[NodeHistory, ...]
    #: Last state of every pod that ever existed, by name, in the order of creation: queue, node, phase,
    #: reason, message, created, bound, gone and placeholder.
    pods: Mapping[str, Mapping[str, Any]]
    #: Expectations that were not met.
    differences: tuple[Difference, ...] = ()
    #: Number of expectations that were compared.
    checks: int = 0
    #: Number of scheduling attempts.
    attempts: int = field(default=0)
