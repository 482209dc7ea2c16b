"""Age of the last message of each watch, for metrics and readiness."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from extender.kube.watch.feeds import ConfigMapFeed, Feeds
from extender.kube.watch.reflector import Reflector


class Heard(NamedTuple):
    """The last message of the watch of a kind."""

    kind: str
    #: Time of the last page or line on the monotonic clock; None before the first.
    at: float | None
    error: str


def heard(feeds: Feeds, config_maps: ConfigMapFeed) -> Iterator[Heard]:
    """The last messages of all watches."""
    reflectors: list[Reflector[Any]] = [*feeds.reflectors, *config_maps.reflectors]
    yield from (Heard(each.kind, each.last_heard, each.error) for each in reflectors)
    yield from (Heard(kind, at, error) for kind, at, error in feeds.pod_groups.heard())
