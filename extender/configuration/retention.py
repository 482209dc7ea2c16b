"""Retention of a ConfigMap, or of the document in it, that is lost (F-4). Pure.

Differs from SRC-3, SRC-5 and SRC-7 on purpose: a deleted ConfigMap must not lift a quota.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from extender.configuration.sources import Unpacked, says_something

Entries = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Loss:
    """A map that lost what it held. ``first``: it is ``yunikorn-defaults``; ``how``: ends a sentence."""

    first: bool
    how: str


def retained(before: Unpacked, now: Unpacked, document_key: str) -> tuple[Unpacked, tuple[Loss, ...]]:
    """The maps as they are ``now``, but each that lost its document or all its keys as it was ``before``."""
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
    """Empty when nothing was lost."""
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
    return says_something(entries.get(key, ""))
