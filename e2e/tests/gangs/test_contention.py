"""Many gangs that want the same capacity: all finish, and none waits for another that waits for it."""

import time
from itertools import pairwise

import pytest

from e2e.cluster.client import Cluster
from e2e.stands.course import Queues
from e2e.stands.gangs import BOTH, Job, rally
from e2e.stands.timing import took

QUEUES = {
    # Queues take turns, so gangs of several queues hold each other up until their placeholders time out, as
    # in YuniKorn. Gangs of one queue come one after another (GANG-7).
    "in one queue": ({"root.jobs": {}}, 600),
    "in four queues": ({f"root.jobs{at}": {} for at in range(4)}, 5),
}
"""Queues by the seconds that their placeholders have."""

LATE = 3.0
"""Seconds that a time-out may take until others have the capacity."""


@pytest.mark.timed
@BOTH
@pytest.mark.parametrize(
    ("queues", "timeout"), QUEUES.values(), ids=[each.replace(" ", "-") for each in QUEUES]
)
async def test_twenty_gangs_of_eight_with_capacity_for_three(
    cluster: Cluster, queues: Queues, timeout: int, gated: bool
) -> None:
    """In one queue none has to time out, and nothing stalls.

    In several queues no stall is longer than two time-outs. Freed capacity goes to the next gangs'
    placeholders, since a failed gang's members are no asks before its last placeholder has left (GANG-16).
    From then on waiting members go first.
    """
    paths = [*queues]
    jobs = [
        Job(f"job{at}", 8, timeout=timeout, run_for=0.5, queue=paths[at % len(paths)]) for at in range(20)
    ]
    names = [name for job in jobs for name in job.names]
    async with rally(cluster, nodes=6, cores=4, queues=queues, gated=gated) as here:
        started = time.monotonic()
        await here.submit(*jobs)
        await here.until_ended(*names, timeout=150)
        assert {phase for phase, _ in here.log.ended.values()} == {"Succeeded"}
        moments = [started, *sorted(here.log.bound[name] for name in names)]
        stall = max(after - before for before, after in pairwise(moments))
        late = (await here.events())["GangSchedulingFailed"]
        lasted = moments[-1] - started
        print(f"20 gangs of 8, room for 3: {lasted:.1f} s, {late} timed out")
        here.say("of these", names)
        took("the longest pause", stall, at_most=2 * timeout + LATE if late else 2 * LATE)
        assert not (late and len(paths) == 1)
