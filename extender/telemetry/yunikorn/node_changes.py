"""Counts of deleted nodes (METRIC-5)."""

from typing import Any

from core.ids import NodeName
from core.ledger import events as on
from extender.telemetry.yunikorn.totals import Totals

NodeEvent = on.ObjectObserved[Any, Any] | on.ObjectDeleted[Any, Any] | on.ObjectsListed[Any, Any]


class NodeChanges:
    """Counter of deleted nodes."""

    def __init__(self, totals: Totals) -> None:
        self._totals = totals
        self._known: set[NodeName] = set()

    def learned(self, event: NodeEvent) -> None:
        """Count the nodes that an event deletes."""
        if event.kind is not on.NODES:
            return
        match event:
            case on.ObjectObserved(_, node):
                self._known.add(node.name)
            case on.ObjectDeleted(_, name):
                self._forget({name} & self._known)
            case on.ObjectsListed(_, names):
                self._forget(self._known - names)

    def _forget(self, deleted: set[NodeName]) -> None:
        self._known -= deleted
        self._totals.nodes["decommissioned"] += len(deleted)
