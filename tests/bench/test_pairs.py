"""Pairs of turns: their order, and the ratios that are printed."""

from e2e.bench.rates.figures import Measured
from e2e.bench.rates.pairs import in_order, ratios_of


def _measured(side: str, at: int, rate: float, decider: float, *, disturbed: bool = False) -> Measured:
    figures = {"pods/s": rate, f"cpu {side}": decider, "cpu etcd": 1.0}
    return Measured(side, at, {"mode": figures}, disturbed)


def test_every_second_pair_is_reversed() -> None:
    halves = ["echo", "paddock"]
    assert in_order(halves, 0) == [("echo", "paddock"), ("paddock", "echo")]
    assert in_order(halves, 1) == [("paddock", "echo"), ("echo", "paddock")]


def test_ratios_are_those_of_neighbours_and_leave_out_disturbed_ones() -> None:
    measured = [
        *(_measured("echo", 0, 100, 0.5), _measured("paddock", 0, 90, 1.0)),
        *(_measured("paddock", 1, 160, 1.0), _measured("echo", 1, 200, 0.5)),
        *(_measured("echo", 2, 50, 0.5), _measured("paddock", 2, 10, 1.0, disturbed=True)),
    ]
    assert ratios_of(measured, "mode") == {
        "to the echo": 0.85,
        "by CPU": 0.75,
        "quarters": [0.775, 0.85, 0.925],
    }
