"""Lines of a watch: their items are decoded and go to a sink."""

from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

from extender.kube.connection.api import MalformedAnswer, ObjectMeta, error_from
from extender.kube.watch.pages import event_from, identified_from
from extender.kube.watch.reporting import Reporter
from extender.kube.watch.sieve import Sieve

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

_STARTS: Final = tuple(
    (f'{{"type":"{kind}","object":'.encode(), kind) for kind in ("MODIFIED", "ADDED", "DELETED", "BOOKMARK")
)


class Sink(Protocol[T_contra]):
    """Receiver of items, under the reflector's keys.

    Its methods run on the event loop and must be short. An exception ends the reflector.
    """

    def on_changed(self, item: T_contra, /) -> None:
        """Take an item that is new or has changed. It may be equal to the last one."""

    def on_deleted(self, key: str, /) -> None:
        """Take the deletion of an item."""

    def on_listed(self, keys: frozenset[str], /) -> None:
        """Take the keys of a complete list, after its items. Any other known item has been deleted."""


class WatchLines(Generic[T]):
    """Reader of the lines of a watch. Parameters: see `extender.kube.watch.reflector.Reflector`."""

    def __init__(
        self,
        kind: str,
        *,
        decode: Callable[[bytes], T],
        key: Callable[[ObjectMeta], str],
        sink: Sink[T],
        reporter: Reporter,
        sieve: Sieve[T] | None,
    ) -> None:
        #: Changes that were reported.
        self.events = 0
        self._kind = kind
        self._decode = decode
        self._key = key
        self._sink = sink
        self._reporter = reporter
        self._sieve = sieve

    def take(self, line: bytes) -> str:
        """Take a line, and return the version of its object, empty for none.

        Raises `KubeError` if the watch cannot continue.
        """
        kind, raw, meta = self._parts_of(line)
        if kind == "ERROR":
            raise error_from(0, raw)
        if kind == "DELETED":
            self._on_deleted(meta)
        elif kind != "BOOKMARK":
            self._on_changed(raw, meta)
        return meta.resource_version

    def _parts_of(self, line: bytes) -> tuple[str, bytes, ObjectMeta]:
        """Type, object and metadata of a line. Raises `MalformedAnswer` for invalid JSON."""
        for start, kind in _STARTS:
            if line.startswith(start) and line.endswith(b"}"):
                # In the API server's own form. Reading the metadata checks the whole object.
                raw = line[len(start) : -1]
                meta = self._meta_of(raw)
                if meta is not None:
                    return kind, raw, meta
        try:
            event = event_from(line)
        except ValueError as error:
            raise MalformedAnswer(f"watch of {self._kind}: {error}") from error
        raw = bytes(event.object)
        return event.type, raw, self._meta_of(raw) or ObjectMeta()

    def _meta_of(self, raw: bytes) -> ObjectMeta | None:
        """Metadata of an object, None for invalid metadata."""
        try:
            return self._sieve.meta_of(raw) if self._sieve is not None else identified_from(raw).metadata
        except ValueError:
            return None

    def _on_deleted(self, meta: ObjectMeta) -> None:
        self.events += 1
        key = self._key(meta)
        if not key:
            # The error causes a list, which shows the deleted item.
            raise MalformedAnswer(f"a deleted one of {self._kind} cannot be told from others")
        if self._sieve is not None:
            self._sieve.drop(key)
        self._sink.on_deleted(key)

    def _on_changed(self, raw: bytes, meta: ObjectMeta) -> None:
        self.events += 1
        if self._sieve is not None and self._sieve.is_repeat():
            return
        try:
            item = self._decode(raw)
        except Exception as error:  # noqa: BLE001 one bad object must not hide all others
            self._reporter.undecodable(self._kind, meta.full_name, f"{type(error).__name__}: {error}")
            return
        self._sink.on_changed(item)
        if self._sieve is not None:
            self._sieve.took(item)
