"""Amounts of a queue in YuniKorn's series, which equal those of REST-6 (METRIC-1, METRIC-18)."""

from core.resource import Resource
from extender.telemetry.lines import escaped
from extender.telemetry.own_queues import QueueAmounts
from extender.telemetry.shown import ALWAYS
from extender.telemetry.yunikorn.families import AMOUNTS, APPLICATIONS, MAX_RUNNING, QUEUE_RESOURCE

Shown = list[tuple[str, str, int]]
"""State, resource and amount, in order."""

_USAGE = ("allocated", "pending", "preempting")


def by_state(queue: QueueAmounts) -> dict[str, dict[str, int]]:
    """Amounts by state."""
    return {
        "guaranteed": dict(queue.guaranteed),
        "max": dict(queue.max),
        "allocated": dict(queue.allocations),
        "pending": dict(queue.requests),
        "preempting": dict(Resource(dict(queue.preempting)).items()),
    }


class NamesShown:
    """Resources of a queue that were ever exported. One without an amount is exported as 0 (METRIC-1)."""

    __slots__ = ("_names", "_slots")

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {state: set() for state in AMOUNTS}
        for state in _USAGE:
            self._names[state].update(ALWAYS)
        self._slots = False

    def samples_of(self, queue: QueueAmounts, shown: frozenset[str]) -> Shown:
        """Samples of a queue for all resources with series."""
        found: Shown = []
        for state, values in by_state(queue).items():
            names = self._names[state]
            names |= values.keys() & shown
            found += [(state, name, values.get(name, 0)) for name in sorted(names & shown)]
        self._slots = self._slots or queue.max_applications > 0
        if self._slots:
            found.append((MAX_RUNNING, APPLICATIONS, queue.max_applications))
        return found


def queue_lines(path: str, samples: Shown) -> str:
    """Samples of METRIC-1."""
    begin = f'{QUEUE_RESOURCE.name}{{queue="{escaped(path)}",state="'
    return "".join(
        f'{begin}{state}",resource="{escaped(resource)}"}} {amount}\n' for state, resource, amount in samples
    )


def path_lines(samples: Shown) -> list[str]:
    """Samples of METRIC-18 without their names."""
    return [f'{{state="{state}",resource="{escaped(name)}"}} {amount}\n' for state, name, amount in samples]
