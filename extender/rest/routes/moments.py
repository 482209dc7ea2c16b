"""Answers from the ledger. Each shows one moment and is made in steps (REST-45).

Errors of a request are reported before the answer is begun. An object that has gone by then is not found.
"""

from collections.abc import Callable, Iterator

from core.ids import NodeName, QueuePath
from core.queues.properties import SortPolicy
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.facts import PARTITION, Facts
from extender.rest.moment import people, trees, waiting, writing
from extender.rest.moment.moment import Moment, Taking
from extender.rest.moment.rows import AppRow
from extender.rest.moment.stored import StoredRows
from extender.rest.projection.nodes import is_shown
from extender.rest.projection.usage import GROUP, USER
from extender.rest.routes.names import (
    check_group_name,
    check_queue_name,
    check_user_name,
    decoded_again,
    whole_number,
)
from extender.rest.routes.reply import Ask, Big, Reply, bad_request, not_found
from extender.rest.routes.table import Names

ACTIVE, REJECTED, COMPLETED = "active", "rejected", "completed"
PENDING, PENDING_AT_MOST = 100, 1000
"""Pods that wait in one answer: without a wish, and at most."""
STATUSES = (
    AppState.NEW,
    AppState.ACCEPTED,
    AppState.RUNNING,
    AppState.COMPLETING,
    AppState.FAILING,
    AppState.RESUMING,
)

Written = Callable[[Moment], Iterator[bytes]]


