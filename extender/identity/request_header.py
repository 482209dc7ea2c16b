"""Users in the headers of the API server's proxy. A ConfigMap in kube-system describes the proxy.

Only connections of the proxy may name their user. A client certificate proves that a connection is the
proxy's. No other module reads these headers. No I/O.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import msgspec

from core.errors import PaddockError
from extender.identity.caller import AuthenticatedUser
from extender.identity.refusals import NotAuthenticated

CONFIG_MAP_NAMESPACE, CONFIG_MAP = "kube-system", "extension-apiserver-authentication"

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)

Headers = Sequence[tuple[str, str]]
"""Names and values of headers, in the order of the request."""


class BadFrontProxy(PaddockError):
    """Error in the ConfigMap that describes the proxy."""


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """The API server's proxy. Names of headers are in lower case.

    ``authority``: PEM of the authority that signs the proxy's certificate. ``names``: allowed common names;
    empty allows all.
    """

    authority: str
    names: frozenset[str]
    user_headers: tuple[str, ...]
    group_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()

    def is_proxy(self, common_name: str) -> bool:
        """True if this common name, in a certificate of the authority, is allowed."""
        return not self.names or common_name in self.names

    def user_from(self, headers: Headers) -> AuthenticatedUser:
        """Return the user in the headers of a request from the proxy. Raises `NotAuthenticated`."""
        users, uids = _values(headers, self.user_headers), _values(headers, self.uid_headers)
        groups, extra = _values(headers, self.group_headers), self._extra_from(headers)
        texts = (*users, *uids, *groups, *(text for name, texts in extra for text in (name, *texts)))
        # The proxy sets each of these once. A second one can only come from the caller.
        if len(users) != 1 or len(uids) > 1 or not users[0] or not all(map(_is_printable, texts)):
            raise NotAuthenticated
        return AuthenticatedUser(users[0], tuple(groups), uids[0] if uids else "", extra)

    def _extra_from(self, headers: Headers) -> tuple[tuple[str, tuple[str, ...]], ...]:
        found: dict[str, list[str]] = {}
        for name, value in headers:
            for prefix in self.extra_prefixes:
                if name.lower().startswith(prefix) and len(name) > len(prefix):
                    found.setdefault(unquote(name.lower().removeprefix(prefix)).lower(), []).append(value)
                    break
        return tuple(sorted((name, tuple(values)) for name, values in found.items()))


def front_proxy_from(data: Mapping[str, str]) -> FrontProxy:
    """Return the proxy that the ConfigMap's data describes. Raises `BadFrontProxy`."""
    authority = data.get("requestheader-client-ca-file", "")
    names = frozenset(_list(data, "allowed-names"))
    users = tuple(name.lower() for name in _list(data, "username-headers"))
    if not _CERTIFICATE.search(authority) or not users:
        raise BadFrontProxy("no authority or no header of users is named")
    if not names and _shared(authority, data.get("client-ca-file", "")):
        # Any user's certificate would then allow impersonation of every user.
        raise BadFrontProxy("users' certificates have the same authority, and no allowed name is listed")
    groups, uids, prefixes = (
        tuple(name.lower() for name in _list(data, key))
        for key in ("group-headers", "uid-headers", "extra-headers-prefix")
    )
    return FrontProxy(authority, names, users, groups, uids, prefixes)


def common_name_of(certificate: Mapping[str, object] | None) -> str | None:
    """Return the common name in a certificate, in the form of ``ssl``; None unless there is exactly one."""
    subject = (certificate or {}).get("subject", ())
    parts = subject if isinstance(subject, tuple) else ()
    names = [value for part in parts for key, value in part if key == "commonName"]
    return str(names[0]) if len(names) == 1 else None


def _list(data: Mapping[str, str], key: str) -> list[str]:
    try:
        found = msgspec.json.decode(data.get(f"requestheader-{key}") or "[]", type=list[str])
    except (msgspec.MsgspecError, UnicodeError):
        raise BadFrontProxy(f"requestheader-{key} is no list of texts") from None
    return [each for each in found if each]


def _shared(authority: str, other: str) -> bool:
    return bool(_certificates(authority) & _certificates(other))


def _certificates(pem: str) -> set[str]:
    return {"".join(each.split()) for each in _CERTIFICATE.findall(pem)}


def _values(headers: Headers, names: Sequence[str]) -> list[str]:
    return [value for name, value in headers if name.lower() in names]


def _is_printable(text: str) -> bool:
    """False for a text with control characters or invalid UTF-8."""
    return text.isprintable()
