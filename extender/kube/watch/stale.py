"""Since when each watch has told nothing, for metrics and for people."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from extender.kube.watch.feeds import ConfigMapFeed, Feeds
from extender.kube.watch.reflector import Reflector


class Heard(NamedTuple):
    """A kind that is watched, and when its watch was heard."""

    kind: str
    #: Time of the last page or line on the monotonic clock; None before the first.
    at: float | None
    error: str


def heard(feeds: Feeds, config_maps: ConfigMapFeed) -> Iterator[Heard]:
    """Every kind that is followed."""
    reflectors: list[Reflector[Any]] = [*feeds.reflectors, *config_maps.reflectors]
    yield from (Heard(each.kind, each.last_heard, each.error) for each in reflectors)
    yield from (Heard(kind, at, error) for kind, at, error in feeds.pod_groups.heard())
