"""Reflectors of all kinds of objects except pods, with their events."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.ledger import events as on
from extender.kube.connection.api import namespace_and_name
from extender.kube.connection.client import ApiClient
from extender.kube.watch.reflector import Reflector
from extender.kube.watch.reporting import Reporter
from extender.wire.kinds import WatchedKind

Learn = Callable[[on.Event], None]

K = TypeVar("K")
F = TypeVar("F")


def object_reflector(
    client: ApiClient, watched: WatchedKind[K, F], learn: Learn, reporter: Reporter
) -> Reflector[F]:
    """Create the reflector that reports every object of a kind to the ledger."""
    return Reflector(
        client,
        path=watched.path,
        decode=watched.read,
        key=lambda meta: meta.full_name,
        sink=_ObjectSink(watched.kind, learn),
        reporter=reporter,
        kind=watched.kind.name,
    )


@dataclass(frozen=True, slots=True)
class _ObjectSink(Generic[K, F]):
    """A reflector's sink that makes events from the objects of a kind."""

    kind: on.ObjectKind[K, F]
    learn: Learn

    def on_changed(self, item: F) -> None:
        self.learn(on.ObjectObserved(self.kind, item))

    def on_deleted(self, key: str) -> None:
        self.learn(on.ObjectDeleted(self.kind, self._key_from(key)))

    def on_listed(self, keys: frozenset[str]) -> None:
        self.learn(on.ObjectsListed(self.kind, frozenset(map(self._key_from, keys))))

    def _key_from(self, full_name: str) -> K:
        return self.kind.key_from(*namespace_and_name(full_name))
