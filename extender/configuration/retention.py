"""Retention of a ConfigMap or document that was deleted (F-4). Pure.

The difference from SRC-3, SRC-5 and SRC-7 is intended: deleting a ConfigMap must not lift a quota.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from extender.configuration.sources import Unpacked, has_content

Entries = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a ConfigMap's contents.

    ``first``: True for ``yunikorn-defaults``. ``how``: completes a sentence that begins with the ConfigMap.
    """

    first: bool
    how: str


def retained(before: Unpacked, now: Unpacked, document_key: str) -> tuple[Unpacked, tuple[Loss, ...]]:
    """The ConfigMaps as of ``now``. One that lost its document or all of its keys is as of ``before``."""
    defaults = _how_lost(before.defaults, now.defaults, document_key)
    configs = _how_lost(before.configs, now.configs, document_key)
    losses = tuple(Loss(first, how) for first, how in ((True, defaults), (False, configs)) if how)
    retained_maps = replace(
        now,
        defaults=before.defaults if defaults else now.defaults,
        configs=before.configs if configs else now.configs,
    )
    return retained_maps, losses


def _how_lost(before: Entries | None, now: Entries | None, document_key: str) -> str:
    """How a ConfigMap lost its contents, or empty."""
    if not before:
        return ""
    if now is None:
        return "is gone"
    if not now:
        return "is empty"
    if _document(before, document_key) and not _document(now, document_key):
        return f"has no {document_key} any more"
    return ""


def _document(entries: Entries, key: str) -> bool:
    return has_content(entries.get(key, ""))
