"""Which effects keep their order, which replace each other, and which wait behind the others."""

from core.ids import NO_POD
from core.ledger.effects import (
    CreatePlaceholder,
    DeletePod,
    Effect,
    PostEvent,
    ResolveGroups,
    SetCondition,
    WriteRecord,
)


def pod_of(effect: Effect) -> object:
    """The pod that an effect writes to, or none; by its name where it has no uid yet."""
    match effect:
        case PostEvent() | ResolveGroups():
            return NO_POD
        case CreatePlaceholder():
            return effect.namespace, effect.name
        case _:
            return effect.uid


def is_quiet(effect: Effect) -> bool:
    return isinstance(effect, PostEvent | SetCondition)


def key_of(effect: Effect) -> object:
    """What a later effect replaces. Of records of one pod each is written: they may have other keys."""
    if isinstance(effect, PostEvent | ResolveGroups | WriteRecord):
        return effect
    if isinstance(effect, DeletePod):
        # Each owner that asks for a deletion waits for its own outcome.
        return DeletePod, pod_of(effect), effect.purpose
    return type(effect), pod_of(effect)
