"""A queue: its configuration, and the usage of its pods. Bookkeeping only, no rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.ids import ROOT, AppId, QueuePath
from core.queues.properties import QueueProperties, inherited, properties_from
from core.queues.spec import QueueSpec, TemplateSpec
from core.resource import Limit, Resource, Tally

NO_PRIORITY: Final = -(2**31)
"""Priority of nothing pending (PRI-2). An ask with that very priority looks the same."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Order of an administrator that closes a queue. Times are in seconds since the epoch."""

    #: Name of the user who gave it.
    by: str
    #: Time at which it was given.
    since: float
    #: Reason in the user's words; may be empty.
    reason: str = ""
    #: Time at which the queue opens by itself; None for never.
    until: float | None = None


class Queue:
    """Queue of the tree with its usage.

    Three disjoint counters are sums over the pods in this queue and below it (QUO-2):
    ``allocated``: on a node.
    ``reserved``: admitted by filter, not bound yet.
    ``pending``: the other asks.

    Four counters are parts of them:
    ``fresh``: part of ``pending`` that no cycle has checked.
    ``triggered``: part of ``pending`` that has victims (DIV-14).
    ``preempting``: part of ``allocated`` that was chosen as victims (PRE-21).
    ``bypassed``: part of ``reserved`` that was never admitted (F-7).

    ``max``: configured max, or the sum of the nodes for the root (QUO-1). None for no limit.
    ``applications``: applications in it.
    ``completing``: applications in it without pods.
    ``running``: applications in it and below that started (QUO-13).
    ``draining``: True once the document lacks it, until its applications end (Q-9).
    ``closed``: order that closes it; None while it is open (ACT-10).
    ``dynamic``: True if a placement rule created it (Q-6).
    ``entries``: properties as text, including inherited ones. ``properties``: their meaning.
    ``asked``: number of asks pending in this queue itself, by priority.
    ``shown``: number of children by exported priority.
    ``changes``: number of changes of its counters and limits, by which a copy is known to be up to date.
    ``raw_priority``: best pending priority in and below it.
    ``priority``: exported priority (PRI-4); see `core.queues.priority`.
    """

    __slots__ = (
        "allocated",
        "applications",
        "asked",
        "bypassed",
        "chain",
        "changes",
        "children",
        "closed",
        "completing",
        "draining",
        "dynamic",
        "entries",
        "fresh",
        "is_root",
        "max",
        "parent",
        "path",
        "paths",
        "pending",
        "preempting",
        "priority",
        "properties",
        "raw_priority",
        "reserved",
        "running",
        "shown",
        "spec",
        "triggered",
    )

    def __init__(
        self,
        spec: QueueSpec,
        parent: "Queue | None",
        *,
        dynamic: bool = False,
        like: "Queue | None" = None,
    ) -> None:
        """Make an empty queue. ``like``: queue whose counters and properties it shares, see `beside`."""
        self.path: QueuePath = spec.path
        self.is_root = spec.path == ROOT
        self.spec = spec
        self.parent = parent
        self.chain: tuple[Queue, ...] = (self, *(parent.chain if parent else ()))
        if like is not None:
            self._share(like)
            return
        self.max: Limit | None = spec.max
        self.paths: tuple[QueuePath, ...] = tuple(each.path for each in self.chain)
        self.children: dict[QueuePath, Queue] = {}
        self.allocated = Tally()
        self.reserved = Tally()
        self.pending = Tally()
        self.fresh = Tally()
        self.preempting = Tally()
        self.triggered = Tally()
        self.bypassed = Tally()
        self.applications: set[AppId] = set()
        self.completing: set[AppId] = set()
        self.running: set[AppId] = set()
        self.draining = False
        self.closed: Closure | None = None
        self.dynamic = dynamic
        self.changes = 0
        self.asked: dict[int, int] = {}
        self.shown: dict[int, int] = {}
        self.raw_priority = self.priority = NO_PRIORITY
        self.entries: Mapping[str, str] = {}
        self.properties = QueueProperties()
        self.inherit()

    def _share(self, other: "Queue") -> None:
        """Share all that a trial leaves as it is. Written out, since a trial copies a thousand queues."""
        self.max = other.max
        self.paths = other.paths
        self.children = other.children
        self.allocated = other.allocated
        self.reserved = other.reserved
        self.pending = other.pending
        self.fresh = other.fresh
        self.preempting = other.preempting
        self.triggered = other.triggered
        self.bypassed = other.bypassed
        self.applications = other.applications
        self.completing = other.completing
        self.running = other.running
        self.draining = other.draining
        self.closed = other.closed
        self.dynamic = other.dynamic
        self.changes = other.changes
        self.asked = other.asked
        self.shown = other.shown
        self.raw_priority = other.raw_priority
        self.priority = other.priority
        self.entries = other.entries
        self.properties = other.properties

    @property
    def is_leaf(self) -> bool:
        """True if applications may live here (Q-1). Children that still drain make it a parent."""
        return self.spec.is_leaf and not self.children

    @property
    def max_applications(self) -> int:
        """Limit on the number of applications; 0 for unlimited."""
        return self.spec.max_applications

    @property
    def template(self) -> TemplateSpec | None:
        """Child template in force: its own, or the nearest ancestor's (TPL-3)."""
        return next((each.spec.template for each in self.chain if each.spec.template is not None), None)

    @property
    def guaranteed(self) -> Resource | None:
        """Guaranteed amounts, or None."""
        return self.spec.guaranteed

    def configure(self, spec: QueueSpec) -> None:
        """Apply a new specification. Usage stays. The root's max comes from its nodes."""
        self.spec = spec
        self.changes += 1
        self.draining = self.dynamic = False
        if not self.is_root:
            self.max = spec.max

    def inherit(self) -> None:
        """Recompute its properties. The parent's must be up to date.

        A dynamic queue has only its own (Q-5, Q-6).
        """
        from_parent = self.parent.entries if self.parent is not None and not self.dynamic else {}
        self.entries = inherited(from_parent, self.spec.properties)
        self.properties = properties_from(self.entries, is_leaf=self.spec.is_leaf)

    def beside(self, above: "Queue | None", *, less: Tally | None, completed: frozenset[AppId]) -> "Queue":
        """Copy below a copy of its parent, for a trial. Counters are shared as far as they stay the same.

        ``less``: allocated amounts that are left out. ``completed``: applications that do not run.
        """
        twin = Queue(self.spec, above, like=self)
        if less is not None:
            twin.allocated = self.allocated.plus(less.as_resource().times(-1))
            twin.running = self.running - completed
        return twin

    def __repr__(self) -> str:
        return f"Queue({self.path})"
