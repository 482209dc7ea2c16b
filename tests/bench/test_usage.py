"""CPU of own processes, of others, and steal, from texts as `/proc` has them."""

import os

import pytest

from e2e.bench.rates import usage
from e2e.bench.rates.usage import Line, Reading, Used, descendants, line_from, peak_from, stolen_ticks, used

TICKS = usage.TICKS


def _line(pid: int, parent: int, seconds: float, *, name: str = "python", inherited: float = 0.0) -> Line:
    return Line(pid, name, parent, int(seconds * TICKS), int(inherited * TICKS))


def _reading(*lines: Line, at: float = 0.0, stolen: int = 0, named: dict[int, str] | None = None) -> Reading:
    return usage.reading_of(lines, at=at, stolen=stolen, root=10, named=named or {})


def test_a_name_with_brackets_and_spaces_is_read_whole() -> None:
    text = "42 (a (b) c) S 7 42 42 0 -1 4194560 1 0 0 0 300 50 20 10 20 0 1 0 5 0 0"
    assert line_from(text) == Line(42, "a (b) c", 7, 350, 30)


def test_steal_is_the_eighth_figure_of_all_cores() -> None:
    assert stolen_ticks("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 2 3 4 5 6 7 99 9 10\n") == 88


def test_the_peak_is_the_high_water_mark() -> None:
    assert peak_from("Name:\tx\nVmPeak:\t9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t1 kB\n") == 2.0
    assert peak_from("Name:\tx\n") == 0.0


def test_descendants_are_found_at_any_depth() -> None:
    lines = [_line(10, 1, 0), _line(11, 10, 0), _line(12, 11, 0), _line(13, 1, 0)]
    assert descendants(lines, 10) == {10, 11, 12}


def test_programs_have_their_own_names_and_the_rest_is_the_client() -> None:
    reading = _reading(
        _line(10, 1, 1.0),
        _line(11, 10, 2.0, name="etcd"),
        _line(12, 10, 4.0),
        _line(14, 12, 8.0, name="sh"),
        named={12: "paddock"},
    )
    assert reading.own == {"client": 9.0, "etcd": 2.0, "paddock": 4.0}
    assert reading.others == 0.0


def test_a_process_of_others_that_ended_counts_with_its_parent_and_only_what_was_new() -> None:
    before = _reading(_line(10, 1, 0), _line(1, 0, 1.0), _line(20, 1, 5.0))
    # The process 20 used two seconds more and ended; its parent waited for it.
    after = _reading(_line(10, 1, 0), _line(1, 0, 1.0, inherited=7.0), at=4.0)
    assert used(before, after).others == pytest.approx(0.5)


def test_threads_of_the_kernel_work_for_whoever_calls_them() -> None:
    before = _reading(_line(10, 1, 0), _line(2, 0, 0), _line(3, 2, 0))
    after = _reading(_line(10, 1, 0), _line(2, 0, 3.0), _line(3, 2, 5.0), at=1.0)
    assert used(before, after).others == 0.0


def test_a_process_that_began_meanwhile_counts_from_its_start() -> None:
    before = _reading(_line(10, 1, 1.0))
    after = _reading(_line(10, 1, 1.5), _line(11, 10, 2.0, name="kube-scheduler"), at=2.0)
    found = used(before, after)
    assert found.own == {"client": 0.5, "kube-scheduler": 2.0}
    assert found.milliseconds_each(1000) == {"client": 0.5, "kube-scheduler": 2.0}


@pytest.mark.parametrize(
    ("others", "stolen", "disturbed"),
    [(0.0, 0.0, False), (0.1, 0.0, False), (0.11, 0.0, True), (0.0, 0.01, True)],
    ids=["quiet", "at the bound", "others", "steal"],
)
def test_a_round_is_repeated_for_others_or_any_steal(others: float, stolen: float, disturbed: bool) -> None:
    assert Used(1.0, {}, others, stolen).disturbed is disturbed


def test_this_machine_can_be_read() -> None:
    reading = usage.read({os.getpid(): "paddock"})
    assert reading.own["paddock"] > 0
    assert usage.peaks({os.getpid(): "paddock"})["paddock"] > 1
