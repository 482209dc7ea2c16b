"""DaemonSets as far as they say which pods are theirs (F-10)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from core.workload.nodes.affinity import Requirement, meets


class DaemonSetKey(NamedTuple):
    """Names a DaemonSet."""

    namespace: str
    name: str


class Controller(NamedTuple):
    """An owner reference of a pod with ``controller: true``, of the kind DaemonSet of ``apps/v1``."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class DaemonSetFacts:
    """A DaemonSet as last told. ``selector``: all of it must hold; an empty one selects no pod."""

    key: DaemonSetKey
    uid: str
    selector: tuple[Requirement, ...]

    def made(self, controller: Controller, labels: Mapping[str, str]) -> bool:
        """Whether a pod of its namespace that names this controller is one of its own."""
        named = (controller.name, controller.uid) == (self.key.name, self.uid)
        return named and bool(self.uid and self.selector) and meets(self.selector, labels)
