"""The configuration on its way from its sources to the ledger; the last good document is kept."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from core.errors import PaddockError
from core.ledger import events as on
from core.queues.spec import PartitionSpec
from extender.configuration.retention import Loss, retained
from extender.configuration.settings import Settings, held_service_values, reloaded, settings_from
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
from extender.queueconfig.load import DEFAULT_DOCUMENT, load_document

_PLAIN_KEY = "queues.yaml"
_STAYS = "the queues and settings that it held stay in force until a restart; put it back"
_BUILT_IN = (
    "YuniKorn's built-in queues, without limits, count only where paddock.config.builtinDefault is true"
)


class Rejected(PaddockError):
    """A document that is right in itself and cannot be applied to what is running."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a configuration came from, for the Event and the log. ``kind``: ConfigMap or File."""

    kind: str
    namespace: str
    name: str
    uid: str = ""

    def lost(self, loss: Loss) -> "Source":
        """The map that lost what it held; its uid is known if it is the one that changed."""
        name = DEFAULTS_NAME if loss.first else CONFIGS_NAME
        if self.kind != "ConfigMap" or name == self.name:
            return self
        return replace(self, name=name, uid="")

    @property
    def shown(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class _InForce:
    """The document in force. ``held``: service values of the start, which hold until a restart (SRC-6);
    ``built_in``: it is that of SRC-8."""

    checksum: str
    built_in: bool
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


class LiveConfiguration:
    """The active configuration and the fate of the latest one offered.

    ``error``: why the latest was refused, empty when it was not; ``missing``: what should be in the sources
    and is not, empty when nothing is missing (F-4); ``unread``: keys of the latest that could
    not be decoded or set an empty text (SRC-2); ``ignored``: whether an edit was dropped because hot refresh
    is off (SRC-7); ``reloads``: how many were applied;
    ``on_refused(source, message)`` and ``on_applied(source, held)`` are told, ``held`` being the keys whose
    change needs a restart; so is ``on_missing(source, message)`` whenever ``missing`` changes. The document
    is taken over whole or not at all; settings that can be read count even when the document beside them is
    refused (SRC-9).

    A ConfigMap that is deleted, emptied or left without its document keeps what it said in force, in memory
    only. Without any document at the start nothing is in force, unless a setting allows the built-in one.
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
        self.settings = settings_from({}, overrides)
        self.error = self.missing = ""
        self.unread: tuple[str, ...] = ()
        self.ignored = False
        self.reloads = 0

    @property
    def checksum(self) -> str:
        """SRC-9 of the active document; empty before the first."""
        return self._in_force.checksum if self._in_force else ""

    @property
    def _policy_group(self) -> str | None:
        return self._in_force.policy_group if self._in_force else None

    @property
    def _frozen(self) -> bool:
        """Whether hot refresh is off, so that no edit counts (SRC-7)."""
        return self._in_force is not None and not self.settings.hot_refresh

    def prepare(self, defaults: ConfigMapData | None, configs: ConfigMapData | None) -> None:
        """Read the document that the next offer holds: the long part, which may be done in another thread.

        Whatever is wrong comes out when it is offered.
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
        """Take over what the two ConfigMaps say, unless hot refresh is off (SRC-1, SRC-7)."""
        self._offer(lambda: unpacked(defaults, configs), source)

    def offer_file(self, text: bytes, source: Source) -> None:
        """Take over a plain document; settings come from flags and environment then."""
        self._offer(lambda: Unpacked(None, {_PLAIN_KEY: _decoded(text)}), source)

    def refuse(self, source: Source, message: str) -> None:
        """A source that cannot even be read."""
        self.error = message
        self._on_refused(source, message)

    def _offer(self, read: Callable[[], Unpacked], source: Source) -> None:
        try:
            maps, losses = self._retained(read())
        except PaddockError as error:
            if self._frozen:
                self.ignored = True
            else:
                self.refuse(source, str(error))
            return
        flat = merged(maps, policy_group=self._policy_group)
        emptied = self._has_document and not flat.has_document
        if self._in_force is not None:
            self._note_losses(
                source, losses, f"{source.shown} empties {flat.document_key}" if emptied else ""
            )
        unchanged = (maps.defaults, maps.configs) == (self._offered.defaults, self._offered.configs)
        if losses and unchanged:
            return
        if self._frozen:
            self.ignored = True
            return
        # Also if nothing comes of them now: what is lost later goes back to what was said last.
        self._offered = maps
        if not emptied:
            self._take(flat, source)

    @property
    def _has_document(self) -> bool:
        """Whether a document of the user's own is in force."""
        return self._in_force is not None and not self._in_force.built_in

    def _retained(self, offered: Unpacked) -> tuple[Unpacked, tuple[Loss, ...]]:
        """Put what was lost back into an offer; before the first document nothing can be lost."""
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
        if not flat.has_document:
            if not settings.builtin_default:
                self._wait_for_document(flat, settings, source)
                return
            flat = flat.with_built_in_document()
        if self._is_in_force(flat, settings, held):
            self.error = ""
            return
        try:
            partition = self._partition(flat, settings)
        except PaddockError as error:
            self._install(settings)
            self.refuse(source, str(error))
            return
        if self._in_force is None:
            self._note_missing(source, "")
        self._apply(flat, settings, partition)
        self._reported_held = held
        self._on_applied(source, held)

    def _wait_for_document(self, flat: FlatConfig, settings: Settings, source: Source) -> None:
        """At a start: the settings say meanwhile which pods must wait, and whose the Lease is."""
        self.settings, self.error = settings, ""
        self._engine.learn(on.SettingsRead(settings.ledger))
        own = source.lost(Loss(first=False, how=""))
        what = f"has no {flat.document_key}" if own.kind == "ConfigMap" else "holds no document"
        self._note_missing(own, f"{own.shown} {what}: pods of queues wait until it has one; {_BUILT_IN}")

    def _note_losses(self, source: Source, losses: tuple[Loss, ...], emptied: str) -> None:
        """``emptied``: what is told if nothing was lost; empty when that is nothing either."""
        of_file = "holds no document any more" if source.kind == "File" else ""
        named = [(source.lost(loss), of_file or loss.how) for loss in losses]
        what = " and ".join(f"{each.shown} {how}" for each, how in named) or emptied
        self._note_missing(named[-1][0] if named else source, f"{what}: {_STAYS}" if what else "")

    def _note_missing(self, source: Source, message: str) -> None:
        if message != self.missing:
            self.missing = message
            self._on_missing(source, message)

    def _settings(self, flat: FlatConfig) -> tuple[Settings, tuple[str, ...]]:
        """What they are now, and the keys whose change needs a restart. Raises `SettingsError`."""
        fresh = settings_from(flat.settings, self._overrides)
        if self._in_force is None:
            return fresh, ()
        settings, changed = reloaded(self.settings, fresh)
        offered, held = held_service_values(flat.settings), self._in_force.held
        return settings, tuple(sorted([*changed, *(key for key in held if offered[key] != held[key])]))

    def _is_in_force(self, flat: FlatConfig, settings: Settings, held: tuple[str, ...]) -> bool:
        return (flat.checksum, settings, held) == (self.checksum, self.settings, self._reported_held)

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
        conflicts = self._engine.view.conflicts(partition)
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
        built_in = flat.queues_text == DEFAULT_DOCUMENT
        self._in_force = _InForce(
            flat.checksum, built_in, flat.policy_group, settings.zero_max_blocks, partition, held
        )
        self.settings, self.error = settings, ""
        self.reloads += 1
        self._engine.learn(on.Configured(partition, settings.ledger))


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejected(f"not UTF-8 at byte {error.start}") from None
