"""Creating the placeholders of gangs, and which answers of the API server are final (GANG-4)."""

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

_WORDS = 256
_EXISTS = "AlreadyExists"


class NotTaken(KubeError):
    """The API server does not take the placeholder, and would not a second time. Says why in short."""


class NotYetTaken(KubeError):
    """Something else changed at that moment; the same may work right after."""


async def create(client: ApiClient, wanted: CreatePlaceholder, settings: PlaceholderSettings) -> None:
    """Make it, unless it is there. Raises `NotTaken`, or any other `KubeError` for what may pass."""
    body = msgspec.json.encode(placeholder_pod(wanted, settings))
    try:
        await client.post(pods_path(wanted.namespace), body)
    except Conflict as error:
        if error.reason != _EXISTS:
            # Many pods at once compete for the status of a ResourceQuota.
            raise NotYetTaken(error.message) from error
        await _claim(client, wanted)
    except (TooMany, Unauthorized):
        raise
    except ApiError as error:
        if 400 <= error.status < 500:
            raise NotTaken(error.message[:_WORDS]) from error
        raise


async def _claim(client: ApiClient, wanted: CreatePlaceholder) -> None:
    """A pod of that name is the wanted one, made before, if it belongs to the same originator."""
    try:
        there = POD.decode(await client.get(pod_path(wanted.namespace, wanted.name))).metadata
    except NotFound as error:
        raise NotYetTaken("it went meanwhile") from error
    except msgspec.MsgspecError as error:
        raise MalformedAnswer(str(error)) from error
    if owner_of(there) != wanted.originator.uid or not is_placeholder(there.annotations or {}):
        raise NotTaken(f"pod {wanted.name} is there already and is no placeholder of this gang")
