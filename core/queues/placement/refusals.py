"""May an application be placed now? Checks that come before and after the placement rules; pure.

The ledger asks them when it learns of an application, with what it knows then.
"""

from collections.abc import Sequence

from core.ids import QueuePath
from core.queues.placement.rules import is_user_name
from core.queues.users.identity import Identity
from core.reasons import Code, Refusal

_SHOWN = 64


def refusal_of_user(identity: Identity) -> Refusal | None:
    """Why a user that names groups is refused: the user's own name is no valid one (ID-4)."""
    if not identity.groups or is_user_name(identity.user):
        return None
    return Refusal(Code.PLACEMENT_FAILED, f"invalid user name {identity.user[:_SHOWN]}")


def refusal_of_groups(user: str, groups: Sequence[str] | None, *, answered: bool) -> Refusal | None:
    """Why an application waits for the groups of its user, or goes without a queue (ID-4, ID-6).

    ``groups``: None if the resolver does not know them; ``answered``: whether the resolver has answered.
    """
    if not answered:
        return Refusal(Code.NOT_READY, f"the groups of user {user[:_SHOWN]} are being looked up")
    if groups is None:
        return Refusal(Code.PLACEMENT_FAILED, f"the groups of user {user[:_SHOWN]} are not known")
    return None


def refusal_of_unread(namespace: str, *, awaits_namespace: bool, awaits_pods: bool) -> Refusal | None:
    """Why an application waits for the first list of namespaces or of pods (NS-8, GANG-20)."""
    if awaits_namespace:
        return Refusal(Code.NOT_READY, f"namespace {namespace[:_SHOWN]} has not been read yet")
    return Refusal(Code.NOT_READY, "the pods of its gang have not been read yet") if awaits_pods else None


def refusal_of_move(queue: QueuePath, chosen: QueuePath) -> Refusal | None:
    """Why pods wait whose application runs in ``queue``: placement would choose another one (F-1)."""
    if chosen == queue:
        return None
    return Refusal(Code.PLACEMENT_FAILED, queue, f"what waits would go to {chosen}")
