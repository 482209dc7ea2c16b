"""Checks of the hosts and origins that a request names. No I/O.

A page of another site can let its own host name point to loopback. Its requests then carry that name in
``Host``. Therefore the name decides, and not the address of the connection.
"""

from collections.abc import Collection

from extender.wire.host_names import host_name_of, is_loopback

_READING = ("GET", "HEAD", "OPTIONS")


def is_own_host(hosts: list[str], listed: Collection[str]) -> bool:
    """True if there is exactly one Host header, and it names loopback or one of ``listed``."""
    name = host_name_of(hosts[0]) if len(hosts) == 1 else None
    return name is not None and (is_loopback(name) or name in listed)


def is_own_origin(origins: list[str], host: str, listed: Collection[str]) -> bool:
    """True if there is exactly one Origin header, and it has the same host and port or is in ``listed``.

    ``host``: the Host header; ``listed``: origins such as ``https://ui.example:8443``.
    """
    if len(origins) != 1:
        return False
    return origins[0] in listed or origins[0] in (f"http://{host}".lower(), f"https://{host}".lower())


def is_from_elsewhere(method: str, site: str, mode: str) -> bool:
    """True if the page of another site sent the request. Following a link does not count.

    ``site``, ``mode``: the headers Sec-Fetch-Site and Sec-Fetch-Mode; empty without a browser.
    """
    if site in ("", "same-origin", "none"):
        return False
    return not (method in _READING and mode == "navigate")
