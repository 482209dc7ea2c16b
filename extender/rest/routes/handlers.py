"""Answers of each route, from facts (REST-4). Raises `Refused` for what cannot be answered."""

from collections.abc import Callable, Iterable

from core.ids import QueuePath
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.states import AppState
from extender.rest.facts import PARTITION, Facts
from extender.rest.model.answer import Answer
from extender.rest.projection import applications as of_applications
from extender.rest.projection.config import config_from, config_yaml
from extender.rest.projection.nodes import all_nodes, one_node, utilizations
from extender.rest.projection.partitions import cluster_from, partition_from
from extender.rest.projection.placement import rules_in_force
from extender.rest.projection.queues import one_queue, queue_tree
from extender.rest.projection.usage import all_groups, all_users, one_group, one_user
from extender.rest.routes.names import (
    check_group_name,
    check_queue_name,
    check_user_name,
    decoded_again,
)
from extender.rest.routes.reply import Ask, Plain, bad_request, not_found
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

Apps = tuple[Answer, ...]


def clusters(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """List the only cluster."""
    return (cluster_from(facts),)


def partitions(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """List the only partition."""
    return (partition_from(facts),)


def config(facts: Facts, ask: Ask, _names: Names) -> Answer | Plain:
    """JSON only for exactly that wish."""
    if ask.accept == "application/json":
        return config_from(facts.config)
    text = config_yaml(facts.config)
    return Plain(200, text, content_type="application/x-yaml; charset=UTF-8")


def placement_rules(facts: Facts, _ask: Ask, names: Names) -> Apps:
    """List the placement rules in force."""
    _check_partition(names)
    return rules_in_force(facts)


def queues(facts: Facts, _ask: Ask, names: Names) -> Answer:
    """An object: the root with the whole tree."""
    _check_partition(names)
    return queue_tree(facts)


def queue(facts: Facts, ask: Ask, names: Names) -> Answer:
    """``subtree``: with any value, even ``false``."""
    _check_partition(names)
    return one_queue(facts, _queue(facts, _queue_name(names)), subtree="subtree" in ask.query)


def queue_applications(facts: Facts, _ask: Ask, names: Names) -> Apps:
    """The name is checked before the partition."""
    path = _queue_name(names)
    _check_partition(names)
    return _apps(facts, of_applications.applications_of(facts, _queue(facts, path)))


def queue_applications_by_state(facts: Facts, ask: Ask, names: Names) -> Apps:
    """List the live applications of a queue."""
    _check_partition(names)
    leaf = _queue(facts, _queue_name(names))
    if names["state"].lower() != ACTIVE:
        raise _wrong_state((ACTIVE,))
    return _apps(facts, _with_status(facts, ask, of_applications.applications_of(facts, leaf)))


def partition_applications(facts: Facts, ask: Ask, names: Names) -> Apps:
    """List the applications of the partition."""
    _check_partition(names)
    match names["state"].lower():
        case "active":
            return _apps(facts, _with_status(facts, ask, of_applications.active_applications(facts)))
        case "rejected":
            return _apps(facts, of_applications.rejected_applications(facts))
        case "completed":
            return _apps(facts, of_applications.completed_applications(facts))
        case _:
            raise _wrong_state((ACTIVE, REJECTED, COMPLETED))


def application(facts: Facts, ask: Ask, names: Names) -> Answer:
    """``namespace``: which of several with that id; YuniKorn has no such parameter."""
    _check_partition(names)
    return of_applications.app_from(facts, _application(facts, ask, names, lambda _: True))


def queue_application(facts: Facts, ask: Ask, names: Names) -> Answer:
    """A right id under the wrong queue is none."""
    path = decoded_again(names["queue"])
    _check_partition(names)
    check_queue_name(path)
    leaf = _queue(facts, path)
    found = _application(facts, ask, names, lambda each: each.queue == leaf.path)
    return of_applications.app_from(facts, found)


def nodes(facts: Facts, _ask: Ask, names: Names) -> Apps:
    """List all nodes."""
    _check_partition(names)
    return all_nodes(facts)


def node(facts: Facts, _ask: Ask, names: Names) -> Answer:
    """Show one node."""
    _check_partition(names)
    found = one_node(facts, names["node"])
    if found is None:
        raise not_found("Node")
    return found


def node_utilizations(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """Show how full nodes are."""
    return (utilizations(facts, all_nodes(facts)),)


def users(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """The partition is not looked at, here and in the other routes of usage."""
    return all_users(facts)


def user(facts: Facts, _ask: Ask, names: Names) -> Answer:
    """Show the usage of one user."""
    name = decoded_again(names["user"])
    check_user_name(name)
    found = one_user(facts, name)
    if found is None:
        raise not_found("User")
    return found


def groups(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """List the usage of all groups."""
    return all_groups(facts)


def group(facts: Facts, _ask: Ask, names: Names) -> Answer:
    """Show the usage of one group."""
    name = decoded_again(names["group"])
    check_group_name(name)
    found = one_group(facts, name)
    if found is None:
        raise not_found("Group")
    return found


def _check_partition(names: Names) -> None:
    if names["partition"] != PARTITION:
        raise not_found("Partition")


def _queue_name(names: Names) -> str:
    path = decoded_again(names["queue"])
    check_queue_name(path)
    return path


def _queue(facts: Facts, path: str) -> Queue:
    """Letter case does not matter (Q-12)."""
    found = facts.view.tree.get(QueuePath(path))
    if found is None:
        raise not_found("Queue")
    return found


def _application(facts: Facts, ask: Ask, names: Names, fits: Callable[[Application], bool]) -> Application:
    """A live one by its id; of several namespaces that have one the first."""
    namespace = ask.query.get("namespace")
    for each in facts.view.identities.named(names["application"]):
        if not each.ended and namespace in (None, "", each.id.namespace) and fits(each):
            return each
    raise not_found("Application")


def _apps(facts: Facts, found: Iterable[Application]) -> Apps:
    return tuple(of_applications.app_from(facts, each) for each in found)


def _with_status(facts: Facts, ask: Ask, found: list[Application]) -> list[Application]:
    wanted = ask.query.get("status", "").lower()
    allowed = [each.value.lower() for each in _statuses(facts)]
    if not wanted:
        return found
    if wanted not in allowed:
        raise bad_request(f"Only following active statuses are allowed: {', '.join(allowed)}")
    return [each for each in found if each.state.value.lower() == wanted]


def _statuses(facts: Facts) -> tuple[AppState, ...]:
    """Starting is a state only where a queue sorts by it (SORT-8)."""
    aware = any(each.properties.sort_policy is SortPolicy.STATE_AWARE for each in facts.view.tree.leaves())
    return (*STATUSES, AppState.STARTING) if aware else STATUSES


def _wrong_state(allowed: tuple[str, ...]) -> Exception:
    return bad_request(f"Only following application states are allowed: {', '.join(allowed)}")
