"""State of usage: the charge of each pod, and the counters that charges add up to."""

from dataclasses import dataclass, field
from typing import NamedTuple

from core.ids import NodeName, PodUid, QueuePath
from core.ledger.pods.record import Charge
from core.queues.users.limits import Tracked, UsageBook
from core.resource import Tally
from core.workload.nodes.affinity import Toleration
from core.workload.nodes.free_capacity import FreeCapacity
from core.workload.nodes.node import NodeUse

OverMaxPlace = QueuePath | Tracked
"""Place that can be above its max: a queue, or a user or group in a queue."""


class Episode(NamedTuple):
    """Usage above a max, for as long as it lasts.

    ``pod``: pod whose charge exceeded the max; None if the max was lowered. ``reported``: True if this
    instance posted an Event.
    """

    pod: PodUid | None
    reported: bool = False


@dataclass(slots=True)
class Usage:
    """Charges and counters. All but one are derived, so the audit recomputes them.

    Queues have counters too.
    """

    #: Charge of each pod that is charged.
    charges: dict[PodUid, Charge] = field(default_factory=dict)
    #: Usage of each node.
    uses: dict[NodeName, NodeUse] = field(default_factory=dict)
    #: Allocatable amounts of all nodes.
    capacity: Tally = field(default_factory=Tally)
    #: Free amounts of nodes, indexed by the nodes that can take an ask.
    free_capacity: FreeCapacity = field(default_factory=FreeCapacity)
    #: Reserved quota that is on no node yet.
    afloat: Tally = field(default_factory=Tally)
    #: Usage of users and groups.
    book: UsageBook = field(default_factory=UsageBook)
    #: Number of asks that wait with the same tolerations.
    tolerated: dict[tuple[Toleration, ...], int] = field(default_factory=dict)
    #: Pods with a quota reservation.
    reserved: set[PodUid] = field(default_factory=set)
    #: Queues, users and groups above a max (F-24).
    over_max: dict[OverMaxPlace, Episode] = field(default_factory=dict)
    #: Number of times that usage exceeded a max, by kind, since the start. Not derived.
    over_max_begun: dict[str, int] = field(default_factory=dict)
