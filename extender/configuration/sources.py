"""The two ConfigMaps to one flat configuration (SRC-1 to SRC-3, SRC-9). No I/O, and no opinion on values."""

import base64
import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from extender.queueconfig.document import MAX_BYTES
from extender.queueconfig.load import DEFAULT_DOCUMENT
from extender.queueconfig.problems import ConfigError, Problem
from extender.wire.service_keys import POLICY_GROUP, SERVICE_KEYS

DEFAULTS_NAME = "yunikorn-defaults"
CONFIGS_NAME = "yunikorn-configs"

_DEFAULT_POLICY_GROUP = SERVICE_KEYS[POLICY_GROUP].default
_DOCUMENT_SUFFIX = ".yaml"
_CHECKSUM = re.compile(rb"checksum: [^\n]{64}")
# Possessive, so that no text makes it slow.
_SOMETHING = re.compile(r"^\ufeff?+[^\S\n]*+(?!#|(?:---|\.\.\.)[^\S\n]*+$)\S", re.MULTILINE)
_GZIP = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True)
class ConfigMapData:
    """The two halves of a ConfigMap; ``binary_data`` in base64, as the API server writes it."""

    data: Mapping[str, str] = field(default_factory=dict)
    binary_data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlatConfig:
    """One configuration out of both maps.

    ``queues_text``: the queue document; a missing one is empty. ``settings``: every key that is no document.
    ``checksum``: of the document, equal when a reload changes nothing in it (SRC-9). ``policy_group``: the
    name of the document's key without its ``.yaml``. ``unreadable``: the binaryData keys that could not be
    decoded and count as absent, ``emptied``: those whose suffix is not gz, so that they set an empty text
    (SRC-2), for warnings.
    """

    queues_text: str
    settings: dict[str, str]
    checksum: str
    policy_group: str = _DEFAULT_POLICY_GROUP
    unreadable: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()

    @property
    def document_key(self) -> str:
        return self.policy_group + _DOCUMENT_SUFFIX

    @property
    def has_document(self) -> bool:
        """False for a document that is missing, empty, or nothing but blank lines and comments (F-4)."""
        return says_something(self.queues_text)

    def with_built_in_document(self) -> "FlatConfig":
        """The same with the built-in document in place of a missing one (SRC-8)."""
        return replace(self, queues_text=DEFAULT_DOCUMENT, checksum=checksum(DEFAULT_DOCUMENT))


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The entries of both maps with binaryData decoded; None for a map that is missing.

    ``unreadable`` and ``emptied``: as in `FlatConfig`.
    """

    defaults: Mapping[str, str] | None
    configs: Mapping[str, str] | None
    unreadable: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


def config_map_data_from(config_map: Mapping[str, object]) -> ConfigMapData:
    """The data of a ConfigMap object in JSON form; absent and null halves are empty."""
    return ConfigMapData(_texts(config_map.get("data")), _texts(config_map.get("binaryData")))


def unpacked(defaults: ConfigMapData | None, configs: ConfigMapData | None) -> Unpacked:
    """Decode the binaryData of both maps (SRC-2).

    Raises `ConfigError` when it decompresses to more than a document may have.
    """
    unpacking = _Unpacking()
    entries = [None if each is None else unpacking.entries(each) for each in (defaults, configs)]
    return Unpacked(entries[0], entries[1], tuple(unpacking.unreadable), tuple(unpacking.emptied))


def merged(maps: Unpacked, *, policy_group: str | None = None) -> FlatConfig:
    """Merge both maps key by key; the second wins (SRC-1).

    ``policy_group``: the one in force, which holds until a restart (SRC-6); None at the start, where the maps
    say it. A missing map is an empty one.
    """
    flat = {**(maps.defaults or {}), **(maps.configs or {})}
    group = flat.get(POLICY_GROUP, _DEFAULT_POLICY_GROUP) if policy_group is None else policy_group
    queues_text = flat.get(group + _DOCUMENT_SUFFIX, "")
    settings = {key: value for key, value in flat.items() if not key.endswith(_DOCUMENT_SUFFIX)}
    return FlatConfig(queues_text, settings, checksum(queues_text), group, maps.unreadable, maps.emptied)


def flatten(
    defaults: ConfigMapData | None, configs: ConfigMapData | None, *, policy_group: str | None = None
) -> FlatConfig:
    """`merged` of the maps `unpacked`, of ``yunikorn-defaults`` and ``yunikorn-configs`` (SRC-1 to SRC-3)."""
    return merged(unpacked(defaults, configs), policy_group=policy_group)


def says_something(text: str) -> bool:
    """Whether a document holds more than blank lines, comments and document marks."""
    return _SOMETHING.search(text) is not None


def checksum(queues_text: str) -> str:
    """Upper-case hex SHA-256 of a document without the ``checksum: …`` texts in it (SRC-9)."""
    data = queues_text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(_CHECKSUM.sub(b"", data)).hexdigest().upper()


def _texts(half: object) -> dict[str, str]:
    if not isinstance(half, Mapping):
        return {}
    return {key: value for key, value in half.items() if isinstance(key, str) and isinstance(value, str)}


class _Unpacking:
    """Decodes binaryData of both maps within one budget of decompressed bytes."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []
        self.emptied: list[str] = []
        self._left = MAX_BYTES

    def entries(self, config_map: ConfigMapData) -> dict[str, str]:
        """Every key that a map sets, with its text."""
        packed = dict(self.entry(key, text) for key, text in config_map.binary_data.items())
        return {**config_map.data, **packed}

    def entry(self, key: str, text: str) -> tuple[str, str]:
        """The key and value a binaryData entry sets (SRC-2): a suffix other than gz sets an empty text."""
        stripped, dot, suffix = key.rpartition(".")
        stripped = stripped if dot else key
        if suffix.lower() != "gz":
            self.emptied.append(key)
            return stripped, ""
        try:
            data = self._gunzipped(base64.b64decode(text, validate=True), key)
        except (ValueError, zlib.error):
            self.unreadable.append(key)
            return "", ""
        # Bytes that are not UTF-8 must reach the reader of the document, which refuses them.
        return stripped, data.decode("utf-8", "surrogateescape")

    def _gunzipped(self, data: bytes, key: str) -> bytes:
        members: list[bytes] = []
        while data or not members:
            member = zlib.decompressobj(_GZIP)
            members.append(member.decompress(data, self._left + 1))
            self._left -= len(members[-1])
            if self._left < 0:
                raise _too_large(key)
            if not member.eof:
                raise zlib.error("incomplete gzip data")
            data = member.unused_data
        return b"".join(members)


def _too_large(key: str) -> ConfigError:
    message = f"decompresses to more than {MAX_BYTES // 1024**2} MiB; leave only queue configuration in it"
    return ConfigError((Problem(f"binaryData[{key}]", "SRC-2", message),))
