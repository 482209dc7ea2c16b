"""Moments at which effects may start, on a clock that the test moves."""

import pytest

from extender.kube.effects.pace import QUIET_RATE, QUIET_RATE_BESIDE, RATE, Pace


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_effects_that_move_pods_start_at_the_rate() -> None:
    pace = Pace(Clock())
    assert [pace.begin() for _ in range(3)] == pytest.approx([0.0, 1 / RATE, 2 / RATE])


def test_quiet_effects_have_a_schedule_of_their_own() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.until_quiet() == 0
    pace.begin_quiet()
    assert pace.until_quiet() == pytest.approx(1 / QUIET_RATE)
    assert pace.begin() == 0


@pytest.mark.parametrize(("moves", "calls"), [(1, 0), (0, 7)], ids=["moved by Paddock", "by kube-scheduler"])
def test_quiet_effects_are_fewer_while_pods_are_scheduled(moves: int, calls: int) -> None:
    """Issue 22: conditions of a backlog kept slots empty, and took part of the rate of kube-scheduler."""
    clock = Clock()
    pace = Pace(clock, lambda: calls)
    for _ in range(moves):
        pace.begin()
    pace.begin_quiet()
    assert pace.until_quiet() == pytest.approx(1 / QUIET_RATE_BESIDE)
    clock.now += 1 / QUIET_RATE_BESIDE
    pace.begin_quiet()
    assert pace.until_quiet() == pytest.approx(1 / QUIET_RATE)


def test_a_call_now_and_then_delays_one_quiet_effect() -> None:
    """A backlog beside a pod each second learns its reasons nearly as fast as in a quiet cluster."""
    clock, calls = Clock(), 0
    pace = Pace(clock, lambda: calls)
    begun, start = 0, clock.now
    for second in range(10):
        calls += 1
        while clock.now < start + second + 1:
            pace.begin_quiet()
            begun += 1
            clock.now += pace.until_quiet()
    assert begun / 10 > 0.9 * QUIET_RATE
