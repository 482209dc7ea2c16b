"""Readers of files whose paths come from a user: regular files only, and only up to a size."""

import os
import stat
from pathlib import Path


class TooLarge(Exception):
    """A file with more bytes than were allowed."""


class NoFile(Exception):
    """A path with nothing to read: no such path, a folder, a pipe, a device."""


def bytes_of(path: Path, *, most: int) -> bytes:
    """The bytes of a regular file, read without waiting for a pipe or reading on from a device.

    Raises `NoFile`, `TooLarge` for more than ``most`` bytes, and OSError as opening does.
    """
    # A path with a null character belongs to no file, and `open` raises a ValueError for it.
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
    """Open without waiting. Opening a pipe without O_NONBLOCK waits for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)
