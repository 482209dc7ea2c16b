"""Edit of a ConfigMap that replaces the queue document and nothing else. Standard library only.

The text of the user is stored as it is. Other keys stay as they are.
"""

from collections.abc import Mapping

from core.errors import PaddockError
from extender.configuration.ownership import owners_of

MOST_BYTES = 2**20
"""Bytes of a document, at most: the API server stores no larger ConfigMap."""


class EditRefused(PaddockError):
    """An edit that would not last, or would have no effect. Nothing was written."""


class Overtaken(PaddockError):
    """The ConfigMap was changed since it was read, so nothing was written."""


class NotThere(PaddockError):
    """There is no such ConfigMap."""


class NotWritten(PaddockError):
    """A ConfigMap that could not be read or written, or whose write is not certain."""


def document_in(config_map: Mapping[str, object], key: str) -> str | None:
    """Document in ``data`` of a ConfigMap; None without one."""
    found = _part(config_map, "data").get(key)
    return found if isinstance(found, str) else None


def check_edit(config_map: Mapping[str, object], key: str, *, force: bool) -> None:
    """Check whether a new document in ``data`` would count and last. Raises `EditRefused`.

    ``force``: True to write although another program would revert it.
    """
    name = str(_part(config_map, "metadata").get("name", ""))
    for packed in sorted(_part(config_map, "binaryData")):
        # SRC-2: an entry of binaryData counts under its name without the suffix, and wins over data.
        if packed.rpartition(".")[0] == key or packed == key:
            raise EditRefused(
                f"binaryData of ConfigMap {name} has {packed}, which wins over {key} in data: remove it first"
            )
    if config_map.get("immutable") is True:
        raise EditRefused(f"ConfigMap {name} is immutable: delete it and create it again")
    owners = owners_of(_part(config_map, "metadata"), key)
    if owners and not force:
        raise EditRefused(
            f"ConfigMap {name} belongs to {', '.join(owners)}, which would revert the change: "
            "change its source, or use force"
        )


def _part(config_map: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = config_map.get(name)
    return found if isinstance(found, Mapping) else {}
