"""Change that an administrator could make, as a value."""

from dataclasses import dataclass

from core.ids import PodUid
from core.queues.limit_state import LimitKey
from core.workload.nodes.node import NodeFacts


@dataclass(frozen=True, slots=True)
class Raise:
    """A limit that is raised. ``by``: in base units, or in applications."""

    key: LimitKey
    by: int


@dataclass(frozen=True, slots=True)
class Change:
    """Raised limits, ended pods, and a new node. Each key has at most one raise."""

    raises: tuple[Raise, ...] = ()
    ended: tuple[PodUid, ...] = ()
    node: NodeFacts | None = None

    @property
    def is_wide(self) -> bool:
        """True if asks of any queue may gain by it."""
        return bool(self.ended) or self.node is not None


NO_CHANGE = Change()
