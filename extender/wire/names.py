"""Names that Kubernetes allows. Every part of a URL must be such a name (F-18)."""

import re
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
    return len(text) <= _LONGEST_LABEL and _LABEL.fullmatch(text) is not None


def is_object_name(text: str) -> bool:
    """True for an RFC 1123 subdomain, as names of pods, nodes, ConfigMaps and Leases are."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None
