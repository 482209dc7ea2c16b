"""Samples of the past day, one for each minute (REST-28, REST-29)."""

from collections import deque
from typing import NamedTuple

from core.ledger.view import LedgerView
from core.workload.states import AppState
from extender.rest.model.histories import ApplicationSample, ContainerSample
from extender.rest.projection.units import nanoseconds

EVERY = 60.0
"""Seconds between two samples."""

MOST = 1440


class Sample(NamedTuple):
    """Counts at one minute."""

    #: Time in seconds since 1970.
    at: float
    #: Number of running applications.
    applications: int
    #: Number of managed pods on nodes.
    containers: int


class Samples:
    """Newest samples. There are none in the first minute."""

    def __init__(self, *, started: float, most: int = MOST) -> None:
        self._due = started + EVERY
        self._samples: deque[Sample] = deque(maxlen=most)

    def pass_time(self, view: LedgerView, *, now: float) -> None:
        """Take a sample if a minute has passed. Missed minutes get no sample.

        Cost: O(running applications).
        """
        if now < self._due:
            return
        self._due += EVERY * (1 + (now - self._due) // EVERY)
        self._samples.append(sample_of(view, now=now))

    def applications(self) -> tuple[ApplicationSample, ...]:
        """Return the numbers of running applications, oldest first."""
        return tuple(
            ApplicationSample(timestamp=nanoseconds(each.at), total_applications=str(each.applications))
            for each in self._samples
        )

    def containers(self) -> tuple[ContainerSample, ...]:
        """Return the numbers of managed pods on nodes, oldest first."""
        return tuple(
            ContainerSample(timestamp=nanoseconds(each.at), total_containers=str(each.containers))
            for each in self._samples
        )


def sample_of(view: LedgerView, *, now: float) -> Sample:
    """Count applications and pods now."""
    root = view.tree.root
    found = (view.application(app_id) for app_id in root.running)
    running = sum(1 for each in found if each is not None and each.state is AppState.RUNNING)
    # Each pod counts 1 of `pods`.
    return Sample(now, running, root.allocated.get("pods"))
