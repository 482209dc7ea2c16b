"""Configuration on its way from its sources to the ledger: everything or nothing, the last good one kept."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import PaddockError
from core.ledger import events as on
from core.queues.spec import PartitionSpec
from extender.engine import Engine
from extender.queueconfig.load import load_document
from extender.queueconfig.sources import ConfigMapData, FlatConfig, flatten
from extender.settings import Settings, reloaded, settings_from


class Rejected(PaddockError):
    """A document that is right in itself and cannot be applied to what is running."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a configuration came from, for the Event and the log. ``kind``: ConfigMap or File."""

    kind: str
    namespace: str
    name: str
    uid: str = ""


class Configuration:
    """The active configuration and the fate of the latest one offered.

    ``error``: why the latest was refused, empty when it was not; ``reloads``: how many were applied;
    ``on_refused(source, message)`` and ``on_applied(source, held)`` are told, ``held`` naming the settings
    whose change needs a restart.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        overrides: Mapping[str, Any],
        on_refused: Callable[[Source, str], None],
        on_applied: Callable[[Source, tuple[str, ...]], None],
    ) -> None:
        self._engine = engine
        self._overrides = overrides
        self._on_refused = on_refused
        self._on_applied = on_applied
        self._active: FlatConfig | None = None
        self.settings = settings_from({}, overrides)
        self.error = ""
        self.reloads = 0

    @property
    def checksum(self) -> str:
        """SRC-9 of the active document; empty before the first."""
        return self._active.checksum if self._active else ""

    def offer_config_maps(
        self, defaults: ConfigMapData | None, configs: ConfigMapData | None, source: Source
    ) -> None:
        """Take over what the two ConfigMaps say, unless hot refresh is off (SRC-1, SRC-7)."""
        if self._active is not None and not self.settings.hot_refresh:
            return
        self._offer(lambda: flatten(defaults, configs), source)

    def offer_file(self, text: bytes, source: Source) -> None:
        """Take over a plain document; settings come from flags and environment then."""
        self._offer(lambda: flatten(None, ConfigMapData({"queues.yaml": _decoded(text)}, {})), source)

    def refuse(self, source: Source, message: str) -> None:
        """A source that cannot even be read."""
        self.error = message
        self._on_refused(source, message)

    def _offer(self, read: Callable[[], FlatConfig], source: Source) -> None:
        try:
            flat = read()
            if self._active == flat:
                self.error = ""
                return
            settings, held = self._settings(flat)
            partition = self._partition(flat)
        except PaddockError as error:
            self.refuse(source, str(error))
            return
        self._apply(flat, settings, partition)
        self._on_applied(source, held)

    def _settings(self, flat: FlatConfig) -> tuple[Settings, tuple[str, ...]]:
        fresh = settings_from(flat.settings, self._overrides)
        return reloaded(self.settings, fresh) if self._active else (fresh, ())

    def _partition(self, flat: FlatConfig) -> PartitionSpec:
        """Read and tried against the running tree. Raises `ConfigError` or `Rejected`."""
        partition = load_document(flat.queues_text)
        conflicts = self._engine.snapshot.conflicts(partition)
        if conflicts:
            raise Rejected("; ".join(conflicts))
        return partition

    def _apply(self, flat: FlatConfig, settings: Settings, partition: PartitionSpec) -> None:
        self._active, self.settings, self.error = flat, settings, ""
        self.reloads += 1
        self._engine.learn(on.Configured(partition, settings.ledger))


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected(f"not UTF-8 at byte {error.start}") from None