class MomentRoutes:
    """Routes to these answers. ``facts()``: the present facts. ``stored()``: rows stored between answers."""

    def __init__(self, facts: Callable[[], Facts], stored: Callable[[], StoredRows]) -> None:
        self._facts = facts
        self._stored = stored

    def _from_moment(self, written: Written) -> Big:
        def steps() -> Iterator[bytes]:
            taking = Taking(self._facts(), self._stored())
            yield from taking
            yield from written(taking.moment)

        return Big(steps)

    # -- partition and queues --------------------------------------------------------------------------------

    def partitions(self, _ask: Ask, _names: Names) -> Reply:
        """List the only partition."""
        return self._from_moment(lambda moment: writing.written_list([writing.partition(moment)]))

    def queues(self, _ask: Ask, names: Names) -> Reply:
        """Show the root with the whole tree, as an object."""
        check_partition(names)
        return self._from_moment(trees.queue_tree)

    def queue(self, ask: Ask, names: Names) -> Reply:
        """Show one queue. The parameter ``subtree`` counts with any value, even ``false``."""
        check_partition(names)
        path, subtree = self._queue_in(queue_name_in(names)), "subtree" in ask.query

        def written(moment: Moment) -> Iterator[bytes]:
            if path not in moment.queues:
                raise not_found("Queue")
            return trees.one_queue(moment, path, subtree=subtree)

        return self._from_moment(written)

    def _queue_in(self, name: str) -> QueuePath:
        """Return the path of a known queue. Letter case does not matter (Q-12)."""
        found = self._facts().view.tree.get(QueuePath(name))
        if found is None:
            raise not_found("Queue")
        return found.path

    # -- nodes -----------------------------------------------------------------------------------------------

    def nodes(self, _ask: Ask, names: Names) -> Reply:
        """List all nodes."""
        check_partition(names)
        return self._from_moment(writing.all_nodes)

    def node(self, _ask: Ask, names: Names) -> Reply:
        """Show one node."""
        check_partition(names)
        name = NodeName(names["node"])
        if not is_shown(self._facts().view, name):
            raise not_found("Node")

        def written(moment: Moment) -> Iterator[bytes]:
            if name not in moment.nodes and name not in moment.on_nodes:
                raise not_found("Node")
            return writing.one_node(moment, name)

        return self._from_moment(written)

    def node_utilizations(self, _ask: Ask, _names: Names) -> Reply:
        """Show the utilization of nodes."""
        return self._from_moment(writing.node_utilizations)

    # -- users and groups ------------------------------------------------------------------------------------

    def users(self, _ask: Ask, _names: Names) -> Reply:
        """List the usage of all users. The routes of usage ignore the partition."""
        return self._from_moment(lambda moment: people.everybody(moment, USER))

    def groups(self, _ask: Ask, _names: Names) -> Reply:
        """List the usage of all groups."""
        return self._from_moment(lambda moment: people.everybody(moment, GROUP))

    def user(self, _ask: Ask, names: Names) -> Reply:
        """Show the usage of one user."""
        name = decoded_again(names["user"])
        check_user_name(name)
        return self._person(USER, name, "User")

    def group(self, _ask: Ask, names: Names) -> Reply:
        """Show the usage of one group."""
        name = decoded_again(names["group"])
        check_group_name(name)
        return self._person(GROUP, name, "Group")

    def _person(self, kind: str, name: str, what: str) -> Big:
        def written(moment: Moment) -> Iterator[bytes]:
            if not (yield from people.one(moment, kind, name)):
                raise not_found(what)

        return self._from_moment(written)

    # -- applications ----------------------------------------------------------------------------------------

    def application(self, ask: Ask, names: Names) -> Reply:
        """Show one application. The parameter ``namespace`` chooses among equal ids; YuniKorn has none."""
        check_partition(names)
        return self._application(ask, names, None)

    def queue_application(self, ask: Ask, names: Names) -> Reply:
        """Show one application of a queue. An id of another queue is not found."""
        path = decoded_again(names["queue"])
        check_partition(names)
        check_queue_name(path)
        return self._application(ask, names, self._queue_in(path))

    def _application(self, ask: Ask, names: Names, leaf: QueuePath | None) -> Big:
        app = self._named(ask, names, leaf).id

        def written(moment: Moment) -> Iterator[bytes]:
            row = moment.apps.get(app)
            if row is None or (leaf is not None and row.queue != leaf):
                raise not_found("Application")
            return writing.one_application(moment, row)

        return self._from_moment(written)

    def _named(self, ask: Ask, names: Names, leaf: QueuePath | None) -> Application:
        """Return the live application with an id. If several namespaces have one, the first is returned."""
        namespace = ask.query.get("namespace")
        for each in self._facts().view.identities.named(names["application"]):
            if namespace in (None, "", each.id.namespace) and leaf in (None, each.queue) and not each.ended:
                return each
        raise not_found("Application")

    def queue_applications(self, _ask: Ask, names: Names) -> Reply:
        """List the live applications of a queue. The name is checked before the partition."""
        path = queue_name_in(names)
        check_partition(names)
        leaf = self._queue_in(path)
        return self._apps(lambda each: each.queue == leaf)

    def queue_applications_by_state(self, ask: Ask, names: Names) -> Reply:
        """List the live applications of a queue by status."""
        check_partition(names)
        leaf = self._queue_in(queue_name_in(names))
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

    def pending(self, ask: Ask, names: Names) -> Reply:
        """List the oldest pods that wait, ``count`` of them. ``node``: one that is reserved for them."""
        check_partition(names)
        queue, node, count = (ask.query.get(name, "") for name in ("queue", "node", "count"))
        check_queue_name(queue)
        wanted = waiting.Wanted(
            min(whole_number(count), PENDING_AT_MOST) if count else PENDING,
            self._queue_in(queue) if queue else None,
            NodeName(node) if node else None,
        )
        return self._from_moment(lambda moment: waiting.pending_pods(moment, wanted))

    def _apps(self, wanted: Callable[[AppRow], bool]) -> Big:
        """List the wanted live applications."""
        return self._from_moment(lambda moment: writing.applications(moment, wanted))

    def _status(self, ask: Ask) -> str:
        """Return the requested status, or an empty text for any."""
        wanted = ask.query.get("status", "").lower()
        allowed = [each.value.lower() for each in _statuses(self._facts())]
        if wanted and wanted not in allowed:
            raise bad_request(f"Only following active statuses are allowed: {', '.join(allowed)}")
        return wanted


def _statuses(facts: Facts) -> tuple[AppState, ...]:
    """Return the statuses that may be requested. Starting exists only where a queue sorts by it (SORT-8)."""
    aware = any(each.properties.sort_policy is SortPolicy.STATE_AWARE for each in facts.view.tree.leaves())
    return (*STATUSES, AppState.STARTING) if aware else STATUSES


def _wrong_state(allowed: tuple[str, ...]) -> Exception:
    return bad_request(f"Only following application states are allowed: {', '.join(allowed)}")


def check_partition(names: Names) -> None:
    """Raise `Refused` unless the path names the only partition."""
    if names["partition"] != PARTITION:
        raise not_found("Partition")


def queue_name_in(names: Names) -> str:
    """Return the queue in the path of a request. Raises `Refused` for an invalid name."""
    path = decoded_again(names["queue"])
    check_queue_name(path)
    return path
