"""Any bytes on a connection, cut anywhere: the same answers, no bug, and nothing that is left behind."""

import asyncio
import logging

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extender.http.connections import Connections
from extender.http.door import Door as Guards
from extender.http.intake import Intake
from extender.http.verbs import connection as connection_module
from extender.http.verbs.listening import verbs_server
from tests.extender.http.verbs.test_connection import FRAMES, INVALID, call, repeat, until

PIECES = st.sampled_from([*FRAMES.values(), *INVALID.values(), call(b"{}", "Connection: close")]) | st.binary(
    max_size=40
)


class Written(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.data, self.closed = b"", False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.data += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def can_write_eof(self) -> bool:
        return False

    abort = close

    def pause_reading(self) -> None:
        return

    def resume_reading(self) -> None:
        return


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(PIECES, min_size=1, max_size=5).map(b"".join), st.lists(st.integers(1, 200), max_size=20))
def test_answers_are_the_same_however_the_bytes_are_cut(sent: bytes, cuts: list[int]) -> None:
    """No bytes are a bug, and none leave a connection behind."""
    with asyncio.Runner() as runner:
        assert runner.run(_said_to(sent, [])) == runner.run(_said_to(sent, cuts))


async def _said_to(sent: bytes, cuts: list[int]) -> tuple[bytes, bool, list[str]]:
    """Everything that is answered, whether the connection was closed, and the faults."""
    faults: list[str] = []

    def on_bug(_verb: str, error: BaseException, _body: bytes) -> None:
        raise error

    server = verbs_server(
        {"filter": repeat},
        measure=lambda _verb, _seconds, fault: faults.append(fault),
        on_bug=on_bug,
        door=Guards(Connections(), Intake(within=0.02)),
    )
    log = logging.Logger("none")
    log.addHandler(logging.NullHandler())
    shared = connection_module.Shared(server.routes, server.door, log, 60.0)
    connection, transport = connection_module.Connection(shared), Written()
    connection.connection_made(transport)
    at = 0
    for cut in [*cuts, len(sent)]:
        if at < len(sent):
            connection.data_received(sent[at : at + cut])
        at += cut
        await asyncio.sleep(0)
    await asyncio.wait_for(until(lambda: connection.task is None and connection._soon is None), 5)
    connection.connection_lost(None)
    assert len(server.door.connections) == 0
    assert not shared.open
    server.door.connections.end()
    # After an answer that closes, nothing is sent.
    return transport.data, b"Connection: close" in transport.data, faults
