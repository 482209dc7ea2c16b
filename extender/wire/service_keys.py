"""Keys that YuniKorn reads from its two ConfigMaps, besides the queue document (SRC-4).

Each key has a type, a default and, if Paddock ignores it, the reason. The keys that have an effect are read
by `extender.configuration.settings` and, for the policy group, by `extender.configuration.sources`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from core.durations import seconds_of

POLICY_GROUP = "service.policyGroup"
HOT_REFRESH = "service.enableConfigHotRefresh"
GANGS_DISABLED = "service.disableGangScheduling"
PLACEHOLDER_IMAGE = "service.placeholderImage"
PLACEHOLDER_USER = "service.placeholderRunAsUser"
PLACEHOLDER_GROUP = "service.placeholderRunAsGroup"
PLACEHOLDER_FS_GROUP = "service.placeholderFsGroup"
CLUSTER_ID = "service.clusterId"
HEALTH_INTERVAL = "health.checkInterval"
TRACKING = "event.trackingEnabled"
RING_CAPACITY = "event.ringBufferCapacity"
STREAMS = "event.maxStreams"
STREAMS_PER_HOST = "event.maxStreamsPerHost"
BATCH_SIZE = "event.RESTResponseSize"
UNIQUE_APP_IDS = "admissionController.filtering.generateUniqueAppId"
_FILTERING = "admissionController.filtering."

TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")


def switch_of(text: str) -> bool:
    """Parse a boolean as Go's ParseBool does. Raises ValueError."""
    if text in TRUE or text in _FALSE:
        return text in TRUE
    raise ValueError("must be true or false")


def int32_of(text: str) -> int:
    """Parse decimal digits with an optional sign. Raises ValueError."""
    return _integer_of(text, bits=32)


def int64_of(text: str) -> int:
    """Parse an integer of at most 64 bits. Raises ValueError."""
    return _integer_of(text, bits=64)


def _integer_of(text: str, *, bits: int) -> int:
    most = 2 ** (bits - 1) - 1
    if _INTEGER.fullmatch(text) and -most - 1 <= int(text) <= most:
        return int(text)
    raise ValueError(f"must be a whole number of at most {bits} bits")


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """A key of YuniKorn's ConfigMaps.

    ``read``: parses a value. Raises ValueError for an invalid one.
    ``refuses``: True if an invalid value refuses the whole reload (SRC-5). Otherwise the default applies.
    ``no_effect``: why Paddock ignores the key, or what to use instead. Empty for a key that has an effect.
    """

    name: str
    read: Callable[[str], object]
    default: str
    no_effect: str
    refuses: bool = True

    @property
    def adopts(self) -> bool:
        """True if the policy that adopts pods reads it, and Paddock does not (F-9)."""
        return self.no_effect == _ADOPTION

    @property
    def needs_restart(self) -> bool:
        """True for all keys of YuniKorn's shim except the switch for reloading itself (SRC-6)."""
        return self.refuses and self.name != HOT_REFRESH


_WORKS = ""
_INTERNAL = "it sizes a part of YuniKorn that is not here"
_SCHEDULER = "kube-scheduler sets its own pace"
_BIND = "use bindTimeoutSeconds of kube-scheduler's VolumeBindingArgs"
_CLIENT = "the client of the API server is not throttled"
_HOOK = "the chart configures the webhook"
_ADOPTION = "only the policy of manifests/adopt reads it"
_IDENTITY = "the policies of manifests/identity say who gets which user.info, and who may set it"
_LOGS = "there is one level for all: use --log-level"

