"""Bind calls that wait for the other members of a pod's group (COS-5, DESIGN-5).

The ledger decides when a call may continue. Waits are lost when the process ends, since their connections
break. Then kube-scheduler counts a failure and tries again, and the group starts from the beginning.
"""

import asyncio

from core.ids import PodUid


class Waits:
    """Waiting bind calls, at most one for each pod."""

    def __init__(self) -> None:
        self._waiting: dict[PodUid, asyncio.Future[str]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, uid: PodUid) -> asyncio.Future[str]:
        """Register a call and return the future that `end` sets.

        Must be called before the ledger learns of the call, since that may already end it.
        """
        self._waiting[uid] = future = asyncio.get_running_loop().create_future()
        return future

    def end(self, uid: PodUid, why: str) -> None:
        """End the wait of a call, if it waits. ``why``: the reason for its failure, or empty to continue."""
        future = self._waiting.get(uid)
        if future is not None and not future.done():
            future.set_result(why)

    def forget(self, uid: PodUid, future: "asyncio.Future[str]") -> None:
        """Remove a call that has ended."""
        if self._waiting.get(uid) is future:
            del self._waiting[uid]
