"""Names in paths: their escaping, and checks of their form that raise `Refused` (REST-22)."""

import re
from urllib.parse import unquote_plus, unquote_to_bytes

from extender.rest.routes.reply import bad_request

_BROKEN = re.compile(r"%(?![0-9a-fA-F]{2})")
_QUEUE_PART = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}", re.ASCII)
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9:#/_.@-]*[$]?", re.ASCII)
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*", re.ASCII)
_DECIMAL = re.compile(r"[0-9]+", re.ASCII)
_SHOWN = 80
MOST = 2**64 - 1


def is_escaped_right(text: str) -> bool:
    """True if two hexadecimal digits follow each percent sign."""
    return _BROKEN.search(text) is None


def decoded_path(path: str) -> str:
    """Decode as a router does: a plus sign stays. Invalid UTF-8 is replaced."""
    return unquote_to_bytes(path).decode("utf-8", "replace")


def decoded_again(text: str) -> str:
    """Decode as a handler does: a plus sign becomes a space."""
    if not is_escaped_right(text):
        raise bad_request(f"invalid URL escape {text[:_SHOWN]!r}")
    return unquote_plus(text, errors="replace")


def check_queue_name(path: str) -> None:
    """Raise `Refused` unless each part of the path is a valid name. The queue need not exist."""
    for part in path.split(".") if path else ():
        if not _QUEUE_PART.fullmatch(part):
            raise bad_request(
                f"invalid queue name {part[:_SHOWN]!r}: letters, digits and _:#/@- only, at most 64"
            )


def check_user_name(name: str) -> None:
    """Raise `Refused` for an invalid name of a user."""
    if not _USER.fullmatch(name):
        raise bad_request("Invalid user name")


def check_group_name(name: str) -> None:
    """Raise `Refused` for an invalid name of a user group."""
    if not _GROUP.fullmatch(name):
        raise bad_request("Invalid group name")


def whole_number(text: str) -> int:
    """Read an unsigned decimal number of at most 64 bits."""
    if _DECIMAL.fullmatch(text) and len(text) <= 30 and int(text) <= MOST:
        return int(text)
    raise bad_request(f"{text[:_SHOWN]!r} is not a whole number of at most 64 bits")
