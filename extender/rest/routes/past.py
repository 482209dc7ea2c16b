"""Route for the past of a queue (REST-50)."""

from collections.abc import Callable

from core.durations import seconds_of
from core.ids import QueuePath
from core.ledger.view import LedgerView
from extender.rest.history.answer import queue_past
from extender.rest.history.past import Past
from extender.rest.history.rows import MOST_RESOURCES
from extender.rest.history.spans import DAY, TICK
from extender.rest.routes.names import check_queue_name, decoded_again
from extender.rest.routes.reply import Ask, Big, Reply, bad_request, not_found
from extender.rest.routes.table import Names, Route

PATH = "/ws/v1/history/queue/:queue"

_HOUR = "1h"
_LONGEST_NAME = 1000
_SHOWN = 80


def past_routes(past: Past, view: Callable[[], LedgerView], clock: Callable[[], float]) -> tuple[Route, ...]:
    """``clock()``: the ledger's."""

    def answer(ask: Ask, names: Names) -> Reply:
        name = decoded_again(names["queue"])
        check_queue_name(name)
        seconds, wanted = span_in(ask), resources_in(ask)
        path = _path_of(past, view(), name)
        return Big(lambda: queue_past(past, path, wanted, seconds=seconds, now=clock()))

    return (Route(PATH, answer),)


def _path_of(past: Past, view: LedgerView, name: str) -> QueuePath:
    """Path of a queue that exists, or of a removed one that is remembered (Q-12)."""
    queue = view.tree.get(name)
    if queue is not None:
        return queue.path
    for each in (QueuePath(name), QueuePath(name.lower())):
        if past.of(each):
            return each
    raise not_found("Queue")


def span_in(ask: Ask) -> float:
    """Return the seconds that are asked for; an hour by default. Raises `Refused` beyond a day."""
    text = ask.query.get("span", "") or _HOUR
    try:
        seconds = seconds_of(text)
    except ValueError as error:
        raise bad_request(f'"span" is {text[:_SHOWN]!r}, which {error}') from None
    if not 0 < seconds <= DAY * TICK:
        raise bad_request(f'"span" is {text[:_SHOWN]!r}, which must be above 0 and at most 24h')
    return seconds


def resources_in(ask: Ask) -> tuple[str, ...]:
    """Return the resources that are asked for; empty for all. Raises `Refused` for an invalid list."""
    text = ask.query.get("resource", "")
    names = tuple(text.split(",")) if text else ()
    if len(names) > MOST_RESOURCES:
        raise bad_request(f'"resource" has more than {MOST_RESOURCES} names')
    if not all(0 < len(name) <= _LONGEST_NAME for name in names):
        raise bad_request(f'"resource" is {text[:_SHOWN]!r}, which must be names separated by commas')
    return names
