"""Bind calls that wait for the other members of a pod's group (COS-5, DESIGN-5).

A call only waits here; whether it may go on is the ledger's to say. Waits live as long as the process: when
it ends their connections break, kube-scheduler takes that for a failure and asks again, and the group begins
anew.
"""

import asyncio

from core.ids import PodUid


class Waits:
    """The bind calls that wait, by pod; one at a time for each."""

    def __init__(self) -> None:
        self._waiting: dict[PodUid, asyncio.Future[str]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, uid: PodUid) -> asyncio.Future[str]:
        """From now on `end` is heard. To be called before the ledger learns of the call, which may end it."""
        self._waiting[uid] = future = asyncio.get_running_loop().create_future()
        return future

    def end(self, uid: PodUid, why: str) -> None:
        """``why`` a call fails; empty for one that may go on. Nothing happens when none waits."""
        future = self._waiting.get(uid)
        if future is not None and not future.done():
            future.set_result(why)

    def forget(self, uid: PodUid, future: "asyncio.Future[str]") -> None:
        """A call has ended."""
        if self._waiting.get(uid) is future:
            del self._waiting[uid]
