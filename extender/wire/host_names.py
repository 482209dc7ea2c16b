"""Host names and addresses as a Host header and settings write them. No I/O."""

import ipaddress
import re

_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([0-9A-Za-z._-]{1,253}))(?::[0-9]{1,5})?")


def host_name_of(authority: str) -> str | None:
    """The name or address in ``name``, ``name:port`` or ``[address]:port``, as `host_name_from` writes it.

    None for anything else, such as a name with a user or a path.
    """
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        return None
    address, name = found.groups()
    if address is None:
        return host_name_from(name)
    return host_name_from(address) if _is_ipv6(address) else None


def host_name_from(text: str) -> str:
    """A name or address in one spelling: small letters, no brackets, no dot at the end."""
    name = text.strip().strip("[]").lower().removesuffix(".")
    return str(ipaddress.IPv6Address(name)) if _is_ipv6(name) else name


def host_names_from(text: str) -> frozenset[str]:
    """Names and addresses separated by commas; ports are left out. Raises ValueError for a URL."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if any("/" in name for name in names):
        raise ValueError("must be host names or addresses, without a scheme or a path")
    return frozenset(host_name_of(name) or host_name_from(name) for name in names)


def is_loopback(name: str) -> bool:
    """True for ``localhost`` and the addresses of loopback, in the spelling of `host_name_from`."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
