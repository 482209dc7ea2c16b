"""Routes that are answered from the ledger. Each request reads the present facts (REST-4)."""

from collections.abc import Callable

from extender.rest.facts import Facts
from extender.rest.moment.stored import StoredRows
from extender.rest.routes import handlers
from extender.rest.routes.large import LargeRoutes
from extender.rest.routes.reply import Ask, Plain, Reply
from extender.rest.routes.table import Names, Route, redirect

_PARTITION = "/ws/v1/partition/:partition"

FromFacts = Callable[[Facts, Ask, Names], Reply]
FromMoment = Callable[[LargeRoutes, Ask, Names], Reply]

PATHS: dict[str, FromFacts] = {
    "/ws/v1/clusters": handlers.clusters,
    "/ws/v1/config": handlers.config,
    "/ws/v1/partitions": handlers.partitions,
    f"{_PARTITION}/placementrules": handlers.placement_rules,
    f"{_PARTITION}/queues": handlers.queues,
    f"{_PARTITION}/queue/:queue": handlers.queue,
    f"{_PARTITION}/queue/:queue/application/:application": handlers.queue_application,
    f"{_PARTITION}/application/:application": handlers.application,
    f"{_PARTITION}/node/:node": handlers.node,
    f"{_PARTITION}/usage/users": handlers.users,
    f"{_PARTITION}/usage/user/:user": handlers.user,
    f"{_PARTITION}/usage/groups": handlers.groups,
    f"{_PARTITION}/usage/group/:group": handlers.group,
}
"""Paths that are answered at once, from the ledger alone.

Histories, health, events and the dump need other data.
"""

LARGE: dict[str, FromMoment] = {
    f"{_PARTITION}/queue/:queue/applications": LargeRoutes.queue_applications,
    f"{_PARTITION}/queue/:queue/applications/:state": LargeRoutes.queue_applications_by_state,
    f"{_PARTITION}/applications/:state": LargeRoutes.partition_applications,
    f"{_PARTITION}/nodes": LargeRoutes.nodes,
    "/ws/v1/scheduler/node-utilizations": LargeRoutes.node_utilizations,
}
"""Paths with answers that list pods. These answers are made in steps."""

MOVED = {"/ws/v1/fullstatedump": "/debug/fullstatedump", "/ws/v1/stack": "/debug/stack"}


def ledger_routes(facts: Callable[[], Facts], stored: Callable[[], StoredRows]) -> tuple[Route, ...]:
    """Return all routes. ``facts()``: the present facts; ``stored()``: rows of large answers."""
    answered = (Route(path, _on(facts, handler)) for path, handler in PATHS.items())
    moved = (Route(path, _moved(to), waits=False) for path, to in MOVED.items())
    large = LargeRoutes(facts, stored)
    in_steps = (Route(path, _in_steps(large, answer)) for path, answer in LARGE.items())
    return (*answered, *in_steps, *moved)


def _in_steps(large: LargeRoutes, answer: FromMoment) -> Callable[[Ask, Names], Reply]:
    return lambda ask, names: answer(large, ask, names)


def _on(facts: Callable[[], Facts], handler: FromFacts) -> Callable[[Ask, Names], Reply]:
    return lambda ask, names: handler(facts(), ask, names)


def _moved(to: str) -> Callable[[Ask, Names], Plain]:
    return lambda _ask, _names: redirect(to)
