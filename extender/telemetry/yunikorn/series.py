"""All of YuniKorn's series. Events update them, and scrapes read them in pieces."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from extender.telemetry.lines import Family, escaped, heading, name_part, sample
from extender.telemetry.queue_texts import QueueTexts
from extender.telemetry.yunikorn import families as of
from extender.telemetry.yunikorn.application_changes import ApplicationChanges
from extender.telemetry.yunikorn.calls import Calls
from extender.telemetry.yunikorn.node_changes import NodeChanges
from extender.telemetry.yunikorn.pod_changes import PodChanges
from extender.telemetry.yunikorn.standing import ApplicationsNow, NodesNow
from extender.telemetry.yunikorn.totals import Totals

AT_ONCE: Final = 10
"""Queues whose lines form a piece."""


_UNCOUNTED: Final = frozenset({on.FilterCalled, on.PodAdmitted, on.BindCalled, on.CycleDue, on.PodWoken})
"""Types of events that change nothing that is counted, and that come for each pod."""


class YuniKornSeries:
    """All of YuniKorn's series. ``queue_names()``: True to export series named after queues (METRIC-18)."""

    def __init__(
        self, view: Callable[[], LedgerView], texts: QueueTexts, *, queue_names: Callable[[], bool]
    ) -> None:
        self._view = view
        self._texts = texts
        self._queue_names = queue_names
        self.totals = Totals()
        self.calls = Calls()
        self.nodes = NodesNow()
        self._pods = PodChanges(view, self.totals)
        self._applications = ApplicationChanges(view, self.totals, self._pods)
        self._nodes = NodeChanges(self.totals)
        self._standing = ApplicationsNow()

    # -- events --------------------------------------------------------------------------------------------

    def learned(self, event: on.Event) -> None:
        """Count the changes of an event that the ledger has applied. Cost: O(1), except for a whole list."""
        if type(event) in _UNCOUNTED:
            return
        if isinstance(event, (on.PodObserved, on.PodOffered, on.PodRead)):
            self._notice(event.pod.uid)
            return
        if isinstance(event, (on.PodDeleted, on.PodBound)):
            self._notice(event.uid)
            return
        match event:
            case on.PodsListed():
                self._pods.notice_deleted()
            case on.ObjectObserved() | on.ObjectDeleted() | on.ObjectsListed():
                self._nodes.learned(event)
            case on.PreemptionTried(uid):
                self.calls.begin_attempt(uid)
            case on.TimePassed():
                self._pods.check_some()
                self._applications.check_some()
            case on.CleanerDue():
                self.totals.forget_pods(self._view().tree)
            case _:
                pass

    def _notice(self, uid: PodUid) -> None:
        record = self._pods.notice(uid)
        if record is not None and record.membership.application is not None:
            self._applications.notice(record.membership.application)

    # -- scrapes -------------------------------------------------------------------------------------------

    def refresh(self) -> Iterator[None]:
        """Count everything that events do not count, with pauses. The texts of queues must be refreshed."""
        view = self._view()
        yield from self._applications.notice_known()
        shown = {queue.path for queue in self._texts.queues}
        yield from self._standing.refresh(view, shown.__contains__)
        yield from self.nodes.refresh(view)

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces. Must be called after `refresh`."""
        yield self._totals_text()
        yield self.calls.text()
        yield self._nodes_text()
        queues = self._texts.queues
        leaves = [queue for queue in queues if queue.is_leaf]
        yield heading(of.QUEUE_RESOURCE)
        yield from _joined(self._texts.of(queue).resource for queue in queues)
        yield heading(of.QUEUE_APPLICATIONS)
        yield from _joined(self._applications_of(queue.path) for queue in leaves)
        yield self._applications_of(of.OTHER)
        yield heading(of.QUEUE_ENDS)
        ended = {*self.totals.ended_in, of.OTHER, *(queue.path for queue in leaves)}
        yield from _joined(self._ends_of(path) for path in sorted(ended))
        yield from _joined(self._named_after_path(queues))

    def _totals_text(self) -> str:
        totals, now = self.totals, self._standing.states
        standing = {**{state: now[state] for state in of.NOW}, **{end: totals.ended[end] for end in of.EVER}}
        return (
            _family(of.ATTEMPTS, ((state, totals.pods[state]) for state in of.PODS))
            + _family(of.SUBMISSIONS, ((result, totals.submissions[result]) for result in of.RESULTS))
            + _family(of.SCHEDULER_APPLICATIONS, standing.items())
        )

    def _nodes_text(self) -> str:
        nodes = self.nodes
        states = {"active": nodes.active, "draining": nodes.draining}
        states |= {state: self.totals.nodes[state] for state in of.NODES_EVER}
        usage = (
            _family(of.NODE_USAGE.named(part), zip(of.RANGES, counts, strict=True))
            for part, counts in nodes.usage.items()
        )
        return _family(of.NODES, states.items()) + "".join(usage)

    def _counts_of(self, path: str) -> Iterator[tuple[str, int]]:
        """States of METRIC-13 and their numbers."""
        now = self._standing.by_queue.get(path, _NONE)
        ended = self.totals.ended_in.get(path, _NONE)
        yield from ((state, now[state]) for state in of.NOW_IN_QUEUE)
        yield from ((state, ended[state]) for state in of.ENDS)

    def _applications_of(self, path: str) -> str:
        begin = f'{of.QUEUE_APPLICATIONS.name}{{queue="{escaped(path)}",state="'
        return "".join(f'{begin}{state}"}} {count}\n' for state, count in self._counts_of(path))

    def _ends_of(self, path: str) -> str:
        begin, ended = (
            f'{of.QUEUE_ENDS.name}{{queue="{escaped(path)}",state="',
            self.totals.ended_in.get(path),
        )
        return "".join(f'{begin}{state}"}} {ended[state] if ended else 0}\n' for state in of.ENDS)

    # -- names that contain a path -------------------------------------------------------------------------

    def _named_after_path(self, queues: list[Queue]) -> Iterator[str]:
        """Series named after paths (METRIC-15, METRIC-18). If two names are equal, the first is exported."""
        named, wanted = set(), self._queue_names()
        for queue in queues:
            part = name_part(queue.path)
            if part not in named:
                named.add(part)
                yield self._pods_of(queue, part) if queue.is_leaf else ""
                yield self._by_path(queue, part) if wanted else ""

    def _pods_of(self, queue: Queue, part: str) -> str:
        counts = self.totals.pods_in.get(queue.path, _NONE)
        return _family(of.PATH_PODS.named(part), ((state, counts[state]) for state in of.PODS_OF_QUEUE))

    def _by_path(self, queue: Queue, part: str) -> str:
        resource = of.PATH_RESOURCE.named(part)
        lines = self._texts.of(queue).by_path
        text = heading(resource) + "".join([f"{resource.name}{line}" for line in lines])
        if queue.is_leaf:
            text += _family(of.PATH_APPLICATIONS.named(part), self._counts_of(queue.path))
        return text


_NONE: Counter[str] = Counter()


def _family(family: Family, counts: Iterable[tuple[str, int]]) -> str:
    """Text of a family with one label."""
    (label,) = family.labels
    return heading(family) + "".join(sample(family.name, ((label, value),), n) for value, n in counts)


def _joined(texts: Iterable[str]) -> Iterator[str]:
    """Join texts into larger pieces."""
    some: list[str] = []
    for text in texts:
        some.append(text)
        if len(some) == AT_ONCE:
            yield "".join(some)
            some = []
    yield "".join(some)
