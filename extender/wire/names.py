"""Names as Kubernetes allows them. Whatever becomes part of a URL must be one (F-18)."""

import re

MOST_UID = 128
"""Characters of a uid; the API server's own have 36."""

_LONGEST_LABEL, _LONGEST_NAME = 63, 253
_LABEL = re.compile("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
# The labels of a subdomain have no length of their own in Kubernetes.
_NAME = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")


def is_namespace_name(text: str) -> bool:
    """True for an RFC 1123 label, as names of namespaces are."""
    return len(text) <= _LONGEST_LABEL and _LABEL.fullmatch(text) is not None


def is_object_name(text: str) -> bool:
    """True for an RFC 1123 subdomain, as names of pods, nodes, ConfigMaps and Leases are."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None
