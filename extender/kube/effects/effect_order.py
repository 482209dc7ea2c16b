"""Order of effects: which run one after the other, which replace each other, and which wait behind others."""

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
    """The pod that an effect writes to, as a uid, or as namespace and name for a pod not yet created.

    ``NO_POD`` if the effect writes to no pod.
    """
    match effect:
        case PostEvent() | ResolveGroups():
            return NO_POD
        case CreatePlaceholder():
            return effect.namespace, effect.name
        case _:
            return effect.uid


def is_quiet(effect: Effect) -> bool:
    """True for Events and conditions, which only inform and change nothing about a pod's placement."""
    return isinstance(effect, PostEvent | SetCondition)


def key_of(effect: Effect) -> object:
    """Key under which an effect is queued. A later effect with an equal key replaces it."""
    # Each record of a pod is written, since records may have different annotation keys.
    if isinstance(effect, PostEvent | ResolveGroups | WriteRecord):
        return effect
    if isinstance(effect, DeletePod):
        # Each owner that asks for a deletion waits for its own outcome.
        return DeletePod, pod_of(effect), effect.purpose
    return type(effect), pod_of(effect)
