"""Translation of faults into answers, by the table of DESIGN-10. No other module does this.

Filter and bind report a fault with status 200 and an ``Error``. kube-scheduler does not show the text of any
other status at the pod. Answers of prioritize and preempt have no such field.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec

from core.errors import PaddockError
from extender.http.intake import BodyFault
from extender.verbs.faults import CallFault, DeadlinePassed, NotReady
from extender.verbs.leading import NotLeading
from extender.wire.calls.extender_v1 import BadBody, faulted

Answer = Callable[[bytes], bytes | Awaitable[bytes]]
"""Function that answers a body. An awaitable is cancelled when the caller disconnects."""

Measure = Callable[[str, float, str], None]
"""Function called after each call with its verb, its duration in seconds, and its fault or an empty text."""

OnBug = Callable[[str, BaseException, bytes], None]

_WITH_ERROR_FIELD = ("filter", "bind")
_FAULTS: tuple[tuple[type[PaddockError], str, int], ...] = (
    (BadBody, "bad body", 400),
    (DeadlinePassed, "deadline", 503),
    (NotReady, "not ready", 503),
    (NotLeading, "not leading", 503),
    (CallFault, "call", 503),
    (PaddockError, "outside", 503),
)
"""Type of an error, its name in metrics, and the status. The first row that matches counts."""


class Reply(msgspec.Struct, frozen=True):
    """Answer to a request. ``closes``: the connection is closed after it."""

    status: int
    body: bytes
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    """Verb of the protocol, with the function that answers it. No body makes it raise."""

    name: str
    answer: Answer
    measure: Measure
    on_bug: OnBug

    def reply_to(self, body: bytes) -> Reply | Awaitable[Reply]:
        """Answer a body that has arrived whole."""
        started = time.perf_counter()
        try:
            answered = self.answer(body)
        except Exception as error:  # noqa: BLE001 - a bug must be answered, too, and logged
            return self._failed(error, body, started)
        if not isinstance(answered, bytes):
            return self._reply_later(answered, body, started)
        self.measure(self.name, time.perf_counter() - started, "")
        return Reply(200, answered)

    async def read_and_reply(self, body: Awaitable[bytes], on_read: Callable[[], None]) -> Reply:
        """Answer a body that is still arriving. Reading it may raise `BodyFault`.

        ``on_read``: called when the body is complete.
        """
        started = time.perf_counter()
        try:
            read = await body
        except BodyFault as error:
            self.measure(self.name, time.perf_counter() - started, error.fault)
            return self._refused(error)
        except asyncio.CancelledError:
            self.measure(self.name, time.perf_counter() - started, "incomplete body")
            raise
        on_read()
        reply = self.reply_to(read)
        return reply if isinstance(reply, Reply) else await reply

    async def _reply_later(self, answered: Awaitable[bytes], body: bytes, started: float) -> Reply:
        try:
            reply = Reply(200, await answered)
        except asyncio.CancelledError:
            # No caller remains to receive an answer.
            self.measure(self.name, time.perf_counter() - started, "hung up")
            raise
        except Exception as error:  # noqa: BLE001 - as in reply_to
            return self._failed(error, body, started)
        self.measure(self.name, time.perf_counter() - started, "")
        return reply

    def _failed(self, error: Exception, body: bytes, started: float) -> Reply:
        known = next((row for row in _FAULTS if isinstance(error, row[0])), None)
        if known is None:
            self.on_bug(self.name, error, body)
        message, fault, status = (str(error), *known[1:]) if known else ("internal", "bug", 500)
        self.measure(self.name, time.perf_counter() - started, fault)
        return self._fault(message, status)

    def _refused(self, error: BodyFault) -> Reply:
        """Refuse a body. The rest of it may never arrive, so the connection is closed."""
        if error.always_a_status:
            return Reply(error.status, said(str(error)), closes=True)
        found = self._fault(str(error), error.status)
        return Reply(found.status, found.body, closes=True)

    def _fault(self, message: str, status: int) -> Reply:
        if self.name in _WITH_ERROR_FIELD:
            return Reply(200, faulted(message))
        return Reply(status, said(message))


def said(message: str) -> bytes:
    """Encode a message as the body of a status other than 200."""
    return msgspec.json.encode({"error": message})
