"""Routes that read stored data: histories, events and health (REST-11, REST-12, REST-28, REST-29)."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from extender.rest.memory.ring import BATCH, EventRing
from extender.rest.memory.samples import Samples
from extender.rest.model.answer import Answer
from extender.rest.model.health import Health
from extender.rest.routes.names import whole_number
from extender.rest.routes.reply import Ask, Follow, Refused, bad_request
from extender.rest.routes.table import Names, Route


@dataclass(frozen=True, slots=True)
class Memory:
    """Data for these routes. ``health()``: result of the last round of checks, None before the first."""

    #: Samples of the past day; None if none are taken.
    samples: Samples | None
    #: Ring of event records; None while events are switched off.
    ring: Callable[[], EventRing | None]
    health: Callable[[], Health | None]
    #: Most records in one answer.
    batch: Callable[[], int] = lambda: BATCH


def memory_routes(memory: Memory) -> tuple[Route, ...]:
    """Return the routes. Only the leader answers them (REST-43)."""
    return (
        Route("/ws/v1/history/apps", lambda _ask, _names: _samples(memory).applications()),
        Route("/ws/v1/history/containers", lambda _ask, _names: _samples(memory).containers()),
        Route("/ws/v1/events/batch", lambda ask, names: _batch(memory, ask, names)),
        Route("/ws/v1/events/stream", lambda ask, _names: _stream(memory, ask)),
        Route("/ws/v1/scheduler/healthcheck", lambda _ask, _names: _health(memory)),
    )


def _samples(memory: Memory) -> Samples:
    if memory.samples is None:
        raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal metrics collection is not enabled.")
    return memory.samples


def _batch(memory: Memory, ask: Ask, _names: Names) -> Answer:
    ring = _ring(memory)
    count = batch_size(ask, most=memory.batch())
    return ring.batch(_number(ask, "start", 0), count)


def _stream(memory: Memory, ask: Ask) -> Follow:
    """Follow the events. The parameter is checked after the number of open streams (REST-13)."""
    _ring(memory)
    return Follow(ask)


def _ring(memory: Memory) -> EventRing:
    found = memory.ring()
    if found is None:
        raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "Event tracking is disabled")
    return found


def streamed_before(ask: Ask) -> int:
    """Return the number of past events with which a stream begins. Raises `Refused` for an invalid number."""
    return _number(ask, "count", 0)


def batch_size(ask: Ask, *, most: int) -> int:
    """Return the requested number of records, at most ``most``. Without a request it is ``most``."""
    count = _number(ask, "count", most)
    if count == 0:
        raise bad_request('0 is not a valid value for "count"')
    return min(count, most)


def _number(ask: Ask, name: str, otherwise: int) -> int:
    """Read a number from the query. ``otherwise``: result without a value, or with an empty one."""
    text = ask.query.get(name, "")
    return whole_number(text) if text else otherwise


def _health(memory: Memory) -> Health:
    found = memory.health()
    if found is None:
        raise Refused(HTTPStatus.NOT_FOUND, "Health check is not available")
    return found
