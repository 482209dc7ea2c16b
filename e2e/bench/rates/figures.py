"""Arithmetic over what rounds measured: rates, ratios to another side, and the printed table."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NONE = "none"
"""The side without an extender, to which rates are related."""

DECIDERS = ("paddock", "echo", "loop")
"""Names of the process that decides."""

Compared = Callable[[Mapping[str, float], Mapping[str, float]], float]
"""A figure of two sides, from the figures of each."""


@dataclass(frozen=True, slots=True)
class Times:
    """When a pod was seen first and when with a node, in seconds of one clock."""

    added: float
    bound: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A side of a round. ``figures``: by mode, then by name. ``disturbed``: it counts for nothing."""

    side: str
    round: int
    figures: Mapping[str, Mapping[str, float]]
    disturbed: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


def order_of(sides: Sequence[str], at: int) -> list[str]:
    """The sides in the order of a round: each round begins with another, each second one is reversed."""
    turned = [*sides[at % len(sides) :], *sides[: at % len(sides)]]
    return turned[::-1] if at % 2 else turned


def rate_until(began: float, times: Sequence[Times]) -> float:
    """Pods a second, from a moment to the last Binding."""
    return len(times) / (max(each.bound for each in times) - began)


def rate_between(times: Sequence[Times]) -> float:
    """Pods a second, from the first Binding to the last."""
    bound = sorted(each.bound for each in times)
    return (len(bound) - 1) / (bound[-1] - bound[0])


def percentile(values: Iterable[float], share: float) -> float:
    """The value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def medians(rounds: Iterable[Measured]) -> dict[str, dict[str, dict[str, float]]]:
    """The median of each figure, by side and mode. Disturbed rounds are left out."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for each in rounds:
        if not each.disturbed:
            for mode, figures in each.figures.items():
                names = found.setdefault(each.side, {}).setdefault(mode, {})
                for name, value in figures.items():
                    names.setdefault(name, []).append(value)
    return {
        side: {
            mode: {name: round(statistics.median(values), 3) for name, values in names.items()}
            for mode, names in modes.items()
        }
        for side, modes in found.items()
    }


def ratio(rounds: Sequence[Measured], one: str, other: str, mode: str, name: str) -> float | None:
    """The median of the ratios of those rounds that have both sides, undisturbed; None without any."""
    return _median_of_pairs(rounds, one, other, mode, lambda mine, its: mine[name] / its[name])


def ratio_by_cpu(rounds: Sequence[Measured], one: str, other: str, mode: str) -> float | None:
    """The ratio of rates that CPU alone would give; None without rounds that have both sides, undisturbed.

    While all cores are full, a rate is what they give divided by what a pod costs. So it is computed from
    what the decider needs, relative to all other processes. A machine that becomes slower slows all of them,
    and changes nothing here. What a decider makes the others do is not in it.
    """
    return _median_of_pairs(rounds, one, other, mode, lambda mine, its: _whole(its) / _whole(mine))


def _whole(figures: Mapping[str, float]) -> float:
    """CPU of all processes, relative to that of all but the decider."""
    decider = sum(figures.get(f"cpu {name}", 0.0) for name in DECIDERS)
    others = sum(value for name, value in figures.items() if name.startswith("cpu ")) - decider
    return 1 + decider / (others - figures.get("cpu all", 0.0))


def _median_of_pairs(
    rounds: Sequence[Measured], one: str, other: str, mode: str, compared: Compared
) -> float | None:
    values = {
        side: {each.round: each.figures[mode] for each in rounds if each.side == side and _has(each, mode)}
        for side in (one, other)
    }
    both = sorted(values[one].keys() & values[other].keys())
    if not both:
        return None
    return round(statistics.median(compared(values[one][at], values[other][at]) for at in both), 3)


def _has(each: Measured, mode: str) -> bool:
    return not each.disturbed and mode in each.figures


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table. None is shown as a dash."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join("-" if cell is None else str(cell) for cell in line) + " |" for line in lines
    )
