"""Metrics and log lines about watches, effects and connections."""

import time
from collections.abc import Callable, Iterable

from core.ledger.view import LedgerView
from core.queues.tree import over_max
from extender.actions.audit import AuditLine
from extender.identity.caller import Access, AuthenticatedUser
from extender.telemetry.audit_log import write_audit_line
from extender.telemetry.logs import Logger
from extender.telemetry.metrics import Metrics

CLOSED_REPORTED_EVERY = 10.0
"""Seconds between two log lines about closed connections."""

SKEW_WARNED = 5.0
"""Seconds of difference between clocks above which it is logged."""

_LONGEST = 253
"""Characters of a text from a caller in a log line."""


class Reporting:
    """Receiver of the reports of reflectors, effector and listeners."""

    def __init__(
        self, metrics: Metrics, log: Logger, *, unread: Callable[[str, str], None] = lambda *_: None
    ) -> None:
        """``unread``: called with kind and name of an object that could not be read."""
        self._unread = unread
        self._metrics = metrics
        self._log = log
        self._closed_reported_at = float("-inf")
        self._review_reported_at = float("-inf")
        self._passing_reported_at = float("-inf")
        self._skew_warned = False
        self._lacked: frozenset[tuple[str, str, str]] = frozenset()

    def listed(self, kind: str, items: int, seconds: float) -> None:
        """Count and log a complete list of a kind of objects."""
        self._metrics.relists.labels(kind).inc()
        self._log.info("listed all objects of a kind", kind=kind, items=items, seconds=round(seconds, 3))

    def queues_over_max(self, view: LedgerView) -> None:
        """Log the queues that use more than their max at the start."""
        for queue in view.tree:
            excess = over_max(queue)
            if excess is not None:
                text = "queue uses more than its max, so its new pods wait"
                self._log.warning(text, queue=queue.path, excess=dict(excess.items()))

    def undecodable(self, kind: str, name: str, error: str) -> None:
        """Count and log an invalid object."""
        self._metrics.undecodable.labels(kind).inc()
        self._unread(kind, name)
        if kind == "nodes":
            self._metrics.yunikorn.totals.nodes["failed"] += 1
        text = "object is invalid; its last valid version stays in force"
        self._log.warning(text, kind=kind, name=name, error=error)

    def interrupted(self, kind: str, error: Exception, pause: float) -> None:
        """Count and log a broken watch. ``pause``: seconds until the next try."""
        self._metrics.interruptions.labels(kind).inc()
        text = "watch was interrupted and will be tried again after the pause"
        self._log.warning(text, kind=kind, error=str(error), pause=round(pause, 3))

    def failed(self, effect: str, namespace: str, name: str, error: str) -> None:
        """Log an effect that failed. The metric of effects also counts failures without a log line."""
        text = "effect failed after its last attempt"
        self._log.warning(text, effect=effect, namespace=namespace, name=name, error=error)

    def acted(self, line: AuditLine) -> None:
        """Count an action of an administrator, and write its line to the audit log."""
        self._metrics.actions.labels(line.action, line.result).inc()
        write_audit_line(line)

    def clock_differs(self, skew: float) -> None:
        """Record by how many seconds the API server's clock is ahead, and log when the limit is crossed."""
        self._metrics.skew.set(skew)
        if (abs(skew) > SKEW_WARNED) != self._skew_warned:
            self._skew_warned = not self._skew_warned
            log = self._log.warning if self._skew_warned else self._log.info
            far = "more than" if self._skew_warned else "less than"
            text = f"clock differs from the API server's by {far} {SKEW_WARNED:g} s"
            log(text, seconds=round(skew, 1), above_limit=self._skew_warned)

    def rights_missing(self, rights: Iterable[tuple[str, str, str]]) -> None:
        """Log each right that is newly among those that the API server refused: verb, resource and group."""
        before, self._lacked = self._lacked, frozenset(rights)
        for verb, resource, group in sorted(self._lacked - before):
            self._log.warning("role of this account lacks a right", verb=verb, resource=resource, group=group)

    def judged(self, user: AuthenticatedUser, access: Access, allowed: bool) -> None:
        """Log a caller and what it may. A right that is remembered is not logged again."""
        text = "caller has the right" if allowed else "caller lacks the right and is refused"
        self._log.info(text, user=user.name[:_LONGEST], verb=access.verb, target=access.target[:_LONGEST])

    def review_failed(self, kind: str, error: str) -> None:
        """Log a review without a verdict, at most once in ten seconds. ``error``: class of the error."""
        now = time.monotonic()
        if now - self._review_reported_at >= CLOSED_REPORTED_EVERY:
            self._review_reported_at = now
            self._log.warning("review of a caller failed", kind=kind, error=error)

    def passed_on(self, outcome: str, why: str) -> None:
        """Count a read for the leader, and log one in ten seconds of those that it did not answer.

        ``why``: empty if it was answered.
        """
        self._metrics.passed_on.labels(outcome).inc()
        now = time.monotonic()
        if why and now - self._passing_reported_at >= CLOSED_REPORTED_EVERY:
            self._passing_reported_at = now
            self._log.warning("read was not answered by the leader", outcome=outcome, error=why)

    def explained(self, outcome: str) -> None:
        """Count an explanation by what the search for changes found."""
        self._metrics.explanations.labels(outcome).inc()

    def port_not_opened(self, name: str, error: str) -> None:
        """Log a port with a login that could not be opened. Everything else continues."""
        self._log.error("port could not be opened", port=name, error=error)

    def certificate_not_renewed(self, error: str) -> None:
        """Log that the files of the verbs' port cannot be used. What was read before stays in force."""
        self._log.error("certificate of the verbs' port was not renewed", error=error)

    def client_renewed(self, made: float, ends: float) -> None:
        """Note the times of a new certificate for kube-scheduler, in seconds since 1970."""
        self._metrics.client_made.set(made)
        self._metrics.client_ends.set(ends)
        text = "kube-scheduler needs a restart if it started before its certificate was made"
        self._log.info(text, made=made, ends=ends)

    def rest_opened(self, port: int, *, is_open: bool) -> None:
        """Note that the REST port is open. ``is_open``: True if it answers every caller over plain HTTP."""
        self._metrics.rest_open.set(is_open)
        if is_open:
            self._log.warning("REST port answers every caller without TLS", port=port)

    def closed(self, port: str, why: str) -> None:
        """Count and log a connection that was closed before its request was complete.

        At most one line is logged every `CLOSED_REPORTED_EVERY` seconds.
        """
        self._metrics.closed.labels(port, why).inc()
        now = time.monotonic()
        if now - self._closed_reported_at >= CLOSED_REPORTED_EVERY:
            self._closed_reported_at = now
            self._log.warning("connection was closed before its request was complete", port=port, reason=why)
