"""Requests that are no HTTP are told of in one line, however many come (F-21)."""

import asyncio
import logging
import sys

import pytest

from extender.http.complaints import APART, OneLine
from tests.extender.rigs import Rig, answers_of, answers_still, serving

GARBAGE = (
    b"GET\r\n\r\n",
    b"\x16\x03\x01\x02\x00\r\n\r\n",
    b"POST / HTTP/1.1\r\nX: " + b"y\n" * 40_000 + b"\r\n\r\n",
)


async def test_a_thousand_such_requests_are_one_line_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving(answers_of(Rig())) as door:
        for garbage in GARBAGE:
            reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
            writer.write(garbage)
            assert (await asyncio.wait_for(reader.readline(), 5)).split()[1] == b"400"
            writer.close()
        await answers_still(door)
    (record,) = caplog.records
    assert record.getMessage().startswith("'invalid request: HttpParser")
    assert "\n" not in logging.Formatter().format(record)
    assert len(record.getMessage()) <= 1_000


def _record(text: str) -> logging.LogRecord:
    try:
        raise ValueError(text)
    except ValueError:
        return logging.LogRecord("x", logging.ERROR, "", 0, "Error of %s", ("a",), sys.exc_info())


def test_the_next_one_is_reported_a_while_later() -> None:
    now = 5.0
    lines = OneLine(lambda: now)
    passed = []
    for now in (5.0, 5.0 + APART - 1, 5.0 + APART):  # noqa: B007 the filter reads it
        record = _record("at\nlast")
        passed.append(lines.filter(record))
        assert not passed[-1] or record.getMessage() == r"'Error of a: ValueError: at\nlast'"
    assert passed == [True, False, True]
