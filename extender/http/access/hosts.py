"""Hosts and origins that a request names, and which of them are ours. No I/O.

A page of another site reaches loopback by a name of its own that it lets point there, and then names it as
``Host``. So the name decides, and not the address that a connection came to.
"""

from collections.abc import Collection

from extender.wire.host_names import host_name_of, is_loopback

_READING = ("GET", "HEAD", "OPTIONS")


def is_own_host(hosts: list[str], listed: Collection[str]) -> bool:
    """True if a request has one Host header, and that names loopback or one of ``listed``."""
    name = host_name_of(hosts[0]) if len(hosts) == 1 else None
    return name is not None and (is_loopback(name) or name in listed)


def is_own_origin(origins: list[str], host: str, listed: Collection[str]) -> bool:
    """True if a request has one Origin header, and that is of the same host and port, or one of ``listed``.

    ``host``: the Host header; ``listed``: origins such as ``https://ui.example:8443``.
    """
    if len(origins) != 1:
        return False
    return origins[0] in listed or origins[0] in (f"http://{host}".lower(), f"https://{host}".lower())


def is_from_elsewhere(method: str, site: str, mode: str) -> bool:
    """True if a browser says that another site's page sends the request, and not that a link was followed.

    ``site``, ``mode``: the headers Sec-Fetch-Site and Sec-Fetch-Mode, empty where no browser sends them.
    """
    if site in ("", "same-origin", "none"):
        return False
    return not (method in _READING and mode == "navigate")
