"""Callers and the access that they request, as values. No I/O."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AuthenticatedUser:
    """User, as named by a TokenReview or by the headers of the API server's proxy.

    ``extra``: further attributes and their values, sorted by name.
    """

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class PathAccess:
    """Access to a non-resource URL. ``verb``: the HTTP method in lower case, as RBAC names it."""

    path: str
    verb: str

    @property
    def target(self) -> str:
        """The path."""
        return self.path


@dataclass(frozen=True, slots=True)
class ResourceAccess:
    """Access to a resource of an API group. Empty fields are left out of the review."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def target(self) -> str:
        """The resource as a path, as the API server has it below the group."""
        before = f"namespaces/{self.namespace}/" if self.namespace else ""
        return before + "/".join(each for each in (self.resource, self.name, self.subresource) if each)


Access = PathAccess | ResourceAccess
