"""Parts of a new pod that the rules read."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from extender.mutation.review import BadReview, Change, Request, escaped

_NO_KEYS: dict[str, str] = {}


class PodMetadata(msgspec.Struct):
    """Keys of a pod; None for a map that is absent."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Resources(msgspec.Struct):
    requests: dict[str, msgspec.Raw] | None = None
    limits: dict[str, msgspec.Raw] | None = None


class _Container(msgspec.Struct):
    resources: _Resources | None = None


class _Gate(msgspec.Struct):
    name: str = ""


class PodSpec(msgspec.Struct, rename="camel"):
    """Parts of a pod's specification."""

    scheduler_name: str = "default-scheduler"
    node_name: str = ""
    containers: list[_Container] = []
    scheduling_gates: list[_Gate] | None = None


class _Pod(msgspec.Struct):
    metadata: PodMetadata = msgspec.field(default_factory=PodMetadata)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)


@dataclass(slots=True)
class NewPod:
    """A pod under review. Rules change it, and ``changes`` lists what they did, in order."""

    metadata: PodMetadata
    spec: PodSpec
    changes: list[Change] = field(default_factory=list)

    @property
    def labels(self) -> dict[str, str]:
        """Labels, which are not to be changed here."""
        return self.metadata.labels or _NO_KEYS

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations, which are not to be changed here."""
        return self.metadata.annotations or _NO_KEYS

    def set_scheduler(self, name: str) -> None:
        """Give the pod a scheduler name."""
        self.spec.scheduler_name = name
        self._add("/spec/schedulerName", name)

    def label(self, labels: dict[str, str]) -> None:
        """Add labels, or replace their values."""
        if self.metadata.labels is None:
            self.metadata.labels = {}
            self._add("/metadata/labels", {})
        for key, value in labels.items():
            self.metadata.labels[key] = value
            self._add(f"/metadata/labels/{escaped(key)}", value)

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation, or replace its value."""
        if self.metadata.annotations is None:
            self.metadata.annotations = {}
            self._add("/metadata/annotations", {})
        self.metadata.annotations[key] = value
        self._add(f"/metadata/annotations/{escaped(key)}", value)

    def request(self, names: tuple[str, ...]) -> None:
        """Let the first container request one of each extended resource, which also needs an equal limit."""
        first, place = self.spec.containers[0], "/spec/containers/0/resources"
        if first.resources is None:
            first.resources = _Resources()
            self._add(place, {})
        for part in ("requests", "limits"):
            amounts = getattr(first.resources, part)
            if amounts is None:
                setattr(first.resources, part, {})
                self._add(f"{place}/{part}", {})
            for name in names:
                self._add(f"{place}/{part}/{escaped(name)}", "1")

    def gate(self, name: str) -> None:
        """Add a scheduling gate."""
        if self.spec.scheduling_gates is None:
            self.spec.scheduling_gates = []
            self._add("/spec/schedulingGates", [])
        self.spec.scheduling_gates.append(_Gate(name))
        self._add("/spec/schedulingGates/-", {"name": name})

    def _add(self, path: str, value: Any) -> None:
        self.changes.append(Change(path, value))


_POD = msgspec.json.Decoder(_Pod)


def pod_from(request: Request) -> NewPod:
    """Read the pod of a request. Raises `BadReview`."""
    try:
        read = _POD.decode(request.object)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise BadReview("the object under review is no pod") from None
    return NewPod(read.metadata, read.spec)
