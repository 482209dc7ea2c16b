"""What a run leaves behind: everything the reports, the page and the tests read. Values only.

Times are milliseconds from the start of the scenario. Amounts: millicores for ``vcore``, base units else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Amounts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of the timeline.

    ``kind``: submitted, refused, waits, placed, succeeded, failed, deleted, evicted, spared, gone, nominated,
    gate, woken, event, config, settings, node, restart, error; ``pod``, ``queue``, ``node``: empty when it is
    about none; ``what``: a few words; ``why``: the reason in full, or empty; ``code``: the refusal code.
    """

    at: int
    kind: str
    what: str
    pod: str = ""
    queue: str = ""
    node: str = ""
    why: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class QueueSample:
    """A queue at the end of one instant in which something about it changed. ``guaranteed``, ``max``: None
    when the queue has none; ``draining``: no longer in the document."""

    at: int
    used: Amounts
    pending: Amounts
    guaranteed: Amounts | None
    max: Amounts | None
    draining: bool = False


@dataclass(frozen=True, slots=True)
class QueueLane:
    """A queue over time, oldest sample first; ``removed``: when it ceased to exist, None while it does."""

    path: str
    is_leaf: bool
    samples: tuple[QueueSample, ...]
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Stay:
    """One pod's time on a node; ``end`` None while it is there; ``queue`` empty for an unmanaged pod."""

    pod: str
    queue: str
    size: Amounts
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class NodeLane:
    """A node over time. ``end``: when it was removed, None while it is there."""

    name: str
    allocatable: Amounts
    start: int
    end: int | None
    stays: tuple[Stay, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that was not as a scenario expected.

    ``entry``: as the file spells it (``placed``, ``running.web``, ``queues.root.a.allocatedResource.vcore``);
    ``at``: of the step; ``line``: of the file; ``story``: what happened to the pod or queue concerned.
    """

    entry: str
    at: int
    line: int
    expected: str
    actual: str
    story: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """One run. ``end``: time of the last step; ``pods``: the last state of every pod that ever was, by name,
    in order of creation: queue, node, phase, reason, message, created, bound, gone, placeholder; ``checks``:
    number of expectations compared."""

    name: str
    file: str
    end: int
    timeline: tuple[Happening, ...]
    queues: tuple[QueueLane, ...]
    nodes: tuple[NodeLane, ...]
    pods: Mapping[str, Mapping[str, Any]]
    differences: tuple[Difference, ...] = ()
    checks: int = 0
    attempts: int = field(default=0)
