"""Checks before and after the placement rules: may an application be placed now? Pure.

The ledger makes them when it learns of an application, with its knowledge at that time.
"""

from collections.abc import Sequence

from core.ids import ROOT, AppId, QueuePath
from core.queues.placement.rules import is_user_name
from core.queues.users.identity import Identity
from core.reasons import Code, Refusal

_SHOWN = 64

TOO_MANY = "too many queues below"
"""Subject of the refusal of an application whose queue would have to be made."""


def refusal_of_user(identity: Identity) -> Refusal | None:
    """Refusal of a user with groups whose own name is invalid (ID-4), or None."""
    if not identity.groups or is_user_name(identity.user):
        return None
    return Refusal(Code.PLACEMENT_FAILED, f"invalid user name {identity.user[:_SHOWN]}")


def refusal_of_groups(user: str, groups: Sequence[str] | None, *, answered: bool) -> Refusal | None:
    """Refusal of an application that waits for its user's groups, or gets no queue (ID-4, ID-6). Else None.

    ``groups``: None if the resolver does not know them. ``answered``: True if the resolver has answered.
    """
    if not answered:
        return Refusal(Code.NOT_READY, f"the groups of user {user[:_SHOWN]} are being looked up")
    if groups is None:
        return Refusal(Code.PLACEMENT_FAILED, f"the groups of user {user[:_SHOWN]} are not known")
    return None


def refusal_of_unread(namespace: str, *, awaits_namespace: bool, awaits_pods: bool) -> Refusal | None:
    """Refusal of an application that waits for the first list of namespaces or of pods (NS-8, GANG-20)."""
    if awaits_namespace:
        return Refusal(Code.NOT_READY, f"namespace {namespace[:_SHOWN]} has not been read yet")
    return Refusal(Code.NOT_READY, "the pods of its gang have not been read yet") if awaits_pods else None


def refusal_of_move(queue: QueuePath, chosen: QueuePath) -> Refusal | None:
    """Refusal of pending pods of an application in ``queue`` if placement would choose another one (F-1)."""
    if chosen == queue:
        return None
    return Refusal(Code.PLACEMENT_FAILED, queue, f"what waits would go to {chosen}")


def refusal_of_creation(
    above: QueuePath, levels: int, *, made_below: int, made: int, most_below: int, most: int
) -> Refusal | None:
    """Why so many more queues cannot be made below a configured one (PL-11, F-21).

    ``made_below``, ``most_below``: dynamic queues of that one; ``made``, ``most``: of all together.
    """
    if made_below + levels > most_below:
        return Refusal(Code.PLACEMENT_FAILED, TOO_MANY, above)
    return Refusal(Code.PLACEMENT_FAILED, TOO_MANY, ROOT) if made + levels > most else None


def refusal_of_ended(app_id: AppId, *, timed_out: bool = False) -> Refusal:
    """Refusal of the pods of an application that was ended, or ran for too long (ACT-22, ACT-42)."""
    why = "was ended by its execution time-out" if timed_out else "was ended by an administrator"
    return Refusal(Code.APPLICATION_ENDED, app_id.name[:_SHOWN], why)
