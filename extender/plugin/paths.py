"""Paths of the REST interface."""

from urllib.parse import quote

PARTITION = "/ws/v1/partition/default"


def segment(name: str) -> str:
    """A name as one part of a path. The interface decodes names twice (REST-22)."""
    return quote(quote(name, safe=""), safe="")


def once(name: str) -> str:
    """A name as one part of a path that is decoded once, as in the aggregated API."""
    return quote(name, safe="")


def is_simple(name: str) -> bool:
    """True for a name that every proxy passes on unchanged."""
    return bool(name) and all(each.isascii() and (each.isalnum() or each in "-_.") for each in name)
