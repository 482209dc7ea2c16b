"""Merging of the two ConfigMaps into one flat configuration (SRC-1 to SRC-3, SRC-9). No validation."""

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
# The quantifiers are possessive, so that no text makes the search slow.
_SOMETHING = re.compile(r"^\ufeff?+[^\S\n]*+(?!#|(?:---|\.\.\.)[^\S\n]*+$)\S", re.MULTILINE)
_GZIP = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True)
class ConfigMapData:
    """The data of a ConfigMap. ``binary_data`` is in base64, as the API server writes it."""

    data: Mapping[str, str] = field(default_factory=dict)
    binary_data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlatConfig:
    """The configuration merged from both ConfigMaps."""

    #: The queue document. Empty if it is missing.
    queues_text: str
    #: All keys that are not documents.
    settings: dict[str, str]
    #: Checksum of the document, which tells whether a reload changes it (SRC-9).
    checksum: str
    #: Name of the document's key, without ``.yaml``.
    policy_group: str = _DEFAULT_POLICY_GROUP
    #: Keys in binaryData that could not be decoded and count as absent (SRC-2).
    unreadable: tuple[str, ...] = ()
    #: Keys in binaryData whose suffix is not ``gz``, so that they set an empty text (SRC-2).
    emptied: tuple[str, ...] = ()

    @property
    def document_key(self) -> str:
        """Key of the document."""
        return self.policy_group + _DOCUMENT_SUFFIX

    @property
    def has_document(self) -> bool:
        """False if the document is missing or has no content (F-4)."""
        return has_content(self.queues_text)

    def with_built_in_document(self) -> "FlatConfig":
        """A copy with YuniKorn's built-in document (SRC-8)."""
        return replace(self, queues_text=DEFAULT_DOCUMENT, checksum=checksum(DEFAULT_DOCUMENT))


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Entries of both ConfigMaps, with binaryData decoded. None for a ConfigMap that does not exist.

    ``unreadable`` and ``emptied``: as in `FlatConfig`.
    """

    defaults: Mapping[str, str] | None
    configs: Mapping[str, str] | None
    unreadable: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


def config_map_data_from(config_map: Mapping[str, object]) -> ConfigMapData:
    """Data of a ConfigMap object. Absent and null fields are empty."""
    return ConfigMapData(_texts(config_map.get("data")), _texts(config_map.get("binaryData")))


def unpacked(defaults: ConfigMapData | None, configs: ConfigMapData | None) -> Unpacked:
    """Decode the binaryData of both ConfigMaps (SRC-2).

    Raises `ConfigError` if it decompresses to more bytes than a document may have.
    """
    unpacking = _Unpacking()
    entries = [None if each is None else unpacking.entries(each) for each in (defaults, configs)]
    return Unpacked(entries[0], entries[1], tuple(unpacking.unreadable), tuple(unpacking.emptied))


def merged(maps: Unpacked, *, policy_group: str | None = None) -> FlatConfig:
    """Merge both ConfigMaps key by key. The second one wins (SRC-1), and a missing one counts as empty.

    ``policy_group``: the one in force, which only changes with a restart (SRC-6). None at the start, when the
    ConfigMaps name it.
    """
    flat = {**(maps.defaults or {}), **(maps.configs or {})}
    group = flat.get(POLICY_GROUP, _DEFAULT_POLICY_GROUP) if policy_group is None else policy_group
    queues_text = flat.get(group + _DOCUMENT_SUFFIX, "")
    settings = {key: value for key, value in flat.items() if not key.endswith(_DOCUMENT_SUFFIX)}
    return FlatConfig(queues_text, settings, checksum(queues_text), group, maps.unreadable, maps.emptied)


def flatten(
    defaults: ConfigMapData | None, configs: ConfigMapData | None, *, policy_group: str | None = None
) -> FlatConfig:
    """Unpack and merge ``yunikorn-defaults`` and ``yunikorn-configs`` (SRC-1 to SRC-3)."""
    return merged(unpacked(defaults, configs), policy_group=policy_group)


def has_content(text: str) -> bool:
    """True if a document has more than blank lines, comments and document markers."""
    return _SOMETHING.search(text) is not None


def checksum(queues_text: str) -> str:
    """Upper-case hex SHA-256 of a document without its ``checksum: …`` entries (SRC-9)."""
    data = queues_text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(_CHECKSUM.sub(b"", data)).hexdigest().upper()


def _texts(half: object) -> dict[str, str]:
    if not isinstance(half, Mapping):
        return {}
    return {key: value for key, value in half.items() if isinstance(key, str) and isinstance(value, str)}


class _Unpacking:
    """Decoder of both ConfigMaps' binaryData, with a common limit of decompressed bytes."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []
        self.emptied: list[str] = []
        self._left = MAX_BYTES

    def entries(self, config_map: ConfigMapData) -> dict[str, str]:
        """All entries of a ConfigMap, as text."""
        packed = dict(self.entry(key, text) for key, text in config_map.binary_data.items())
        return {**config_map.data, **packed}

    def entry(self, key: str, text: str) -> tuple[str, str]:
        """Key and text that an entry of binaryData sets (SRC-2). Without suffix ``gz`` the text is empty."""
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
        # The parser of documents refuses bytes that are not UTF-8, so they must be preserved.
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
