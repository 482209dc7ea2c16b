"""The resolver ``os`` (ID-4): the host's groups, looked up in threads, with a result for every request."""

import asyncio
import os
import pwd
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from core.ledger import events as on
from extender.host.user_groups import AT_ONCE, HostGroups, host_groups
from tests.extender.reflector_bench import cancelled, until


@asynccontextmanager
async def running(
    find: Callable[[str], tuple[str, ...] | None], *, time_out: float = 5.0
) -> AsyncIterator[tuple[HostGroups, list[on.Event]]]:
    learned: list[on.Event] = []
    groups = HostGroups(learned.append, find=find, time_out=time_out)
    task = asyncio.create_task(groups.run())
    yield groups, learned
    await cancelled(task)


@pytest.mark.rule("ID-4")
def test_the_host_knows_whoever_runs_this() -> None:
    user = pwd.getpwuid(os.getuid())
    found = host_groups(user.pw_name)
    assert found is not None
    assert len(set(found)) == len(found)
    assert host_groups("no-such-user-here") is None
    assert host_groups("nul\0inside") is None


async def test_every_question_has_its_answer() -> None:
    async with running(lambda user: (f"{user}-team",) if user != "lost" else None) as (groups, learned):
        for user in ("alice", "lost", "bob"):
            groups.look_up(user)
        await groups.idle()
    assert {(event.user, event.groups) for event in learned if isinstance(event, on.GroupsResolved)} == {
        ("alice", ("alice-team",)),
        ("lost", None),
        ("bob", ("bob-team",)),
    }


async def test_a_host_that_hangs_counts_as_one_that_does_not_know() -> None:
    """As many look-ups hang as can run at once. Those behind them still get results."""
    release = threading.Event()
    users = [f"user-{number}" for number in range(AT_ONCE + 2)]

    def hang(user: str) -> tuple[str, ...]:
        release.wait(30)
        return (user,)

    async with running(hang, time_out=0.05) as (groups, learned):
        for user in users:
            groups.look_up(user)
        await until(lambda: len(learned) == len(users))
        release.set()
    assert all(isinstance(event, on.GroupsResolved) and event.groups is None for event in learned)
