"""Ports of the tests' servers, which several runs on one machine must not share."""

import asyncio
import socket

import pytest

from tests.extender.app_bench import unused_port


async def test_a_port_is_reserved_for_one_server() -> None:
    port = unused_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert await reader.read() == b""
    writer.close()
    server.close()
