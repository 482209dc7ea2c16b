"""Reports of the parts that talk to the network, as metrics and log lines."""

import time

from extender.telemetry.logs import Logger
from extender.telemetry.metrics import Metrics

CLOSED_REPORTED_EVERY = 10.0
"""Seconds between two log lines about closed connections."""


class Reporting:
    """Metrics and log lines for what reflectors, the effector and the listeners report."""

    def __init__(self, metrics: Metrics, log: Logger) -> None:
        self._metrics = metrics
        self._log = log
        self._closed_reported_at = float("-inf")

    def listed(self, kind: str, items: int, seconds: float) -> None:
        self._metrics.relists.labels(kind).inc()
        self._log.info("listed", kind=kind, items=items, seconds=round(seconds, 3))

    def undecodable(self, kind: str, name: str, error: str) -> None:
        self._metrics.undecodable.labels(kind).inc()
        if kind == "nodes":
            self._metrics.yunikorn.totals.nodes["failed"] += 1
        self._log.warning("object not readable", kind=kind, name=name, error=error)

    def interrupted(self, kind: str, error: Exception, pause: float) -> None:
        self._metrics.interruptions.labels(kind).inc()
        self._log.warning("watch interrupted", kind=kind, error=str(error), pause=round(pause, 3))

    def failed(self, effect: str, namespace: str, name: str, error: str) -> None:
        """An effect came to nothing; the metric of effects counts those that are not told of."""
        self._log.warning("effect failed", effect=effect, namespace=namespace, name=name, error=error)

    def closed(self, port: str, why: str) -> None:
        """A connection was closed before its request was whole; of many, one line in ten seconds."""
        self._metrics.closed.labels(port, why).inc()
        now = time.monotonic()
        if now - self._closed_reported_at >= CLOSED_REPORTED_EVERY:
            self._closed_reported_at = now
            self._log.warning("connection closed", port=port, reason=why)
