"""Objects in which the API server reads what to trust: the APIService, and the webhook's configuration.

Neither is created here, and no other field of them is written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from core.errors import PaddockError

API_SERVICE = "v1alpha1.paddock.dev"
WEBHOOK = "change-pods.paddock.dev"
"""Name of the MutatingWebhookConfiguration."""

_API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_MERGE_PATCH = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"


class Bearer(Protocol):
    """Part of a client that a publication needs. Each method raises PaddockError."""

    async def get(self, path: str) -> bytes:
        """Send a GET and return the body of its answer."""
        ...

    async def patch(self, path: str, body: bytes, *, content_type: str) -> bytes:
        """Send a PATCH and return the body of its answer."""
        ...


class Publication(Protocol):
    """Object that is told what to trust."""

    async def publish(self, client: Bearer, trusted: str, is_missing: Callable[[PaddockError], bool]) -> None:
        """Write PEM of all certificates to trust, if the object is installed. Raises PaddockError."""
        ...


class ApiServiceBundle:
    """The APIService of the aggregated API."""

    async def publish(self, client: Bearer, trusted: str, is_missing: Callable[[PaddockError], bool]) -> None:
        """Write the trusted certificates."""
        bundle = msgspec.json.encode({"spec": {"caBundle": trusted.encode()}})
        try:
            await client.patch(f"{_API_SERVICES}/{API_SERVICE}", bundle, content_type=_MERGE_PATCH)
        except PaddockError as error:
            if not is_missing(error):
                raise


class _ClientConfig(msgspec.Struct, rename="camel"):
    ca_bundle: bytes = b""


class _Webhook(msgspec.Struct, rename="camel"):
    name: str
    client_config: _ClientConfig = msgspec.field(default_factory=_ClientConfig)


class _Configuration(msgspec.Struct):
    webhooks: list[_Webhook] = []


@dataclass(frozen=True, slots=True)
class WebhookBundle:
    """The configuration of the webhook that changes pods."""

    async def publish(self, client: Bearer, trusted: str, is_missing: Callable[[PaddockError], bool]) -> None:
        """Write the trusted certificates to each webhook of the configuration that has others."""
        path = f"{_WEBHOOKS}/{WEBHOOK}"
        try:
            read = msgspec.json.decode(await client.get(path), type=_Configuration)
            changes = _bundle_changes(read, trusted.encode())
            if changes:
                await client.patch(path, msgspec.json.encode(changes), content_type=_JSON_PATCH)
        except msgspec.MsgspecError:
            raise PaddockError("the configuration of the webhook is not readable") from None
        except PaddockError as error:
            if not is_missing(error):
                raise


def _bundle_changes(read: _Configuration, bundle: bytes) -> list[dict[str, Any]]:
    """A JSON patch. It fails if the webhooks have changed meanwhile, and adds none."""
    return [
        change
        for at, each in enumerate(read.webhooks)
        if each.client_config.ca_bundle != bundle
        for change in (
            {"op": "test", "path": f"/webhooks/{at}/name", "value": each.name},
            {"op": "add", "path": f"/webhooks/{at}/clientConfig/caBundle", "value": bundle},
        )
    ]
