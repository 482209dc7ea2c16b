"""Routes with a memory of their own: histories, events and health (REST-11, REST-12, REST-28, REST-29)."""

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
    """Memory that routes read. ``health``: of the last round, None before it."""

    #: None if no samples are taken.
    samples: Samples | None
    #: Ring of events; None while they are switched off.
    ring: Callable[[], EventRing | None]
    health: Callable[[], Health | None]
    #: Records of one answer at most.
    batch: Callable[[], int] = lambda: BATCH


def memory_routes(memory: Memory) -> tuple[Route, ...]:
    """Routes of the leader: a standby does not answer them itself (REST-43)."""
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
    """Leave the count for later: open streams are counted first (REST-13)."""
    _ring(memory)
    return Follow(ask)


def _ring(memory: Memory) -> EventRing:
    found = memory.ring()
    if found is None:
        raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "Event tracking is disabled")
    return found


def streamed_before(ask: Ask) -> int:
    """Number of past events that a stream begins with. Raises `Refused`."""
    return _number(ask, "count", 0)


def batch_size(ask: Ask, *, most: int) -> int:
    """As many as wished, at most those; all of them without a wish."""
    count = _number(ask, "count", most)
    if count == 0:
        raise bad_request('0 is not a valid value for "count"')
    return min(count, most)


def _number(ask: Ask, name: str, otherwise: int) -> int:
    """An empty value is none."""
    text = ask.query.get(name, "")
    return whole_number(text) if text else otherwise


def _health(memory: Memory) -> Health:
    found = memory.health()
    if found is None:
        raise Refused(HTTPStatus.NOT_FOUND, "Health check is not available")
    return found
