"""The two listeners: verbs for kube-scheduler, and the admin port for people and probes."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from extender.http.middleware import Answer, Measure, OnBug, handler_of

MOST_BYTES = 128 * 2**20
"""Longest body taken: full Node objects of some 12,000 nodes."""

KEEP_ALIVE = 3600.0
"""Seconds; above the 90 s for which Go's client keeps an idle connection (contract 2.1)."""

BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class MutualTls:
    """Files of the verbs' certificate and key, and of the authority that signs callers' certificates."""

    certificate: str
    key: str
    client_ca: str

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.client_ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate, self.key)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


def verbs_app(
    verbs: Mapping[str, Answer], *, measure: Measure, on_bug: OnBug, most_bytes: int = MOST_BYTES
) -> web.Application:
    """``POST /v1/<verb>`` for each verb."""
    app = web.Application(client_max_size=most_bytes)
    for verb, answer in verbs.items():
        handler = handler_of(verb, answer, most_bytes=most_bytes, measure=measure, on_bug=on_bug)
        app.router.add_post(f"/v1/{verb}", handler)
    return app


async def listen(
    app: web.Application, address: Address, *, tls: MutualTls | None = None, shutdown: float = 5.0
) -> web.AppRunner:
    """Serve an app; the runner's ``cleanup`` ends it. Raises OSError when the port is taken."""
    runner = web.AppRunner(
        app,
        access_log=None,
        keepalive_timeout=KEEP_ALIVE,
        shutdown_timeout=shutdown,
        # A bind call that waits for others ends when nobody listens any more.
        handler_cancellation=True,
    )
    await runner.setup()
    site = web.TCPSite(
        runner,
        address.host,
        address.port,
        ssl_context=tls.context() if tls else None,
        backlog=BACKLOG,
        reuse_address=True,
    )
    await site.start()
    return runner
