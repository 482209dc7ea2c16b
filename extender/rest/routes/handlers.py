"""Answers that the configuration and the process give, without a look at pods (REST-4)."""

from extender.rest.facts import Facts
from extender.rest.model.answer import Answer
from extender.rest.projection.config import config_from, config_yaml
from extender.rest.projection.partitions import cluster_from
from extender.rest.projection.placement import rules_in_force
from extender.rest.routes.moments import check_partition
from extender.rest.routes.reply import Ask, Plain
from extender.rest.routes.table import Names


def clusters(facts: Facts, _ask: Ask, _names: Names) -> tuple[Answer, ...]:
    """List the only cluster."""
    return (cluster_from(facts),)


def config(facts: Facts, ask: Ask, _names: Names) -> Answer | Plain:
    """Show the configuration as YAML, or as JSON if exactly that is requested."""
    if ask.accept == "application/json":
        return config_from(facts.config)
    text = config_yaml(facts.config)
    return Plain(200, text, content_type="application/x-yaml; charset=UTF-8")


def placement_rules(facts: Facts, _ask: Ask, names: Names) -> tuple[Answer, ...]:
    """List the placement rules in force."""
    check_partition(names)
    return rules_in_force(facts)
