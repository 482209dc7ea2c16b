"""Handlers of routes that read facts (REST-4). Each raises `Refused` for a request with an error."""

from collections.abc import Callable

from core.ids import QueuePath
from core.queues.queue import Queue
from core.workload.application import Application
from extender.rest.facts import PARTITION, Facts
from extender.rest.model.answer import Answer
from extender.rest.projection import applications as of_applications
from extender.rest.projection.config import config_from, config_yaml
from extender.rest.projection.nodes import one_node
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
from extender.rest.routes.reply import Ask, Plain, not_found
from extender.rest.routes.table import Names

Apps = tuple[Answer, ...]


def clusters(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """List the only cluster."""
    return (cluster_from(facts),)


def partitions(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """List the only partition."""
    return (partition_from(facts),)


def config(facts: Facts, ask: Ask, _names: Names) -> Answer | Plain:
    """Show the configuration as YAML, or as JSON if exactly that is requested."""
    if ask.accept == "application/json":
        return config_from(facts.config)
    text = config_yaml(facts.config)
    return Plain(200, text, content_type="application/x-yaml; charset=UTF-8")


def placement_rules(facts: Facts, _ask: Ask, names: Names) -> Apps:
    """List the placement rules in force."""
    check_partition(names)
    return rules_in_force(facts)


def queues(facts: Facts, _ask: Ask, names: Names) -> Answer:
    """Show the tree of all queues, as one object."""
    check_partition(names)
    return queue_tree(facts)


def queue(facts: Facts, ask: Ask, names: Names) -> Answer:
    """Show one queue. The parameter ``subtree`` counts with any value, even ``false``."""
    check_partition(names)
    return one_queue(facts, queue_in(facts, queue_name_in(names)), subtree="subtree" in ask.query)


def application(facts: Facts, ask: Ask, names: Names) -> Answer:
    """Show one application. Paddock's own parameter ``namespace`` chooses among several with the same id."""
    check_partition(names)
    return of_applications.app_from(facts, _application(facts, ask, names, lambda _: True))


def queue_application(facts: Facts, ask: Ask, names: Names) -> Answer:
    """Show one application of a queue. An id in another queue is not found."""
    path = decoded_again(names["queue"])
    check_partition(names)
    check_queue_name(path)
    leaf = queue_in(facts, path)
    found = _application(facts, ask, names, lambda each: each.queue == leaf.path)
    return of_applications.app_from(facts, found)


def node(facts: Facts, _ask: Ask, names: Names) -> Answer:
    """Show one node."""
    check_partition(names)
    found = one_node(facts, names["node"])
    if found is None:
        raise not_found("Node")
    return found


def users(facts: Facts, _ask: Ask, _names: Names) -> Apps:
    """List the usage of all users. No route of usage checks the name of the partition."""
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


def check_partition(names: Names) -> None:
    """Raise `Refused` unless the path names the only partition."""
    if names["partition"] != PARTITION:
        raise not_found("Partition")


def queue_name_in(names: Names) -> str:
    """Return the path of the queue that a request names. Raises `Refused` for an invalid path."""
    path = decoded_again(names["queue"])
    check_queue_name(path)
    return path


def queue_in(facts: Facts, path: str) -> Queue:
    """Find a queue, ignoring letter case (Q-12). Raises `Refused` if there is none."""
    found = facts.view.tree.get(QueuePath(path))
    if found is None:
        raise not_found("Queue")
    return found


def _application(facts: Facts, ask: Ask, names: Names, fits: Callable[[Application], bool]) -> Application:
    """Find a live application by its id. Of several, take the one in the first namespace."""
    namespace = ask.query.get("namespace")
    for each in facts.view.identities.named(names["application"]):
        if not each.ended and namespace in (None, "", each.id.namespace) and fits(each):
            return each
    raise not_found("Application")
