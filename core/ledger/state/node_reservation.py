"""State of node reservations: nodes that are held for one pod (CYC-6)."""

from dataclasses import dataclass, field

from core.ids import NodeName, PodUid


@dataclass(slots=True)
class NodeReservations:
    """Reserved nodes, and asks that may get one."""

    #: Ask that each reserved node is held for. Derived.
    of: dict[NodeName, PodUid] = field(default_factory=dict)
    #: Asks without a reserved node, with the time when they are old enough for one, in seconds.
    young: dict[PodUid, float] = field(default_factory=dict)
    #: Asks that are old enough and wait for a cycle.
    aged: set[PodUid] = field(default_factory=set)
