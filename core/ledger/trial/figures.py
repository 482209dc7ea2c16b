"""Figures of a trial when it is over: what limits and the new node hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.ledger.trial.trial import Trial
from core.queues.limit_state import LimitKey, LimitState, limits_of_ask
from core.resource import Resource
from core.workload.nodes.node import NodeFacts


@dataclass(frozen=True, slots=True)
class Figures:
    """Amounts that are used at the turn of an ask, which they include: of limits, and on the new node."""

    used: Mapping[LimitKey, int]
    on_node: Mapping[str, int]


def figures_of(trial: Trial, size: Resource, node: NodeFacts | None) -> Figures:
    """Figures of a trial that is over. ``node``: its new node. ``size``: of the ask."""
    used = {each.key: each.used for each in limits_after(trial)}
    return Figures(used, used_on(trial, trial.state.cluster.nodes[node.name], size) if node else {})


def limits_after(trial: Trial) -> tuple[LimitState, ...]:
    """Limits on the ask, with all turns counted. A placed ask is a part of the usage of resources."""
    state = trial.state
    record = state.pods.records.get(trial.uid)
    application = state.application_of(record) if record is not None else None
    leaf = state.config.tree.get(application.queue) if application and application.queue else None
    if record is None or application is None or leaf is None:
        return ()
    size = record.facts.size
    found = limits_of_ask(state.quota_check, leaf.chain, application.claimant, size, extra=state.turns.given)
    return tuple(found)


def used_on(trial: Trial, node: NodeFacts, size: Resource) -> dict[str, int]:
    """Amounts of the names of ``size`` that turns hold on a new node."""
    free = trial.state.usage.free_capacity.free_on(node.name)
    return {name: node.allocatable.get(name) - free.get(name, 0) for name in size.names()}
