"""Gangs: what an application's first pod, or a pod's labels, say of pods that start together. Values only.

How such a definition is read and checked is the matter of `extender.wire.annotations.gang`; where it must
fit, that of `core.workload.gangs.refusals`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.ids import PodUid
from core.resource import Resource
from core.workload.nodes.affinity import Toleration

DEFAULT_TIMEOUT = 900.0
"""Seconds that placeholders have when a gang does not say (GANG-15)."""

_LONGEST_TIMEOUT = (2**63 - 1) // 10**9
"""Seconds; more of them are no number of nanoseconds, and then the default counts (GANG-15)."""


class GangStyle(StrEnum):
    """What becomes of a gang whose placeholders did not come in time (GANG-16)."""

    HARD = "Hard"
    """It fails."""
    SOFT = "Soft"
    """Its members are placed like any other pods."""


@dataclass(frozen=True, slots=True)
class PlaceholderTemplate:
    """What a group says of its placeholders (POD-10), as JSON of the API has it; only to be read.

    ``requests``: quantities by Kubernetes' resource names, without markers; the others: fields of a pod's
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

    ``members``: how many there must be, at least 1; ``size``: of one placeholder, ``pods`` 1 included. Names
    may repeat within a gang; nothing that is told of a group by its name can tell those apart.
    """

    name: str
    members: int
    size: Resource
    template: PlaceholderTemplate = PlaceholderTemplate()


@dataclass(frozen=True, slots=True)
class GangPolicy:
    """POD-14. ``timeout``: seconds as written, of which zero and below mean the default."""

    style: GangStyle = GangStyle.SOFT
    timeout: int = 0

    @property
    def placeholder_timeout(self) -> float:
        """Seconds that placeholders have, before the age of the pod that defined them is taken off."""
        return float(self.timeout) if 0 < self.timeout <= _LONGEST_TIMEOUT else DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True)
class Gang:
    """The task groups of an application, at least one (GANG-1).

    ``total``: what all its placeholders ask for, ``placeholderAsk`` (POD-13), below 2^63 (POD-11);
    ``written`` and ``policy_written``: the two annotations as they stood, which placeholders carry (GANG-3).
    """

    groups: tuple[TaskGroup, ...]
    total: Resource
    policy: GangPolicy = GangPolicy()
    written: str = ""
    policy_written: str = ""

    def group(self, name: str) -> TaskGroup | None:
        """The first group of that name; a pod that names none of them is no member (GANG-1)."""
        return next((each for each in self.groups if each.name == name), None)


class GroupSource(StrEnum):
    """Where it is said what a pod group is."""

    LABELS = "labels"
    """On its pods (COS-1)."""
    PLUGIN = "scheduling.x-k8s.io"
    """In the PodGroup objects of scheduler-plugins (COS-10)."""
    NATIVE = "scheduling.k8s.io"
    """In Kubernetes' own (COS-22)."""


@dataclass(frozen=True, slots=True)
class Originator:
    """The pod that a gang's placeholders belong to, with what they take from it (GANG-2, GANG-3).

    ``markers``: resources of ours that it asks for (DESIGN-6); ``gated``: it stands behind our gate;
    ``labels``, ``annotations`` (those that its own task groups name) and ``tolerations``: what it carries
    itself, and so was allowed to (F-16).
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
    """The group that a pod names, within its namespace (COS-1, COS-10, COS-20).

    ``min_available``: at least 1; 0 where an object says it.
    """

    name: str
    min_available: int
    source: GroupSource = GroupSource.LABELS


@dataclass(frozen=True, slots=True)
class Misdefined:
    """Keys of a gang that count for nothing, as they cannot be read (POD-12, COS-1). ``why``: for people."""

    why: str
