"""Address of the instance that leads, by the host that the Lease names.

The host of a pod is the pod's name, and of a pod on the host's network it is the node's. The API server says
where either is, so that no instance has to announce itself.
"""

import asyncio
from collections.abc import Callable

import msgspec

from extender.kube.connection.api import KubeError, NotFound, Transport, segment

FRESH = 10.0
"""Seconds for which an address counts."""

SEARCHED_APART = 1.0
"""Seconds between two searches while none is found."""

SEARCH_WITHIN = 2.0
"""Seconds for one request of a search."""

_NODES = "/api/v1/nodes"


class _Address(msgspec.Struct):
    type: str = ""
    address: str = ""


class _Status(msgspec.Struct, rename="camel"):
    pod_ip: str = msgspec.field(default="", name="podIP")
    addresses: list[_Address] | None = None


class _Thing(msgspec.Struct):
    """A pod or a node."""

    status: _Status = msgspec.field(default_factory=_Status)


class _List(msgspec.Struct):
    items: list[_Thing] | None = None


class LeaderAddress:
    """Address of the leader.

    ``namespace``: of Paddock's pods; ``holder``: host of the leader, empty if it is not known.
    ``host``: of this instance; ``clock``: seconds that never go back.
    """

    def __init__(
        self,
        client: Transport,
        *,
        namespace: str,
        holder: Callable[[], str],
        host: str,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._holder = holder
        self._host = host
        self._clock = clock
        self._of = ""
        self._address = ""
        self._until = float("-inf")
        self._searching = asyncio.Lock()

    async def find(self) -> str:
        """Find the IP address. Empty if none is known, or if the Lease names this instance's host."""
        async with self._searching:
            holder = self._holder()
            if not holder or holder == self._host:
                return ""
            if holder != self._of or self._clock() >= self._until:
                await self._search(holder)
            return self._address

    async def _search(self, holder: str) -> None:
        try:
            found = await self._pod_address(holder) or await self._node_address(holder)
        except (KubeError, msgspec.MsgspecError):
            # What was known of this host still holds: its pod does not move.
            found = self._address if holder == self._of else ""
        self._of, self._address = holder, found
        self._until = self._clock() + (FRESH if found else SEARCHED_APART)

    async def _pod_address(self, name: str) -> str:
        path = f"/api/v1/namespaces/{segment(self._namespace)}/pods/{segment(name)}"
        try:
            body = await self._client.get(path, timeout=SEARCH_WITHIN)
        except NotFound:
            return ""
        return msgspec.json.decode(body, type=_Thing).status.pod_ip

    async def _node_address(self, name: str) -> str:
        only = {"fieldSelector": f"metadata.name={segment(name)}"}
        body = await self._client.get(_NODES, only, timeout=SEARCH_WITHIN)
        nodes = msgspec.json.decode(body, type=_List).items or []
        addresses = [each for node in nodes for each in node.status.addresses or ()]
        return next((each.address for each in addresses if each.type == "InternalIP"), "")
