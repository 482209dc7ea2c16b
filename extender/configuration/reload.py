"""Reload of the configuration, from its sources to the ledger. The last valid document stays in force."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from core.errors import PaddockError
from core.ledger import events as on
from core.queues.spec import PartitionSpec
from extender.configuration.retention import Loss, retained
from extender.configuration.settings import KEYS, Settings, reloaded, settings_from
from extender.configuration.sources import (
    CONFIGS_NAME,
    DEFAULTS_NAME,
    ConfigMapData,
    FlatConfig,
    Unpacked,
    merged,
    unpacked,
)
from extender.engine.engine import Engine
from extender.queueconfig.load import DEFAULT_DOCUMENT, Loaded, load
from extender.queueconfig.schema import QueuesDocument
from extender.wire.service_keys import held_values

_PLAIN_KEY = "queues.yaml"
_STAYS = "the queues and settings that it held stay in force until a restart; put it back"
_BUILT_IN = (
    "YuniKorn's built-in queues, without limits, count only where paddock.config.builtinDefault is true"
)


class Rejected(PaddockError):
    """A document that is valid but conflicts with running applications, or that is not text."""


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a configuration, for Events and the log. ``kind``: ``ConfigMap`` or ``File``."""

    kind: str
    namespace: str
    name: str
    uid: str = ""

    def lost(self, loss: Loss) -> "Source":
        """The ConfigMap that lost its contents. Its uid is empty unless it is the one that changed."""
        name = DEFAULTS_NAME if loss.first else CONFIGS_NAME
        if self.kind != "ConfigMap" or name == self.name:
            return self
        return replace(self, name=name, uid="")

    @property
    def shown(self) -> str:
        """Kind and name, for messages."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class _InForce:
    """The document in force."""

    checksum: str
    #: True for YuniKorn's built-in document (SRC-8).
    built_in: bool
    policy_group: str
    zero_blocks: bool
    loaded: Loaded
    #: Values at the start of YuniKorn's keys that only change with a restart (SRC-6).
    held: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Read:
    """A parsed document, or the error."""

    text: str
    zero_blocks: bool
    outcome: Loaded | PaddockError


def _read(text: str, *, zero_blocks: bool) -> _Read:
    try:
        return _Read(text, zero_blocks, load(text, zero_blocks=zero_blocks))
    except PaddockError as error:
        return _Read(text, zero_blocks, error)


class LiveConfiguration:
    """The configuration in force, and the result of the latest reload.

    ``on_refused(source, message)``: called when a configuration is refused.
    ``on_applied(source, held)``: called after a reload, with the keys whose change needs a restart.
    ``on_missing(source, message)``: called whenever ``missing`` changes.

    A document is applied completely or not at all. Valid settings are applied even if the document beside
    them is refused (SRC-9).
    If a ConfigMap is deleted, emptied or loses its document, its last contents stay in force, in memory only.
    Without a document at the start, nothing is in force, unless a setting allows the built-in document.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        overrides: Mapping[str, Any],
        on_refused: Callable[[Source, str], None],
        on_applied: Callable[[Source, tuple[str, ...]], None],
        on_missing: Callable[[Source, str], None] = lambda *_: None,
    ) -> None:
        self._engine = engine
        self._overrides = overrides
        self._on_refused = on_refused
        self._on_applied = on_applied
        self._on_missing = on_missing
        self._in_force: _InForce | None = None
        self._offered = Unpacked(None, None)
        self._reported_held: tuple[str, ...] = ()
        self._prepared: _Read | None = None
        #: The settings in force.
        self.settings = settings_from({}, overrides)
        #: Why the latest configuration was refused, or empty.
        self.error = ""
        #: Parts of the configuration in force that are missing from its sources (F-4), or empty.
        self.missing = ""
        #: Keys of the latest configuration that could not be decoded or set an empty text (SRC-2).
        self.unread: tuple[str, ...] = ()
        #: True if an edit was dropped because hot refresh is off (SRC-7).
        self.ignored = False
        #: Number of configurations that were applied.
        self.reloads = 0
        #: All keys of both ConfigMaps except the document, from the latest readable configuration.
        self.keys: Mapping[str, str] = {}
        #: True if the document comes from a file, so that no ConfigMap counts.
        self.from_file = False
        #: Time at which the document in force was applied, in seconds since 1970; 0 before.
        self.applied_at = 0.0

    @property
    def document_key(self) -> str:
        """Key of the document in the ConfigMaps (SRC-3)."""
        return f"{self._policy_group}.yaml" if self._policy_group is not None else _PLAIN_KEY

    @property
    def checksum(self) -> str:
        """Checksum of the document in force (SRC-9), empty before the first."""
        return self._in_force.checksum if self._in_force else ""

    @property
    def partition(self) -> PartitionSpec | None:
        """The partition in force; None before the first document."""
        return self._in_force.loaded.partition if self._in_force else None

    @property
    def document(self) -> QueuesDocument | None:
        """The document in force as written; None before the first."""
        return self._in_force.loaded.document if self._in_force else None

    @property
    def _policy_group(self) -> str | None:
        return self._in_force.policy_group if self._in_force else None

    @property
    def frozen(self) -> bool:
        """True if hot refresh is off, so that edits are ignored (SRC-7)."""
        return self._in_force is not None and not self.settings.hot_refresh

    def prepare(self, defaults: ConfigMapData | None, configs: ConfigMapData | None) -> None:
        """Parse the document that will be offered next. This takes long and may run in another thread.

        Errors are reported when the document is offered.
        """
        with suppress(PaddockError):
            maps, _ = self._retained(unpacked(defaults, configs))
            flat = merged(maps, policy_group=self._policy_group)
            settings = settings_from(flat.settings, self._overrides)
            if self._in_force is None or self._in_force.checksum != flat.checksum:
                self._prepared = _read(flat.queues_text, zero_blocks=settings.zero_max_blocks)

    def offer_config_maps(
        self, defaults: ConfigMapData | None, configs: ConfigMapData | None, source: Source
    ) -> None:
        """Apply the two ConfigMaps, unless hot refresh is off (SRC-1, SRC-7)."""
        self._offer(lambda: unpacked(defaults, configs), source)

    def offer_file(self, text: bytes, source: Source) -> None:
        """Apply a document from a file. Settings then come from flags and environment only."""
        self.from_file = True
        self._offer(lambda: Unpacked(None, {_PLAIN_KEY: _decoded(text)}), source)

    def refuse(self, source: Source, message: str) -> None:
        """Note that a configuration was refused, or that its source cannot be read."""
        self.error = message
        self._on_refused(source, message)

    def _offer(self, read: Callable[[], Unpacked], source: Source) -> None:
        try:
            maps, losses = self._retained(read())
        except PaddockError as error:
            if self.frozen:
                self.ignored = True
            else:
                self.refuse(source, str(error))
            return
        flat = merged(maps, policy_group=self._policy_group)
        emptied = self.has_document and not flat.has_document
        if self._in_force is not None:
            self._note_losses(
                source, losses, f"{source.shown} empties {flat.document_key}" if emptied else ""
            )
        unchanged = (maps.defaults, maps.configs) == (self._offered.defaults, self._offered.configs)
        if losses and unchanged:
            return
        if self.frozen:
            self.ignored = True
            return
        # Stored even if they are refused, since a later loss falls back to the contents offered last.
        self._offered = maps
        if not emptied:
            self._take(flat, source)

    @property
    def has_document(self) -> bool:
        """True if a document is in force that is not the built-in one."""
        return self._in_force is not None and not self._in_force.built_in

    @property
    def lacks_document(self) -> bool:
        """True if nothing is in force since the sources hold no document, not even one that was refused."""
        return self._in_force is None and bool(self.missing) and not self.error

    def _retained(self, offered: Unpacked) -> tuple[Unpacked, tuple[Loss, ...]]:
        """Add the lost contents to an offer. Before the first document, nothing can be lost."""
        if self._in_force is None:
            return offered, ()
        return retained(self._offered, offered, self._in_force.policy_group + ".yaml")

    def _take(self, flat: FlatConfig, source: Source) -> None:
        self.unread = (*flat.unreadable, *flat.emptied)
        try:
            settings, held = self._settings(flat)
        except PaddockError as error:
            self.refuse(source, str(error))
            return
        self.keys = flat.settings
        if not flat.has_document:
            if not settings.builtin_default:
                self._wait_for_document(flat, settings, source)
                return
            flat = flat.with_built_in_document()
        if self._is_in_force(flat, settings, held):
            self.error = ""
            return
        try:
            loaded = self._loaded(flat, settings)
        except PaddockError as error:
            self._install(settings)
            self.refuse(source, str(error))
            return
        if self._in_force is None:
            self._note_missing(source, "")
        self._apply(flat, settings, loaded)
        self._reported_held = held
        self._on_applied(source, held)

    def _wait_for_document(self, flat: FlatConfig, settings: Settings, source: Source) -> None:
        """Apply the settings of a start without a document, and report that it is missing."""
        # The settings decide which pods must wait, and name the Lease.
        self.settings, self.error = settings, ""
        self._engine.learn(on.SettingsRead(settings.ledger))
        own = source.lost(Loss(first=False, how=""))
        what = f"has no {flat.document_key}" if own.kind == "ConfigMap" else "holds no document"
        self._note_missing(own, f"{own.shown} {what}: pods of queues wait until it has one; {_BUILT_IN}")

    def _note_losses(self, source: Source, losses: tuple[Loss, ...], emptied: str) -> None:
        """Report losses. ``emptied``: the text to report if there are none, or empty."""
        of_file = "holds no document any more" if source.kind == "File" else ""
        named = [(source.lost(loss), of_file or loss.how) for loss in losses]
        what = " and ".join(f"{each.shown} {how}" for each, how in named) or emptied
        self._note_missing(named[-1][0] if named else source, f"{what}: {_STAYS}" if what else "")

    def _note_missing(self, source: Source, message: str) -> None:
        if message != self.missing:
            self.missing = message
            self._on_missing(source, message)

    def _settings(self, flat: FlatConfig) -> tuple[Settings, tuple[str, ...]]:
        """Settings after the reload, and keys whose change needs a restart. Raises `SettingsError`."""
        fresh = settings_from(flat.settings, self._overrides)
        if self._in_force is None:
            return fresh, ()
        settings, changed = reloaded(self.settings, fresh)
        offered, held = held_values(flat.settings, but=KEYS), self._in_force.held
        return settings, tuple(sorted([*changed, *(key for key in held if offered[key] != held[key])]))

    def _is_in_force(self, flat: FlatConfig, settings: Settings, held: tuple[str, ...]) -> bool:
        return (flat.checksum, settings, held) == (self.checksum, self.settings, self._reported_held)

    def _loaded(self, flat: FlatConfig, settings: Settings) -> Loaded:
        """Parse a document and check it against the running queues. An unchanged one is not parsed (SRC-9).

        Raises `ConfigError` or `Rejected`.
        """
        same, zero_blocks = self._in_force, settings.zero_max_blocks
        if same and (same.checksum, same.zero_blocks) == (flat.checksum, zero_blocks):
            return same.loaded
        read, self._prepared = self._prepared, None
        if read is None or (read.text, read.zero_blocks) != (flat.queues_text, zero_blocks):
            read = _read(flat.queues_text, zero_blocks=zero_blocks)
        loaded = read.outcome
        if isinstance(loaded, PaddockError):
            raise loaded
        conflicts = self._engine.view.conflicts(loaded.partition)
        if conflicts:
            raise Rejected("; ".join(conflicts))
        return loaded

    def _install(self, settings: Settings) -> None:
        """Apply the settings beside a refused document. Before the first document, they are not needed."""
        if self._in_force is not None and settings != self.settings:
            self.settings = settings
            self._engine.learn(on.Configured(self._in_force.loaded.partition, settings.ledger))

    def _apply(self, flat: FlatConfig, settings: Settings, loaded: Loaded) -> None:
        held = self._in_force.held if self._in_force else held_values(flat.settings, but=KEYS)
        if flat.checksum != self.checksum:
            self.applied_at = self._engine.now
        built_in = flat.queues_text == DEFAULT_DOCUMENT
        self._in_force = _InForce(
            flat.checksum, built_in, flat.policy_group, settings.zero_max_blocks, loaded, held
        )
        self.settings, self.error = settings, ""
        self.reloads += 1
        self._engine.learn(on.Configured(loaded.partition, settings.ledger))


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected(f"not UTF-8 at byte {error.start}") from None
