"""Names that Kubernetes allows. Every part of a URL must be such a name (F-18)."""

import re
from functools import lru_cache
from typing import Final

MOST_UID: Final = 128
"""Characters of a uid, at most. Those of the API server have 36."""

_LONGEST_LABEL: Final = 63
_LONGEST_NAME: Final = 253
_LABEL: Final = re.compile("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
# Kubernetes does not limit the length of a single label within a subdomain.
_NAME: Final = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")


def is_namespace_name(text: str) -> bool:
    """True for an RFC 1123 label, as names of namespaces are."""
    return len(text) <= _LONGEST_LABEL and _is_label(text)


@lru_cache(maxsize=4096)
def _is_label(text: str) -> bool:
    return _LABEL.fullmatch(text) is not None


def is_object_name(text: str) -> bool:
    """True for an RFC 1123 subdomain, as names of pods, ConfigMaps and Leases are."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def is_node_name(text: str) -> bool:
    """True for a name that a node may have. Remembered, since calls name the same nodes."""
    return len(text) <= _LONGEST_NAME and _is_remembered_name(text)


_is_remembered_name: Final = lru_cache(maxsize=4096)(is_object_name)
