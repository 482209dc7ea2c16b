"""Moments: references to all that large answers list, taken between two events."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.ids import AppId, NodeName, QueuePath
from core.queues.users.limits import Limits, Tracked
from core.resource import Resource
from core.workload.application import Application
from core.workload.nodes.node import NodeFacts
from extender.rest.facts import Facts
from extender.rest.model.cluster import Partition
from extender.rest.moment.rows import AppRow, PodRow
from extender.rest.moment.stored import StoredRows
from extender.rest.projection.partitions import partition_head
from extender.rest.projection.queues import QueueRow, Reclaims, reclaims_of


@dataclass(frozen=True, slots=True)
class Moment:
    """Values of one moment. They do not change afterwards."""

    #: Facts about the process and about ended applications. Their other parts are live and must not be read.
    facts: Facts
    nodes: Mapping[NodeName, NodeFacts]
    on_nodes: Mapping[NodeName, tuple[PodRow, ...]]
    of_apps: Mapping[AppId, tuple[PodRow, ...]]
    #: Live applications.
    apps: Mapping[AppId, AppRow]
    #: Ended applications.
    ended: tuple[Application, ...]
    #: Pods without a node for which a node is nominated or reserved.
    awaiting: tuple[PodRow, ...]
    #: Pods with reserved quota and no node.
    afloat: tuple[PodRow, ...]
    queues: Mapping[QueuePath, QueueRow]
    #: Amounts that users and groups hold, by queue.
    held: Mapping[Tracked, Resource]
    limits: Limits
    reclaims: Reclaims
    #: The partition without its amounts and numbers.
    partition: Partition


class Taking:
    """Preparation of a moment. Iterate over it to the end, then read ``moment``."""

    def __init__(self, facts: Facts, stored: StoredRows) -> None:
        self._facts = facts
        self._stored = stored
        self.moment: Moment

    def __iter__(self) -> Iterator[bytes]:
        """Perform the work in steps, each of which yields an empty piece. The last step takes the moment."""
        for _ in self._stored.freshen():
            yield b""
        stored, view = self._stored, self._facts.view
        stored.finish()
        queues, held = stored.counters.taken()
        self.moment = Moment(
            self._facts,
            dict(view.nodes),
            stored.by_node.taken(),
            stored.by_app.taken(),
            dict(stored.apps),
            tuple(view.identities.all_ended()),
            tuple(stored.awaiting.values()),
            tuple(stored.afloat.values()),
            queues,
            held,
            view.limits,
            reclaims_of(view),
            partition_head(self._facts),
        )
