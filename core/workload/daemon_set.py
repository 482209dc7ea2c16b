"""DaemonSets, as far as they tell which pods belong to them (F-10)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from core.workload.nodes.affinity import Requirement, meets


class DaemonSetKey(NamedTuple):
    """Name of a DaemonSet."""

    namespace: str
    name: str


class Controller(NamedTuple):
    """Owner reference of a pod with ``controller: true``, of the kind DaemonSet of ``apps/v1``."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class DaemonSetFacts:
    """A DaemonSet as last reported. ``selector``: all of it must hold. An empty one selects no pod."""

    key: DaemonSetKey
    uid: str
    selector: tuple[Requirement, ...]

    def made(self, controller: Controller, labels: Mapping[str, str]) -> bool:
        """True if a pod of its namespace that names this controller belongs to the DaemonSet."""
        named = (controller.name, controller.uid) == (self.key.name, self.uid)
        return named and bool(self.uid and self.selector) and meets(self.selector, labels)
