"""Reads of a single pod from the API server."""

import asyncio
from collections.abc import Awaitable, Callable

from core.workload.pod import PodFacts
from extender.kube.connection.api import NotFound, ServerError, TooMany, Unreachable
from extender.kube.connection.client import ApiClient
from extender.kube.effects.bodies import pod_path
from extender.wire.translate import POD, pod_from

_PAUSE = 0.2
_LEAST = 0.001


async def read_pod(client: ApiClient, namespace: str, name: str, *, within: float) -> PodFacts | None:
    """Current state of a pod, or None if it does not exist. Raises `KubeError`.

    ``within``: seconds until the request times out.
    """
    try:
        body = await client.get(pod_path(namespace, name), timeout=max(within, _LEAST))
    except NotFound:
        return None
    return pod_from(POD.decode(body))


async def read_pod_with_retries(
    client: ApiClient,
    namespace: str,
    name: str,
    *,
    within: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> PodFacts | None:
    """Read a pod as `read_pod` does, and retry server errors for ``within`` seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + within
    while True:
        try:
            return await read_pod(client, namespace, name, within=until - loop.time())
        except (Unreachable, ServerError, TooMany):
            if until - loop.time() <= _PAUSE:
                raise
            await sleep(_PAUSE)
