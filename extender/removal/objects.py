"""Objects of the API server, as far as a removal reads them."""

import msgspec


class Metadata(msgspec.Struct, rename="camel"):
    """Metadata of an object."""

    name: str
    namespace: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class Gate(msgspec.Struct):
    """A scheduling gate."""

    name: str


class Resources(msgspec.Struct):
    """Resources of a container."""

    requests: dict[str, str] | None = None


class Container(msgspec.Struct):
    """A container of a pod."""

    resources: Resources | None = None


class Spec(msgspec.Struct, rename="camel"):
    """Spec of a pod. Other objects leave it empty."""

    node_name: str = ""
    scheduler_name: str = ""
    scheduling_gates: list[Gate] | None = None
    containers: list[Container] | None = None


class Status(msgspec.Struct):
    """Status of a pod."""

    phase: str = ""


class Item(msgspec.Struct):
    """A pod."""

    metadata: Metadata
    spec: Spec = msgspec.field(default_factory=Spec)
    status: Status = msgspec.field(default_factory=Status)

    @property
    def path(self) -> str:
        """Path of the pod at the API server."""
        return f"/api/v1/namespaces/{self.metadata.namespace}/pods/{self.metadata.name}"

    @property
    def is_over(self) -> bool:
        """True if the pod has ended."""
        return self.status.phase in ("Succeeded", "Failed")

    def has_request(self, prefix: str) -> bool:
        """True if a container requests a resource of this prefix."""
        requests = (each.resources.requests for each in self.spec.containers or () if each.resources)
        return any(name.startswith(prefix) for each in requests for name in each or ())


class Named(msgspec.Struct):
    """An object of which only the name counts."""

    metadata: Metadata


class Listing(msgspec.Struct):
    """A list of such objects."""

    items: list[Named]


class Page(msgspec.Struct):
    """Metadata of a page. ``next_page``: token of the next one; empty or None for the last."""

    next_page: str | None = msgspec.field(default=None, name="continue")


class PodPage(msgspec.Struct):
    """A page of a list of pods."""

    items: list[Item]
    metadata: Page


class ConfigMap(msgspec.Struct):
    """A ConfigMap."""

    data: dict[str, str] | None = None
