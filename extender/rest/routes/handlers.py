"""Answers from the configuration and the process. No pod is read (REST-4)."""

from extender.rest.facts import Facts
from extender.rest.model.answer import Answer
from extender.rest.moment.configuration import config_as_json, config_as_yaml
from extender.rest.projection.partitions import cluster_from
from extender.rest.projection.placement import rules_in_force
from extender.rest.routes.moments import check_partition
from extender.rest.routes.reply import Ask, Big
from extender.rest.routes.table import Names


def clusters(facts: Facts, _ask: Ask, _names: Names) -> tuple[Answer, ...]:
    """List the only cluster."""
    return (cluster_from(facts),)


def config(facts: Facts, ask: Ask, _names: Names) -> Big:
    """Show the configuration as YAML, or as JSON if exactly that is requested."""
    in_force = facts.config
    if ask.accept == "application/json":
        return Big(lambda: config_as_json(in_force))
    return Big(lambda: config_as_yaml(in_force), content_type="application/x-yaml; charset=UTF-8")


def placement_rules(facts: Facts, _ask: Ask, names: Names) -> tuple[Answer, ...]:
    """List the placement rules in force."""
    check_partition(names)
    return rules_in_force(facts)
