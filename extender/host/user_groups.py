"""Look-up of a user's groups on the host, in threads since it may block (ID-4, resolver ``os``)."""

import asyncio
import grp
import os
import pwd
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from core.ledger import events as on

TIME_OUT = 10.0
"""Seconds for one look-up. A directory service that takes longer counts as not answering."""

AT_ONCE = 4
"""Look-ups at once."""

_IDLE_POLL = 0.05


def host_groups(user: str) -> tuple[str, ...] | None:
    """Names of a user's groups, with the primary group first. None for an unknown user.

    Groups without a name are left out.
    """
    try:
        entry = pwd.getpwnam(user)
    except (KeyError, ValueError, OSError):
        return None
    names = (_group_name(number) for number in os.getgrouplist(user, entry.pw_gid))
    return tuple(dict.fromkeys(name for name in names if name))


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return ""


class HostGroups:
    """Find the groups of users, a few at once. Every result is learned as an event, including failures."""

    def __init__(
        self,
        learn: Callable[[on.Event], None],
        *,
        find: Callable[[str], tuple[str, ...] | None] = host_groups,
        time_out: float = TIME_OUT,
    ) -> None:
        self._learn = learn
        self._find = find
        self._time_out = time_out
        self._users: asyncio.Queue[str] = asyncio.Queue()
        self._open = 0
        # These threads are separate, so that look-ups that hang do not use up the threads of others.
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="groups")

    def look_up(self, user: str) -> None:
        """Queue the look-up of a user. The result is learned as `GroupsResolved`."""
        self._open += 1
        self._users.put_nowait(user)

    async def run(self) -> None:
        """Run queued look-ups until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._work())

    async def idle(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Wait until every look-up has a result."""
        while self._open:
            await sleep(_IDLE_POLL)

    async def _work(self) -> None:
        while True:
            user = await self._users.get()
            try:
                async with asyncio.timeout(self._time_out):
                    groups = await asyncio.get_running_loop().run_in_executor(self._threads, self._find, user)
            except TimeoutError:
                groups = None
            self._open -= 1
            self._learn(on.GroupsResolved(user, groups))
