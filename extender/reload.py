"""Configuration on its way from its sources to the ledger; the last good document is kept."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.errors import PaddockError
from core.ledger import events as on
from core.queues.spec import PartitionSpec
from extender.engine import Engine
from extender.queueconfig.load import load_document
from extender.queueconfig.sources import ConfigMapData, FlatConfig, flatten
from extender.settings import Settings, held_service_values, reloaded, settings_from


class Rejected(PaddockError):
    """A document that is right in itself and cannot be applied to what is running."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a configuration came from, for the Event and the log. ``kind``: ConfigMap or File."""

    kind: str
    namespace: str
    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class _InForce:
    """The document in force. ``held``: service values of the start, which hold until a restart (SRC-6)."""

    checksum: str
    policy_group: str
    zero_blocks: bool
    partition: PartitionSpec
    held: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Read:
    """A document that was read. ``outcome``: its queues, or why there are none."""

    text: str
    zero_blocks: bool
    outcome: PartitionSpec | PaddockError


def _read(text: str, *, zero_blocks: bool) -> _Read:
    try:
        return _Read(text, zero_blocks, load_document(text, zero_blocks=zero_blocks))
    except PaddockError as error:
        return _Read(text, zero_blocks, error)


class Configuration:
    """The active configuration and the fate of the latest one offered.

    ``error``: why the latest was refused, empty when it was not; ``unread``: keys of the latest that could
    not be decoded or set an empty text (SRC-2); ``ignored``: whether an edit was dropped because hot refresh
    is off (SRC-7); ``reloads``: how many were applied;
    ``on_refused(source, message)`` and ``on_applied(source, held)`` are told, ``held`` being the keys whose
    change needs a restart. The document is taken over whole or not at all; settings that can be read count
    even when the document beside them is refused (SRC-9).
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
        self._in_force: _InForce | None = None
        self._told_held: tuple[str, ...] = ()
        self._prepared: _Read | None = None
        self.settings = settings_from({}, overrides)
        self.error = ""
        self.unread: tuple[str, ...] = ()
        self.ignored = False
        self.reloads = 0

    @property
    def checksum(self) -> str:
        """SRC-9 of the active document; empty before the first."""
        return self._in_force.checksum if self._in_force else ""

    def prepare(self, defaults: ConfigMapData | None, configs: ConfigMapData | None) -> None:
        """Read the document that the next offer holds: the long part, which may be done in another thread.

        Whatever is wrong comes out when it is offered.
        """
        group = self._in_force.policy_group if self._in_force else None
        with suppress(PaddockError):
            flat = flatten(defaults, configs, policy_group=group)
            settings = settings_from(flat.settings, self._overrides)
            if self._in_force is None or self._in_force.checksum != flat.checksum:
                self._prepared = _read(flat.queues_text, zero_blocks=settings.zero_max_blocks)

    def offer_config_maps(
        self, defaults: ConfigMapData | None, configs: ConfigMapData | None, source: Source
    ) -> None:
        """Take over what the two ConfigMaps say, unless hot refresh is off (SRC-1, SRC-7)."""
        if self._in_force is not None and not self.settings.hot_refresh:
            self.ignored = True
            return
        group = self._in_force.policy_group if self._in_force else None
        self._offer(lambda: flatten(defaults, configs, policy_group=group), source)

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
            self.unread = (*flat.unreadable, *flat.emptied)
            settings, held = self._settings(flat)
        except PaddockError as error:
            self.refuse(source, str(error))
            return
        if self._is_in_force(flat, settings, held):
            self.error = ""
            return
        try:
            partition = self._partition(flat, settings)
        except PaddockError as error:
            self._install(settings)
            self.refuse(source, str(error))
            return
        self._apply(flat, settings, partition)
        self._told_held = held
        self._on_applied(source, held)

    def _settings(self, flat: FlatConfig) -> tuple[Settings, tuple[str, ...]]:
        """What they are now, and the keys whose change needs a restart. Raises `SettingsError`."""
        fresh = settings_from(flat.settings, self._overrides)
        if self._in_force is None:
            return fresh, ()
        settings, changed = reloaded(self.settings, fresh)
        offered, held = held_service_values(flat.settings), self._in_force.held
        return settings, tuple(sorted([*changed, *(key for key in held if offered[key] != held[key])]))

    def _is_in_force(self, flat: FlatConfig, settings: Settings, held: tuple[str, ...]) -> bool:
        return (flat.checksum, settings, held) == (self.checksum, self.settings, self._told_held)

    def _partition(self, flat: FlatConfig, settings: Settings) -> PartitionSpec:
        """Read and tried against the running tree; the same document again is the same (SRC-9).

        Raises `ConfigError` or `Rejected`.
        """
        same, zero_blocks = self._in_force, settings.zero_max_blocks
        if same and (same.checksum, same.zero_blocks) == (flat.checksum, zero_blocks):
            return same.partition
        read, self._prepared = self._prepared, None
        if read is None or (read.text, read.zero_blocks) != (flat.queues_text, zero_blocks):
            read = _read(flat.queues_text, zero_blocks=zero_blocks)
        partition = read.outcome
        if isinstance(partition, PaddockError):
            raise partition
        conflicts = self._engine.snapshot.conflicts(partition)
        if conflicts:
            raise Rejected("; ".join(conflicts))
        return partition

    def _install(self, settings: Settings) -> None:
        """Settings beside a refused document; before the first document nothing runs that could use them."""
        if self._in_force is not None and settings != self.settings:
            self.settings = settings
            self._engine.learn(on.Configured(self._in_force.partition, settings.ledger))

    def _apply(self, flat: FlatConfig, settings: Settings, partition: PartitionSpec) -> None:
        held = self._in_force.held if self._in_force else held_service_values(flat.settings)
        self._in_force = _InForce(flat.checksum, flat.policy_group, settings.zero_max_blocks, partition, held)
        self.settings, self.error = settings, ""
        self.reloads += 1
        self._engine.learn(on.Configured(partition, settings.ledger))


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected(f"not UTF-8 at byte {error.start}") from None
