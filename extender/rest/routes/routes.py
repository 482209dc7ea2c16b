"""Routes that are answered from the ledger. Each request reads the present facts (REST-4)."""

from collections.abc import Callable

from extender.rest.facts import Facts
from extender.rest.moment.stored import StoredRows
from extender.rest.routes import handlers
from extender.rest.routes.moments import MomentRoutes
from extender.rest.routes.reply import Ask, Plain, Reply, redirect
from extender.rest.routes.table import Names, Route

_PARTITION = "/ws/v1/partition/:partition"

FromFacts = Callable[[Facts, Ask, Names], Reply]
FromMoment = Callable[[MomentRoutes, Ask, Names], Reply]

PATHS: dict[str, FromFacts] = {
    "/ws/v1/clusters": handlers.clusters,
    "/ws/v1/config": handlers.config,
    f"{_PARTITION}/placementrules": handlers.placement_rules,
}
"""Paths that are answered at once.

Histories, health, events and the dump need other data.
"""

IN_STEPS: dict[str, FromMoment] = {
    "/ws/v1/partitions": MomentRoutes.partitions,
    f"{_PARTITION}/queues": MomentRoutes.queues,
    f"{_PARTITION}/queue/:queue": MomentRoutes.queue,
    f"{_PARTITION}/queue/:queue/applications": MomentRoutes.queue_applications,
    f"{_PARTITION}/queue/:queue/applications/:state": MomentRoutes.queue_applications_by_state,
    f"{_PARTITION}/queue/:queue/application/:application": MomentRoutes.queue_application,
    f"{_PARTITION}/applications/:state": MomentRoutes.partition_applications,
    f"{_PARTITION}/application/:application": MomentRoutes.application,
    f"{_PARTITION}/pending": MomentRoutes.pending,
    f"{_PARTITION}/nodes": MomentRoutes.nodes,
    f"{_PARTITION}/node/:node": MomentRoutes.node,
    f"{_PARTITION}/usage/users": MomentRoutes.users,
    f"{_PARTITION}/usage/user/:user": MomentRoutes.user,
    f"{_PARTITION}/usage/groups": MomentRoutes.groups,
    f"{_PARTITION}/usage/group/:group": MomentRoutes.group,
    "/ws/v1/scheduler/node-utilizations": MomentRoutes.node_utilizations,
}
"""Paths whose answers are of one moment and made in steps."""

MOVED = {"/ws/v1/fullstatedump": "/debug/fullstatedump", "/ws/v1/stack": "/debug/stack"}


def ledger_routes(facts: Callable[[], Facts], stored: Callable[[], StoredRows]) -> tuple[Route, ...]:
    """Return the routes. ``facts()``: the present facts. ``stored()``: rows stored between answers."""
    answered = (Route(path, _on(facts, handler)) for path, handler in PATHS.items())
    moved = (Route(path, _moved(to), waits=False) for path, to in MOVED.items())
    of_moment = MomentRoutes(facts, stored)
    in_steps = (Route(path, _in_steps(of_moment, answer)) for path, answer in IN_STEPS.items())
    return (*answered, *in_steps, *moved)


def _in_steps(of_moment: MomentRoutes, answer: FromMoment) -> Callable[[Ask, Names], Reply]:
    return lambda ask, names: answer(of_moment, ask, names)


def _on(facts: Callable[[], Facts], handler: FromFacts) -> Callable[[Ask, Names], Reply]:
    return lambda ask, names: handler(facts(), ask, names)


def _moved(to: str) -> Callable[[Ask, Names], Plain]:
    return lambda _ask, _names: redirect(to)
