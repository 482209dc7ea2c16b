"""Last known states of pods, applications and allocations, which the memory compares with new ones."""

from typing import NamedTuple

import msgspec

from core.ids import AppId, NodeName, QueuePath
from core.ledger.pods.record import Charge
from core.resource import Resource
from core.workload.states import AppState
from extender.rest.projection.counting import Counted


class KnownPod(msgspec.Struct, frozen=True, gc=False):
    """Last known state of a pod. The garbage collector ignores it, since it cannot contain cycles."""

    #: Charge of the pod. The ledger replaces a charge that changes.
    charge: Charge
    counted: Counted
    app: AppId | None
    node: NodeName
    size: Resource
    preempted: bool = False
    #: True for a placeholder that a member is replacing.
    replaced: bool = False
    #: True for a placeholder that is being removed without a replacement.
    released: bool = False


class KnownApp(NamedTuple):
    """Last known state of an application."""

    #: Most recent states, each with the time at which it was entered.
    states: tuple[tuple[float, AppState], ...]
    queue: QueuePath | None
    user: str = ""
    #: User group whose limits count it; empty for none.
    group: str = ""


class Allocated(msgspec.Struct, frozen=True, gc=False):
    """A pod while it is an allocation. The garbage collector ignores it, as it cannot contain cycles."""

    app: AppId
    size: Resource
    #: Time of its binding, in seconds since 1970; 0 until the binding is confirmed.
    since: float
    instance: str
    placeholder: bool
    preempted: bool
