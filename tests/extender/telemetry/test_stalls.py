"""Measured delays of the event loop."""

import pytest

from extender.simulator.cluster.clock import Clock, HandLoop
from extender.telemetry.stalls import APART, watch_stalls


def test_a_loop_that_is_busy_for_a_second_is_a_second_late() -> None:
    clock, noted = Clock(), list[float]()
    loop = HandLoop(clock)
    task = loop.create_task(watch_stalls(noted.append))
    loop.run_ready()
    for busy in (0.0, 1.0, 0.0):
        clock.now += round(1000 * (APART + busy))
        clock.run_due()
        loop.run_ready()
    assert noted == pytest.approx([0.0, 1.0, 0.0])
    task.cancel()
    loop.drain()
