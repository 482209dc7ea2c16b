"""A queue: what configuration says of it, and what its pods hold. Bookkeeping only, no rules."""

from collections.abc import Mapping

from core.ids import ROOT, AppId, QueuePath
from core.queues.properties import QueueProperties, inherited, properties_from
from core.queues.spec import QueueSpec, TemplateSpec
from core.resource import Limit, Resource, Tally

NO_PRIORITY = -(2**31)
"""Nothing is pending (PRI-2); an ask of that very priority cannot be told from none."""


class Queue:
    """One queue of the tree with its usage.

    Three disjoint counters, each the sum over the pods in this queue and below it (QUO-2): ``allocated``
    (on a node), ``reserved`` (admitted by filter, not bound yet) and ``pending`` (the other asks).
    ``fresh`` is the part of ``pending`` that nobody has looked at yet, ``triggered`` the part that victims
    were chosen for (DIV-14), ``preempting`` the part of ``allocated`` that was chosen (PRE-21),
    ``bypassed`` the part of ``reserved`` that was never admitted (F-7). ``max`` is the configured one, for
    the root the sum of its nodes (QUO-1); None is no limit.
    ``applications``: those in it, of which the ``completing`` have no pod; ``running``: those in it and below
    that were given something, while they live (QUO-13).
    ``draining``: no longer in the document, kept until its applications are gone (Q-9); ``dynamic``: made by
    a placement rule, in no document (Q-6). ``entries``: its properties as text with what it inherits, and
    ``properties`` what they mean. ``asked``: number of asks pending in this very queue by priority,
    ``shown``: of children by what they export;
    ``raw_priority``: the best of what is pending in and below it, ``priority``: what it shows its parent
    (PRI-4); see `core.queues.priority`.
    """

    __slots__ = (
        "allocated",
        "applications",
        "asked",
        "bypassed",
        "chain",
        "children",
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

    def __init__(self, spec: QueueSpec, parent: "Queue | None", *, dynamic: bool = False) -> None:
        self.path: QueuePath = spec.path
        self.is_root = spec.path == ROOT
        self.spec = spec
        self.max: Limit | None = spec.max
        self.parent = parent
        self.chain: tuple[Queue, ...] = (self, *(parent.chain if parent else ()))
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
        self.dynamic = dynamic
        self.asked: dict[int, int] = {}
        self.shown: dict[int, int] = {}
        self.raw_priority = self.priority = NO_PRIORITY
        self.entries: Mapping[str, str] = {}
        self.properties = QueueProperties()
        self.inherit()

    @property
    def is_leaf(self) -> bool:
        """Whether applications may live here (Q-1); children that still drain keep it a parent."""
        return self.spec.is_leaf and not self.children

    @property
    def max_applications(self) -> int:
        """0 is unlimited."""
        return self.spec.max_applications

    @property
    def template(self) -> TemplateSpec | None:
        """The child template in force here: its own or the nearest ancestor's (TPL-3)."""
        return next((each.spec.template for each in self.chain if each.spec.template is not None), None)

    @property
    def guaranteed(self) -> Resource | None:
        return self.spec.guaranteed

    def configure(self, spec: QueueSpec) -> None:
        """Take over what a new document says; usage stays. The root's max comes from its nodes."""
        self.spec = spec
        self.draining = self.dynamic = False
        if not self.is_root:
            self.max = spec.max

    def inherit(self) -> None:
        """Its properties anew; the parent's must stand. A dynamic queue has only its own (Q-5, Q-6)."""
        from_parent = self.parent.entries if self.parent is not None and not self.dynamic else {}
        self.entries = inherited(from_parent, self.spec.properties)
        self.properties = properties_from(self.entries, is_leaf=self.spec.is_leaf)

    def __repr__(self) -> str:
        return f"Queue({self.path})"
