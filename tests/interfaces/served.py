"""``paddock serve`` with its defaults only, observed until it would open its last port."""

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import prometheus_client
from aiohttp import web
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric

from extender.cli import main
from extender.http.verbs.connection import Shared
from extender.telemetry.metrics import TEXT_FAMILIES
from extender.telemetry.series.calls import CallSeries
from tests.interfaces.environment import no_environment, quiet

_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
clusters: [{name: none, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: none, user: {token: none}}]
"""
_PORTS = 2
_HISTOGRAM = ("_bucket", "_count", "_sum")


@dataclass
class Served:
    """Everything that a server opened and made. ``applications`` are in the order of ``addresses``."""

    applications: list[web.Application | Shared] = field(default_factory=list)
    addresses: list[tuple[str, int]] = field(default_factory=list)
    registries: list[prometheus_client.CollectorRegistry] = field(default_factory=list)


class _Port:
    """A port that nothing listens on."""

    sockets = ()

    def close(self) -> None:
        return


def served() -> Served:
    """Run the command. Its second port is refused to it, so that it ends."""
    seen = Served()
    runner, registry = web.AppRunner.__init__, prometheus_client.CollectorRegistry.__init__
    shared = Shared.__init__

    def made_runner(self: web.AppRunner, app: web.Application, **options: Any) -> None:
        seen.applications.append(app)
        runner(self, app, **options)

    def made_verbs(self: Shared, *given: Any) -> None:
        seen.applications.append(self)
        shared(self, *given)

    def made_registry(self: prometheus_client.CollectorRegistry, *given: Any, **options: Any) -> None:
        seen.registries.append(self)
        registry(self, *given, **options)

    async def opened(_loop: object, _factory: object, host: str, port: int, **_options: Any) -> _Port:
        seen.addresses.append((host, port))
        if len(seen.addresses) == _PORTS:
            raise OSError("enough is seen")
        return _Port()

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(web.AppRunner, "__init__", made_runner))
        stack.enter_context(mock.patch.object(Shared, "__init__", made_verbs))
        stack.enter_context(mock.patch.object(prometheus_client.CollectorRegistry, "__init__", made_registry))
        stack.enter_context(mock.patch.object(asyncio.BaseEventLoop, "create_server", opened))
        # Without uvloop the loop is asyncio's own, whose ports can be observed.
        stack.enter_context(mock.patch.dict("sys.modules", {"uvloop": None}))
        stack.enter_context(no_environment())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        kubeconfig = Path(folder, "kubeconfig")
        kubeconfig.write_text(_KUBECONFIG, encoding="utf-8")
        stack.enter_context(quiet())
        main(["serve", "--kubeconfig", str(kubeconfig)])
    return seen


# -- readers -------------------------------------------------------------------------------------------------


def ports() -> list[str]:
    """``HOST:PORT`` of each listener."""
    return sorted(f"{host}:{port}" for host, port in served().addresses)


def routes() -> list[str]:
    """``PORT METHOD PATH`` of every route of every port."""
    seen = served()
    return [
        f"{port} {route}"
        for application, (_, port) in zip(seen.applications, seen.addresses, strict=True)
        for route in _routes(application)
    ]


def _routes(application: web.Application | Shared) -> list[str]:
    if isinstance(application, Shared):
        return sorted(f"POST {path.decode()}" for path in application.routes)
    return sorted(
        f"{each.method} {each.resource.canonical}"
        for each in application.router.routes()
        if each.resource is not None
    )


def metrics() -> list[str]:
    """``SAMPLE TYPE {LABELS}`` of all series, including those without samples at the start."""
    registered = (
        f"{name} {family.type} {{{', '.join(labels)}}}"
        for registry in served().registries
        for family, labels in families(registry)
        for name in {each.name for each in family.samples}
    )
    written = (
        f"{each.name}{suffix} {each.kind} {{{', '.join(each.labels)}}}"
        for each in TEXT_FAMILIES
        for suffix in (_HISTOGRAM if each.kind == "histogram" else ("",))
    )
    return sorted([*registered, *written])


def families(registry: prometheus_client.CollectorRegistry) -> Iterator[tuple[Metric, tuple[str, ...]]]:
    """Every family with at least one sample, and the names of its labels."""
    for collector in list(registry._collector_to_names):
        if isinstance(collector, MetricWrapperBase):
            labels = tuple(collector._labelnames)
            if labels:
                collector.labels(*labels)
            yield from ((family, labels) for family in collector.collect())
        else:
            if isinstance(collector, CallSeries):
                collector.calls.observe("", 0.0)
            for family in collector.collect():
                labels = tuple(getattr(family, "_labelnames", ()))
                if not family.samples:
                    family.add_metric(labels, 0)  # type: ignore[attr-defined]
                yield family, labels
