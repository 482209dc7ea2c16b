"""The webhook that changes new pods, with what its rules read: namespaces and keys of the ConfigMap."""

import asyncio
from collections.abc import Callable, Sequence

from core.ledger.view import LedgerView
from core.workload.pod import NamespaceFacts
from extender.http.endpoints import Endpoint
from extender.http.webhook import webhook_endpoints
from extender.offers import Offers

_CHECKS, _EVERY = 50, 0.02
"""Checks for a namespace that the watch has not shown yet, and seconds between two of them.

The API server waits 2 s for the webhook.
"""


def webhook_of(view: Callable[[], LedgerView], offers: Offers, namespace: str) -> Sequence[Endpoint]:
    """Return the webhook's endpoints. ``namespace``: Paddock's own."""

    async def find(name: str) -> NamespaceFacts | None:
        for _ in range(_CHECKS):
            if (found := view().namespace(name)) is not None:
                return found
            await asyncio.sleep(_EVERY)
        return None

    return webhook_endpoints(find, lambda: offers.keys, own=namespace)
