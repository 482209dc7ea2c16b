"""Creation of gang placeholders, with the distinction of final and passing refusals (GANG-4)."""

import msgspec

from core.ledger.effects import CreatePlaceholder
from extender.kube.connection.api import (
    ApiError,
    Conflict,
    KubeError,
    MalformedAnswer,
    NotFound,
    TooMany,
    Unauthorized,
)
from extender.kube.connection.client import ApiClient
from extender.kube.effects.bodies import pod_path, pods_path
from extender.wire.annotations.gang import is_placeholder
from extender.wire.placeholder import PlaceholderSettings, placeholder_pod
from extender.wire.translate import POD, owner_of

_MESSAGE_LENGTH = 256
_EXISTS = "AlreadyExists"


class NotTaken(KubeError):
    """The API server refuses the placeholder and would refuse it again. The text is its shortened reason."""


class NotYetTaken(KubeError):
    """The request met a concurrent change and may succeed when it is repeated."""


async def create(client: ApiClient, wanted: CreatePlaceholder, settings: PlaceholderSettings) -> None:
    """Create a placeholder unless it exists.

    Raises `NotTaken` for a final refusal, and any other `KubeError` for one that may pass.
    """
    body = msgspec.json.encode(placeholder_pod(wanted, settings))
    try:
        await client.post(pods_path(wanted.namespace), body)
    except Conflict as error:
        if error.reason != _EXISTS:
            # Pods created at once compete for the status of a ResourceQuota.
            raise NotYetTaken(error.message) from error
        await _claim(client, wanted)
    except (TooMany, Unauthorized):
        raise
    except ApiError as error:
        if 400 <= error.status < 500:
            raise NotTaken(error.message[:_MESSAGE_LENGTH]) from error
        raise


async def _claim(client: ApiClient, wanted: CreatePlaceholder) -> None:
    """Accept an existing pod of that name if it is a placeholder owned by the same originator.

    Raises `NotTaken` for any other pod, and `NotYetTaken` if the pod has been deleted meanwhile.
    """
    try:
        there = POD.decode(await client.get(pod_path(wanted.namespace, wanted.name))).metadata
    except NotFound as error:
        raise NotYetTaken("it went meanwhile") from error
    except msgspec.MsgspecError as error:
        raise MalformedAnswer(str(error)) from error
    if owner_of(there) != wanted.originator.uid or not is_placeholder(there.annotations or {}):
        raise NotTaken(f"pod {wanted.name} is there already and is no placeholder of this gang")
