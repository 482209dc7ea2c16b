"""Checks of the extenders in a KubeSchedulerConfiguration, for ``paddock check`` (F-18). Pure.

kube-scheduler itself checks everything else when it starts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from extender.queueconfig.document import ListValue, MapValue, read_document
from extender.queueconfig.problems import Problem

KIND = "KubeSchedulerConfiguration"
_RULE = "F-18"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CREDENTIALS = (
    "has credentials, which kube-scheduler writes into pods' Events with the rest of the URL; use tlsConfig"
)
_OPEN = "calls leave this host without TLS: whoever reaches the port can bind pods; use https and tlsConfig"
_UNPROVED = "has no client certificate in tlsConfig, so Paddock cannot tell kube-scheduler from others"


@dataclass(frozen=True, slots=True)
class SchedulerFindings:
    """Errors and warnings about extenders."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def findings_of(text: bytes) -> SchedulerFindings | None:
    """Errors and warnings about extenders, or None for a text of another kind. Raises `ConfigError`."""
    if KIND.encode() not in text:
        return None
    top = read_document(text).top
    if not isinstance(top, MapValue) or top.get("kind") != KIND:
        return None
    extenders = top.get("extenders")
    found = [
        finding
        for at, each in enumerate(extenders if isinstance(extenders, ListValue) else ())
        if isinstance(each, MapValue)
        for finding in _of_extender(each, f"extenders[{at}]")
    ]
    problems = tuple(problem for problem, wrong in found if wrong)
    return SchedulerFindings(problems, tuple(problem for problem, wrong in found if not wrong))


def _of_extender(extender: MapValue, path: str) -> Iterator[tuple[Problem, bool]]:
    """Findings about an extender, each with True for an error. The URL itself is never shown."""
    prefix = extender.get("urlPrefix")
    line = extender.lines.get("urlPrefix")
    try:
        url = urlsplit(str(prefix or ""))
        host = url.hostname or ""
    except ValueError:
        yield Problem(f"{path}.urlPrefix", _RULE, "is no URL", line), True
        return
    if url.username or url.password or url.query or url.fragment:
        yield Problem(f"{path}.urlPrefix", _RULE, _CREDENTIALS, line), True
    secure = url.scheme == "https" or str(extender.get("enableHTTPS")).lower() == "true"
    if host not in _LOOPBACK and not secure:
        yield Problem(f"{path}.urlPrefix", _RULE, _OPEN, line), False
    tls = extender.get("tlsConfig")
    proves = isinstance(tls, MapValue) and any(tls.get(key) for key in ("certFile", "certData"))
    if secure and not proves:
        yield Problem(f"{path}.tlsConfig", _RULE, _UNPROVED, extender.lines.get("tlsConfig", line)), False