_SHIM = (
    ServiceKey(CLUSTER_ID, str, "mycluster", _WORKS),
    ServiceKey(POLICY_GROUP, str, "queues", _WORKS),
    ServiceKey("service.schedulingInterval", seconds_of, "1s", _SCHEDULER),
    ServiceKey("service.volumeBindTimeout", seconds_of, "10m", _BIND),
    ServiceKey("service.eventChannelCapacity", int32_of, "1048576", _INTERNAL),
    ServiceKey("service.dispatchTimeout", seconds_of, "300s", _INTERNAL),
    ServiceKey(GANGS_DISABLED, switch_of, "false", _WORKS),
    ServiceKey(HOT_REFRESH, switch_of, "true", _WORKS),
    ServiceKey(PLACEHOLDER_IMAGE, str, "registry.k8s.io/pause:3.7", _WORKS),
    ServiceKey(PLACEHOLDER_USER, int64_of, "0", _WORKS),
    ServiceKey(PLACEHOLDER_GROUP, int64_of, "0", _WORKS),
    ServiceKey(PLACEHOLDER_FS_GROUP, int64_of, "0", _WORKS),
    ServiceKey(
        "service.nodeInstanceTypeNodeLabelKey",
        str,
        "node.kubernetes.io/instance-type",
        "usage is not told by instance type",
    ),
    ServiceKey("kubernetes.qps", int32_of, "1000", _CLIENT),
    ServiceKey("kubernetes.burst", int32_of, "1000", _CLIENT),
    ServiceKey(UNIQUE_APP_IDS, switch_of, "false", _WORKS),
)

_CORE_AND_ADMISSION: tuple[tuple[str, Callable[[str], object], str, str], ...] = (
    (HEALTH_INTERVAL, seconds_of, "30s", _WORKS),
    (TRACKING, switch_of, "true", _WORKS),
    ("event.requestCapacity", int32_of, "1000", _INTERNAL),
    (RING_CAPACITY, int32_of, "100000", _WORKS),
    (STREAMS, int32_of, "100", _WORKS),
    (STREAMS_PER_HOST, int32_of, "15", _WORKS),
    (BATCH_SIZE, int32_of, "10000", _WORKS),
    ("log.level", str, "", _LOGS),
    (_FILTERING + "processNamespaces", str, "", _ADOPTION),
    (_FILTERING + "bypassNamespaces", str, "^kube-system$", _ADOPTION),
    (_FILTERING + "labelNamespaces", str, "", _ADOPTION),
    (_FILTERING + "noLabelNamespaces", str, "", _ADOPTION),
    (_FILTERING + "defaultQueue", str, "", _ADOPTION),
    ("admissionController.accessControl.bypassAuth", switch_of, "false", _IDENTITY),
    ("admissionController.accessControl.trustControllers", switch_of, "true", _IDENTITY),
    ("admissionController.accessControl.systemUsers", str, "^system:serviceaccount:kube-system:", _IDENTITY),
    ("admissionController.accessControl.externalUsers", str, "", _IDENTITY),
    ("admissionController.accessControl.externalGroups", str, "", _IDENTITY),
    ("admissionController.webHook.amServiceName", str, "yunikorn-admission-controller-service", _HOOK),
    ("admissionController.webHook.schedulerServiceAddress", str, "yunikorn-service:9080", _HOOK),
)

SERVICE_KEYS: Mapping[str, ServiceKey] = {
    key.name: key for key in (*_SHIM, *(ServiceKey(*row, refuses=False) for row in _CORE_AND_ADMISSION))
}
"""Every key by its name. ``log.level`` also stands for the levels of single loggers."""

_LOGGER_LEVEL = re.compile(r"log\.[^\s]+\.level")


def service_key(name: str) -> ServiceKey | None:
    """The key of that name, or None if YuniKorn has none. ``log.core.level`` counts as ``log.level``."""
    return SERVICE_KEYS["log.level"] if _LOGGER_LEVEL.fullmatch(name) else SERVICE_KEYS.get(name)


def bad_values(config_map: Mapping[str, str]) -> dict[str, str]:
    """Errors in values that refuse a reload, by key (SRC-5). Includes keys without effect."""
    wrong = {}
    for key in _SHIM:
        try:
            key.read(config_map.get(key.name, key.default))
        except ValueError as error:
            wrong[key.name] = str(error)
    return wrong


def held_values(config_map: Mapping[str, str], *, but: Iterable[str]) -> dict[str, object]:
    """Parsed values of the keys that only change with a restart (SRC-6), including defaults.

    ``but``: keys to leave out. Raises ValueError if `bad_values` finds an error.
    """
    # The parsed values are compared, so that a change from 60s to 1m is none.
    names = {key.name for key in _SHIM if key.needs_restart} - set(but)
    return {
        name: SERVICE_KEYS[name].read(config_map.get(name, SERVICE_KEYS[name].default))
        for name in sorted(names)
    }
