"""Reading files whose paths come from a user: regular ones only, and no more than fits."""

import os
import stat
from pathlib import Path


class TooLarge(Exception):
    """A file with more bytes than were allowed."""


class NoFile(Exception):
    """There is nothing of that name that could be read: no such path, a folder, a pipe, a device."""


def bytes_of(path: Path, *, most: int) -> bytes:
    """The bytes of a regular file. Never waits for a pipe, and never reads on from a device.

    Raises `NoFile`, `TooLarge` for more than ``most`` bytes, and OSError as opening does.
    """
    # A text with a null character is the path of no file, which `open` reports as a ValueError.
    if "\0" in str(path):
        raise NoFile
    try:
        with open(path, "rb", opener=_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NoFile
            found = file.read(most + 1)
    except IsADirectoryError as error:
        raise NoFile from error
    if len(found) > most:
        raise TooLarge
    return found


def _at_once(path: str, flags: int) -> int:
    """Opening a pipe without O_NONBLOCK waits until somebody writes into it."""
    return os.open(path, flags | os.O_NONBLOCK)
