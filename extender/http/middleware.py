"""Faults into answers: the fault table of design section 10, and nothing else maps one.

A fault of filter and bind is an answer of its own (200 with ``Error``), because the text of another status
never reaches the pod; prioritize and preempt have no such field.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

import aiohttp
import msgspec
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from core.errors import PaddockError
from extender.verbs import CallFault, DeadlinePassed, NotReady
from extender.wire.extender_v1 import BadBody, faulted

Answer = Callable[[bytes], bytes | Awaitable[bytes]]
"""One that takes its time is cancelled when its caller hangs up."""

Measure = Callable[[str, float, str], None]
"""Told after each call: verb, seconds, fault (empty without one)."""

OnBug = Callable[[str, BaseException, bytes], None]

_JSON = "application/json"
_WITH_ERROR_FIELD = ("filter", "bind")

_BROKEN_OFF = (web.RequestPayloadError, aiohttp.ClientError, HttpProcessingError, OSError)
"""What reading a body raises when the caller hangs up or sends what its headers did not promise."""


def handler_of(
    verb: str, answer: Answer, *, most_bytes: int, measure: Measure, on_bug: OnBug
) -> Callable[[web.BaseRequest], Awaitable[web.Response]]:
    """A request handler around one verb. It never raises, whatever comes in, unless its caller hangs up."""

    async def handle(request: web.BaseRequest) -> web.Response:
        started = time.perf_counter()
        fault, body = "", b""
        try:
            body = await _body_of(request, most_bytes)
            answered = answer(body)
            response = _ok(answered if isinstance(answered, bytes) else await answered)
        except _TooLarge as error:
            fault, response = "too large", _fault(verb, str(error), status=400)
            response.force_close()
        except _Incomplete as error:
            fault, response = "incomplete body", _fault(verb, str(error), status=400)
            response.force_close()
        except asyncio.CancelledError:
            # Nobody is left to answer.
            measure(verb, time.perf_counter() - started, "hung up" if body else "incomplete body")
            raise
        except BadBody as error:
            fault, response = "bad body", _fault(verb, str(error), status=400)
        except DeadlinePassed as error:
            fault, response = "deadline", _fault(verb, str(error), status=503)
        except NotReady as error:
            fault, response = "not ready", _fault(verb, str(error), status=503)
        except CallFault as error:
            fault, response = "call", _fault(verb, str(error), status=503)
        except PaddockError as error:
            fault, response = "outside", _fault(verb, str(error), status=503)
        except Exception as error:  # noqa: BLE001 - a bug must be an answer, with its story in the log
            fault, response = "bug", _fault(verb, "internal", status=500)
            on_bug(verb, error, body)
        measure(verb, time.perf_counter() - started, fault)
        return response

    return handle


class _TooLarge(PaddockError):
    pass


class _Incomplete(PaddockError):
    pass


async def _body_of(request: web.BaseRequest, most_bytes: int) -> bytes:
    """The body, unless it is larger than one may be: then not a byte of it is kept."""
    length = request.content_length
    if length is not None and length > most_bytes:
        raise _TooLarge(f"body of {length} bytes is above the limit of {most_bytes}")
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise _TooLarge(f"body is above the limit of {most_bytes} bytes") from error
    except _BROKEN_OFF as error:
        raise _Incomplete(f"body did not arrive whole: {type(error).__name__}") from error


def _ok(body: bytes) -> web.Response:
    return web.Response(body=body, content_type=_JSON)


def _fault(verb: str, message: str, *, status: int) -> web.Response:
    if verb in _WITH_ERROR_FIELD:
        return _ok(faulted(message))
    return web.Response(status=status, body=msgspec.json.encode({"error": message}), content_type=_JSON)
