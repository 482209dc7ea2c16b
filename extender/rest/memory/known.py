"""Last known states of pods, applications and allocations, which the memory compares with new ones."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from core.ids import AppId, NodeName, QueuePath
from core.ledger.pods.record import Charge
from core.resource import Resource
from core.workload.states import AppState
from extender.rest.projection.counting import Counted


@dataclass(init=False, slots=True)
class KnownPod:
    """Last known state of a pod.

    ``charge``: its charge. The ledger replaces a charge that changes.
    ``replaced``: True for a placeholder that a member is replacing.
    ``released``: True for a placeholder that is being removed without a replacement.
    """

    charge: Final[Charge]
    counted: Final[Counted]
    app: Final[AppId | None]
    node: Final[NodeName]
    size: Final[Resource]
    preempted: Final[bool]
    replaced: Final[bool]
    released: Final[bool]

    def __init__(
        self,
        charge: Charge,
        counted: Counted,
        app: AppId | None,
        node: NodeName,
        size: Resource,
        *,
        preempted: bool,
        replaced: bool,
        released: bool,
    ) -> None:
        self.charge = charge
        self.counted = counted
        self.app = app
        self.node = node
        self.size = size
        self.preempted = preempted
        self.replaced = replaced
        self.released = released


class KnownApp(NamedTuple):
    """Last known state of an application."""

    #: Most recent states, each with the time at which it was entered.
    states: tuple[tuple[float, AppState], ...]
    queue: QueuePath | None
    user: str = ""
    #: User group whose limits count it; empty for none.
    group: str = ""


@dataclass(init=False, slots=True)
class Allocated:
    """A pod while it is an allocation.

    ``since``: time of its binding, in seconds since 1970; 0 until the binding is confirmed.
    """

    app: Final[AppId]
    size: Final[Resource]
    since: Final[float]
    instance: Final[str]
    placeholder: Final[bool]
    preempted: Final[bool]

    def __init__(
        self, app: AppId, size: Resource, since: float, instance: str, *, placeholder: bool, preempted: bool
    ) -> None:
        self.app = app
        self.size = size
        self.since = since
        self.instance = instance
        self.placeholder = placeholder
        self.preempted = preempted
