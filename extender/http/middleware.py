"""Translation of faults into answers, by the table of DESIGN-10. No other module does this.

Filter and bind report a fault with status 200 and an ``Error``. kube-scheduler does not show the text of any
other status at the pod. Answers of prioritize and preempt have no such field.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web

from core.errors import PaddockError
from extender.http.door import Door, Handle
from extender.http.intake import BodyFault, BodyLimits
from extender.verbs.faults import CallFault, DeadlinePassed, NotReady
from extender.verbs.leading import NotLeading
from extender.wire.calls.extender_v1 import BadBody, faulted

Answer = Callable[[bytes], bytes | Awaitable[bytes]]
"""Function that answers a body. An awaitable is cancelled when the caller disconnects."""

Measure = Callable[[str, float, str], None]
"""Function that is called after each call with verb, seconds and fault. Without a fault, that is empty."""

OnBug = Callable[[str, BaseException, bytes], None]

_JSON = "application/json"
_WITH_ERROR_FIELD = ("filter", "bind")


def handler_of(
    verb: str, answer: Answer, door: Door, limits: BodyLimits, *, measure: Measure, on_bug: OnBug
) -> Handle:
    """Make a request handler for a verb. No body makes it raise. It raises only if the caller disconnects."""

    async def handle(request: web.BaseRequest) -> web.Response:
        started = time.perf_counter()
        fault, body = "", b""
        try:
            body = await door.intake.body_of(request, limits)
            door.connections.read(request.transport)
            answered = answer(body)
            response = _ok(answered if isinstance(answered, bytes) else await answered)
        except BodyFault as error:
            fault, response = error.fault, _body_fault(verb, error)
            response.force_close()
        except asyncio.CancelledError:
            # No caller remains to receive an answer.
            measure(verb, time.perf_counter() - started, "hung up" if body else "incomplete body")
            raise
        except BadBody as error:
            fault, response = "bad body", _fault(verb, str(error), status=400)
        except DeadlinePassed as error:
            fault, response = "deadline", _fault(verb, str(error), status=503)
        except NotReady as error:
            fault, response = "not ready", _fault(verb, str(error), status=503)
        except NotLeading as error:
            fault, response = "not leading", _fault(verb, str(error), status=503)
        except CallFault as error:
            fault, response = "call", _fault(verb, str(error), status=503)
        except PaddockError as error:
            fault, response = "outside", _fault(verb, str(error), status=503)
        except Exception as error:  # noqa: BLE001 - a bug must be answered, too, and logged
            fault, response = "bug", _fault(verb, "internal", status=500)
            on_bug(verb, error, body)
        measure(verb, time.perf_counter() - started, fault)
        return response

    return door.watching(handle)


def _ok(body: bytes) -> web.Response:
    return web.Response(body=body, content_type=_JSON)


def _body_fault(verb: str, error: BodyFault) -> web.Response:
    if error.always_a_status:
        return _status(str(error), error.status)
    return _fault(verb, str(error), status=error.status)


def _fault(verb: str, message: str, *, status: int) -> web.Response:
    if verb in _WITH_ERROR_FIELD:
        return _ok(faulted(message))
    return _status(message, status)


def _status(message: str, status: int) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode({"error": message}), content_type=_JSON)
