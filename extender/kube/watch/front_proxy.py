"""Feed of ConfigMap extension-apiserver-authentication: whom the API server's proxy is known by."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from extender.identity.request_header import (
    CONFIG_MAP,
    CONFIG_MAP_NAMESPACE,
    BadFrontProxy,
    FrontProxy,
    front_proxy_from,
)
from extender.kube.connection.api import ObjectMeta, Transport
from extender.kube.watch.reflector import Reflector
from extender.kube.watch.reporting import Reporter

Offer = Callable[[FrontProxy | None], None]
"""Callback for each change. With None, no connection counts as the proxy's."""


class _WireConfigMap(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] | None = None


def front_proxy_reflector(client: Transport, offer: Offer, reporter: Reporter) -> Reflector[_WireConfigMap]:
    """A reflector of that ConfigMap. Without a valid one, no connection counts as the proxy's."""
    return Reflector(
        client,
        path=f"/api/v1/namespaces/{CONFIG_MAP_NAMESPACE}/configmaps",
        params={"fieldSelector": f"metadata.name={CONFIG_MAP}"},
        decode=msgspec.json.Decoder(_WireConfigMap).decode,
        key=lambda meta: meta.name,
        sink=_FrontProxySink(offer, reporter),
        reporter=reporter,
        kind=f"configmap {CONFIG_MAP}",
    )


@dataclass(frozen=True, slots=True)
class _FrontProxySink:
    offer: Offer
    reporter: Reporter

    def on_changed(self, item: _WireConfigMap) -> None:
        try:
            proxy = front_proxy_from(item.data or {})
        except BadFrontProxy as error:
            self.reporter.undecodable(f"configmap {CONFIG_MAP}", item.metadata.full_name, str(error))
            self.offer(None)
        else:
            self.offer(proxy)

    def on_deleted(self, _key: str) -> None:
        self.offer(None)

    def on_listed(self, keys: frozenset[str]) -> None:
        if not keys:
            self.offer(None)
