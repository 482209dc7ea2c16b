"""Names in paths: how they are escaped, and what a name may be (REST-22). Raises `Refused`."""

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
    """True if every percent sign begins an escape of two digits."""
    return _BROKEN.search(text) is None


def decoded_path(path: str) -> str:
    """The router's own decoding, in which a plus is a plus. Bytes that are no UTF-8 are replaced."""
    return unquote_to_bytes(path).decode("utf-8", "replace")


def decoded_again(text: str) -> str:
    """A handler's decoding of a name, in which a plus is a space."""
    if not is_escaped_right(text):
        raise bad_request(f"invalid URL escape {text[:_SHOWN]!r}")
    return unquote_plus(text, errors="replace")


def check_queue_name(path: str) -> None:
    """Every part must be a name; whether there is such a queue is another question."""
    for part in path.split(".") if path else ():
        if not _QUEUE_PART.fullmatch(part):
            raise bad_request(
                f"invalid queue name {part[:_SHOWN]!r}: letters, digits and _:#/@- only, at most 64"
            )


def check_user_name(name: str) -> None:
    """Raise `Refused` for what is no name of a user."""
    if not _USER.fullmatch(name):
        raise bad_request("Invalid user name")


def check_group_name(name: str) -> None:
    """Raise `Refused` for what is no name of a group."""
    if not _GROUP.fullmatch(name):
        raise bad_request("Invalid group name")


def whole_number(text: str) -> int:
    """An unsigned decimal of at most 64 bits."""
    if _DECIMAL.fullmatch(text) and len(text) <= 30 and int(text) <= MOST:
        return int(text)
    raise bad_request(f"{text[:_SHOWN]!r} is not a whole number of at most 64 bits")
