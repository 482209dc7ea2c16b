"""The two ConfigMaps to one flat configuration (SRC-1 to SRC-3, SRC-9). No I/O, and no opinion on values."""

import base64
import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from extender.queueconfig.document import MAX_BYTES
from extender.queueconfig.load import DEFAULT_DOCUMENT
from extender.queueconfig.problems import ConfigError, Problem
from extender.service_keys import POLICY_GROUP, SERVICE_KEYS

DEFAULTS_NAME = "yunikorn-defaults"
CONFIGS_NAME = "yunikorn-configs"

_DEFAULT_POLICY_GROUP = SERVICE_KEYS[POLICY_GROUP].default
_DOCUMENT_SUFFIX = ".yaml"
_CHECKSUM = re.compile(rb"checksum: [^\n]{64}")
_GZIP = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True)
class ConfigMapData:
    """The two halves of a ConfigMap; ``binary_data`` in base64, as the API server writes it."""

    data: Mapping[str, str] = field(default_factory=dict)
    binary_data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlatConfig:
    """One configuration out of both maps.

    ``queues_text``: the queue document. ``settings``: every key that is no document. ``checksum``: of the
    document, equal when a reload changes nothing in it (SRC-9). ``policy_group``: the name of the document's
    key without its ``.yaml``. ``unreadable``: the binaryData keys that could not be decoded and count as
    absent, ``emptied``: those whose suffix is not gz, so that they set an empty text (SRC-2), for warnings.
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


def config_map_data_from(config_map: Mapping[str, object]) -> ConfigMapData:
    """The data of a ConfigMap object in JSON form; absent and null halves are empty."""
    return ConfigMapData(_texts(config_map.get("data")), _texts(config_map.get("binaryData")))


def flatten(
    defaults: ConfigMapData | None, configs: ConfigMapData | None, *, policy_group: str | None = None
) -> FlatConfig:
    """Merge ``yunikorn-defaults`` and ``yunikorn-configs`` key by key; the second wins (SRC-1).

    ``policy_group``: the one in force, which holds until a restart (SRC-6); None at the start, where the maps
    say it. A missing map is an empty one (SRC-7). A missing or empty document is the built-in one (SRC-3).
    Raises `ConfigError` when binaryData decompresses to more than a document may have.
    """
    unpacking = _Unpacking()
    flat: dict[str, str] = {}
    for config_map in (defaults, configs):
        if config_map is not None:
            flat |= config_map.data
            flat |= dict(unpacking.entry(key, text) for key, text in config_map.binary_data.items())
    group = flat.get(POLICY_GROUP, _DEFAULT_POLICY_GROUP) if policy_group is None else policy_group
    queues_text = flat.get(group + _DOCUMENT_SUFFIX) or DEFAULT_DOCUMENT
    settings = {key: value for key, value in flat.items() if not key.endswith(_DOCUMENT_SUFFIX)}
    return FlatConfig(
        queues_text,
        settings,
        checksum(queues_text),
        group,
        tuple(unpacking.unreadable),
        tuple(unpacking.emptied),
    )


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
