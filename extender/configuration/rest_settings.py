"""Service keys that the REST interface reads: about events, health checks and the cluster's id."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from extender.wire.service_keys import (
    BATCH_SIZE,
    CLUSTER_ID,
    HEALTH_INTERVAL,
    RING_CAPACITY,
    SERVICE_KEYS,
    STREAMS,
    STREAMS_PER_HOST,
    TRACKING,
)


@dataclass(frozen=True, slots=True)
class RestSettings:
    """Values of the keys. A change applies from the next request on."""

    #: Id of the cluster in answers.
    cluster_id: str
    #: True while event records are stored.
    tracks_events: bool
    #: Number of stored event records.
    ring_capacity: int
    #: Most event records in one answer.
    batch: int
    #: Most open event streams.
    streams: int
    #: Most open event streams that name the same host.
    streams_per_host: int
    #: Seconds between two rounds of health checks; 0 for none.
    health_every: float


def rest_settings_from(keys: Mapping[str, str]) -> RestSettings:
    """Read the keys. An unreadable value, or a number below 1, counts as the default."""
    return RestSettings(
        cluster_id=_read(keys, CLUSTER_ID),
        tracks_events=_read(keys, TRACKING),
        ring_capacity=_number(keys, RING_CAPACITY),
        batch=_number(keys, BATCH_SIZE),
        streams=_number(keys, STREAMS),
        streams_per_host=_number(keys, STREAMS_PER_HOST),
        health_every=max(0.0, float(_read(keys, HEALTH_INTERVAL))),
    )


def _read(keys: Mapping[str, str], name: str) -> Any:
    key = SERVICE_KEYS[name]
    try:
        return key.read(keys.get(name, key.default))
    except ValueError:
        return key.read(key.default)


def _number(keys: Mapping[str, str], name: str) -> int:
    found = int(_read(keys, name))
    return found if found > 0 else int(SERVICE_KEYS[name].default)
