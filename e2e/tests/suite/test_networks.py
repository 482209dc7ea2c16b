"""Connections of a played network leave no socket open, whenever their caller gives up."""

import asyncio
import ssl
from collections import Counter
from pathlib import Path

from e2e.pods.networks import Network
from e2e.programs.control_plane import unverified
from e2e.stands.stand import certificates, eventually

TURNS = 40
"""More turns of the loop than a TLS connection takes, when it is ready at each turn."""


async def test_a_caller_that_gives_up_leaves_no_connection_open(tmp_path: Path) -> None:
    """A probe that times out while the machine is busy may end at any turn of the loop, so each is tried."""
    tls = certificates(tmp_path / "tls", "paddock")
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(tls.folder / "server.crt", tls.folder / "server.key")
    counts: Counter[str] = Counter()

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=served)
    port = server.sockets[0].getsockname()[1]
    # It is not entered, so it is the network of this process, and the test needs no rights.
    network = Network("paddock-test")
    async with server:
        before = _sockets()
        for turns in range(TURNS):
            opening = asyncio.create_task(network.connect("127.0.0.1", port, tls=unverified()))
            for _ in range(turns):
                await asyncio.sleep(0)
            counts["given up" if opening.cancel() else "done"] += 1
            try:
                _, writer = await opening
            except (asyncio.CancelledError, OSError):
                continue
            writer.close()
        await eventually(lambda: _as_before(before), "every socket is closed", timeout=30)
    assert counts["given up"] > 5


async def _as_before(before: int) -> bool:
    return _sockets() <= before


def _sockets() -> int:
    """Sockets that this process has open."""
    return sum(each.is_socket() for each in Path("/proc/self/fd").iterdir())
