"""Services of the cluster, by the objects that the API server has: who answers at an address and a port."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from e2e.cluster.client import Object
from e2e.pods.networks import Connect, Streams, both_ways
from e2e.pods.pod import Pod

EGRESS = """\
apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
"""
_SELECTION = """\
- name: {name}
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds: {{udsName: {socket}}}
"""


def endpoints(service: Object, labels: Mapping[str, str], pod: Pod) -> dict[int, Connect]:
    """Ways to each port of a Service. ``labels``: of the pod. Empty if the Service does not select it."""
    if not service["spec"]["selector"].items() <= labels.items():
        return {}

    def to(port: int) -> Connect:
        return lambda: pod.network.connect(pod.address, port)

    return {
        each["port"]: to(pod.container_of_port(each["targetPort"]))
        for each in service["spec"].get("ports", ())
    }


class Egress:
    """The way from the API server to webhooks and aggregated APIs: a proxy, which an API server can be given.

    ``folder``: for the socket and the API server's configuration. ``route``: from host and port to the way.
    """

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "egress.sock"
        self._file = folder / "egress.yaml"
        self.route: Callable[[str, int], Connect | None] = lambda _host, _port: None

    @property
    def flag(self) -> str:
        """The API server's flag."""
        names = ("cluster", "controlplane")
        selections = (_SELECTION.format(name=name, socket=self._socket) for name in names)
        self._file.write_text(EGRESS + "".join(selections))
        return f"--egress-selector-config-file={self._file}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._handle, self._socket)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.close()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far = await self._connected(await reader.readuntil(b"\r\n\r\n"))
        except (OSError, asyncio.IncompleteReadError):
            writer.write(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
            writer.close()
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await both_ways((reader, writer), far)

    async def _connected(self, head: bytes) -> Streams:
        """Open what a CONNECT request asks for. Raises OSError."""
        host, _, port = head.split()[1].decode().rpartition(":")
        connect = self.route(host, int(port))
        if connect is None:
            raise ConnectionRefusedError(f"no process answers at {host}:{port}")
        return await connect()
