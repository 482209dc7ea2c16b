"""Progress on a terminal: rare updates in one line, which is cleared at the end."""

from io import StringIO

import pytest

from extender.simulator.report.progress import Progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class HandClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def lines_of(stream: StringIO) -> list[str]:
    return stream.getvalue().split("\r")[1:]


def test_a_short_run_shows_nothing() -> None:
    stream, clock = Terminal(), HandClock()
    with Progress(stream, clock=clock, end=1000) as progress:
        clock.now += 0.49
        progress.show(500)
    assert stream.getvalue() == ""


def test_a_stream_that_is_no_terminal_gets_nothing() -> None:
    stream, clock = StringIO(), HandClock()
    with Progress(stream, clock=clock, end=1000) as progress:
        clock.now += 60
        progress.show(500)
    assert stream.getvalue() == ""


def test_at_most_ten_lines_a_second() -> None:
    stream, clock = Terminal(), HandClock()
    progress = Progress(stream, clock=clock, end=10_000)
    for at in range(1000):
        clock.now = 100.5 + at / 1000
        progress.show(at)
    assert 9 <= len(lines_of(stream)) <= 10


def test_a_line_says_how_far_and_covers_the_one_before() -> None:
    stream, clock = Terminal(), HandClock()
    progress = Progress(stream, clock=clock, end=60_000)
    clock.now += 1
    progress.show(15_000, attempts=12_345)
    clock.now += 1
    progress.show(30_000, attempts=1)
    first, second = lines_of(stream)
    assert first == "00:15.000 of 01:00.000 (25%), 12,345 attempts"
    assert second.rstrip() == "00:30.000 of 01:00.000 (50%), 1 attempt"
    assert len(second) == len(first)


def test_the_line_is_wiped_at_the_end_even_of_a_run_that_fails() -> None:
    stream, clock = Terminal(), HandClock()

    def run() -> None:
        with Progress(stream, clock=clock, end=0) as progress:
            clock.now += 1
            progress.show(0)
            raise KeyError

    with pytest.raises(KeyError):
        run()
    shown, wiped, rest = lines_of(stream)
    assert shown == "00:00.000 of 00:00.000 (100%), 0 attempts"
    assert (wiped.strip(), len(wiped), rest) == ("", len(shown), "")
