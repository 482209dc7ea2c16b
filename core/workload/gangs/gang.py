"""Gangs: definitions, by an application's first pod or by labels, of pods that start together. Values only.

`extender.wire.annotations.gang` reads and checks a definition. `core.workload.gangs.refusals` says whether a
queue can take it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.ids import PodUid
from core.resource import Resource
from core.workload.nodes.affinity import Toleration

DEFAULT_TIMEOUT = 900.0
"""Seconds that placeholders have if a gang does not say (GANG-15)."""

_LONGEST_TIMEOUT = (2**63 - 1) // 10**9
"""Largest timeout in seconds. A larger one does not fit in nanoseconds, and then the default counts
(GANG-15)."""


class GangStyle(StrEnum):
    """Fate of a gang whose placeholders did not come in time (GANG-16)."""

    HARD = "Hard"
    """The gang fails."""
    SOFT = "Soft"
    """Members are placed like any other pods."""


@dataclass(frozen=True, slots=True)
class PlaceholderTemplate:
    """Template of a group's placeholders (POD-10), in the form of the API's JSON. Read only.

    ``requests``: quantities by Kubernetes' resource names, without markers. Other fields: parts of a pod's
    metadata and spec, with the API's spelling of every key.
    """

    requests: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ()
    affinity: Mapping[str, Any] = field(default_factory=dict)
    topology_spread: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Members of an application that are alike (POD-10).

    ``members``: the required number, at least 1. ``size``: size of one placeholder, including ``pods`` 1.
    Names may repeat within a gang. Reports that name a group cannot tell such groups apart.
    """

    name: str
    members: int
    size: Resource
    template: PlaceholderTemplate = PlaceholderTemplate()


@dataclass(frozen=True, slots=True)
class GangPolicy:
    """Policy of a gang (POD-14). ``timeout``: seconds as written; zero and below mean the default."""

    style: GangStyle = GangStyle.SOFT
    timeout: int = 0

    @property
    def placeholder_timeout(self) -> float:
        """Seconds that placeholders have, before the age of the defining pod is subtracted."""
        return float(self.timeout) if 0 < self.timeout <= _LONGEST_TIMEOUT else DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True)
class Gang:
    """Task groups of an application, at least one (GANG-1).

    ``total``: amounts of all its placeholders, ``placeholderAsk`` (POD-13), below 2^63 (POD-11). ``written``
    and ``policy_written``: the two annotations as written, which placeholders carry (GANG-3).
    """

    groups: tuple[TaskGroup, ...]
    total: Resource
    policy: GangPolicy = GangPolicy()
    written: str = ""
    policy_written: str = ""

    def group(self, name: str) -> TaskGroup | None:
        """First group of that name, or None. A pod that names no group is no member (GANG-1)."""
        return next((each for each in self.groups if each.name == name), None)


class GroupSource(StrEnum):
    """Place where a pod group is defined."""

    LABELS = "labels"
    """Labels of its pods (COS-1)."""
    PLUGIN = "scheduling.x-k8s.io"
    """PodGroup objects of scheduler-plugins (COS-10)."""
    NATIVE = "scheduling.k8s.io"
    """Kubernetes' own PodGroup objects (COS-22)."""


@dataclass(frozen=True, slots=True)
class Originator:
    """Pod that owns a gang's placeholders, with the fields that they copy from it (GANG-2, GANG-3).

    ``markers``: Paddock's resources that it asks for (DESIGN-6). ``gated``: True if Paddock's gate holds it.
    ``labels``, ``annotations`` (those that its own task groups name) and ``tolerations``: copied because the
    pod itself was allowed to carry them (F-16).
    """

    uid: PodUid
    name: str
    scheduler_name: str = ""
    priority_class: str = ""
    pull_secrets: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    gated: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Group that a pod names, within its namespace (COS-1, COS-10, COS-20).

    ``min_available``: at least 1; 0 if an object says it.
    """

    name: str
    min_available: int
    source: GroupSource = GroupSource.LABELS


@dataclass(frozen=True, slots=True)
class Misdefined:
    """Keys of a gang that cannot be read and count for nothing (POD-12, COS-1). ``why``: for people."""

    why: str
