"""Routes whose answers list pods. Each answer shows one moment and is made in steps (REST-45).

Errors of a request are reported before the first step.
"""

from collections.abc import Callable, Iterable, Iterator

from core.queues.properties import SortPolicy
from core.workload.states import ENDED, AppState
from extender.rest.facts import Facts
from extender.rest.moment import writing
from extender.rest.moment.moment import Moment, Taking
from extender.rest.moment.rows import AppRow
from extender.rest.moment.stored import StoredRows
from extender.rest.routes.handlers import check_partition, queue_in, queue_name_in
from extender.rest.routes.reply import Ask, Big, Reply, bad_request
from extender.rest.routes.table import Names

ACTIVE, REJECTED, COMPLETED = "active", "rejected", "completed"
STATUSES = (
    AppState.NEW,
    AppState.ACCEPTED,
    AppState.RUNNING,
    AppState.COMPLETING,
    AppState.FAILING,
    AppState.RESUMING,
)


class LargeRoutes:
    """Handlers of these routes. ``facts()``: the present facts; ``stored()``: rows stored between answers."""

    def __init__(self, facts: Callable[[], Facts], stored: Callable[[], StoredRows]) -> None:
        self._facts = facts
        self._stored = stored

    def nodes(self, _ask: Ask, names: Names) -> Reply:
        """List all nodes."""
        check_partition(names)
        return self._from_moment(writing.all_nodes)

    def node_utilizations(self, _ask: Ask, _names: Names) -> Reply:
        """Show the utilization of nodes."""
        return self._from_moment(writing.node_utilizations)

    def queue_applications(self, _ask: Ask, names: Names) -> Reply:
        """List the live applications of a queue. The name of the queue is checked before the partition."""
        path = queue_name_in(names)
        check_partition(names)
        leaf = queue_in(self._facts(), path).path
        return self._apps(lambda each: each.queue == leaf)

    def queue_applications_by_state(self, ask: Ask, names: Names) -> Reply:
        """List the live applications of a queue by status."""
        check_partition(names)
        leaf = queue_in(self._facts(), queue_name_in(names)).path
        if names["state"].lower() != ACTIVE:
            raise _wrong_state((ACTIVE,))
        status = self._status(ask)
        return self._apps(lambda each: each.queue == leaf and status in ("", each.state.value.lower()))

    def partition_applications(self, ask: Ask, names: Names) -> Reply:
        """List the applications of the partition by state."""
        check_partition(names)
        match names["state"].lower():
            case "active":
                status = self._status(ask)
                return self._apps(lambda each: status in ("", each.state.value.lower()))
            case "rejected":
                return self._from_moment(lambda moment: writing.ended_applications(moment, rejected=True))
            case "completed":
                return self._from_moment(lambda moment: writing.ended_applications(moment, rejected=False))
            case _:
                raise _wrong_state((ACTIVE, REJECTED, COMPLETED))

    def _apps(self, wanted: Callable[[AppRow], bool]) -> Big:
        """Make the answer with the live applications for which ``wanted`` is true."""

        def written(moment: Moment) -> Iterator[bytes]:
            return writing.applications(moment, _wanted(writing.active_applications(moment), wanted))

        return self._from_moment(written)

    def _from_moment(self, written: Callable[[Moment], Iterator[bytes]]) -> Big:
        def steps() -> Iterator[bytes]:
            taking = Taking(self._facts(), self._stored())
            yield from taking
            yield from written(taking.moment)

        return Big(steps)

    def _status(self, ask: Ask) -> str:
        """Return the requested status in lower case; empty for all."""
        wanted = ask.query.get("status", "").lower()
        allowed = [each.value.lower() for each in _statuses(self._facts())]
        if wanted and wanted not in allowed:
            raise bad_request(f"Only following active statuses are allowed: {', '.join(allowed)}")
        return wanted


def _wanted(rows: Iterable[AppRow], wanted: Callable[[AppRow], bool]) -> list[AppRow]:
    return [each for each in rows if each.state not in ENDED and wanted(each)]


def _statuses(facts: Facts) -> tuple[AppState, ...]:
    """Return the valid statuses. Starting exists only if a queue sorts by it (SORT-8)."""
    aware = any(each.properties.sort_policy is SortPolicy.STATE_AWARE for each in facts.view.tree.leaves())
    return (*STATUSES, AppState.STARTING) if aware else STATUSES


def _wrong_state(allowed: tuple[str, ...]) -> Exception:
    return bad_request(f"Only following application states are allowed: {', '.join(allowed)}")
