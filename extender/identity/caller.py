"""Callers and what they ask for, as values. No I/O."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AuthenticatedUser:
    """A user as the API server names it, by a TokenReview or by the headers of its proxy.

    ``extra``: further attributes with their values, sorted by name.
    """

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class PathAccess:
    """A verb on a URL that is no resource. ``verb``: the HTTP method in lower case, as RBAC has it."""

    path: str
    verb: str

    @property
    def target(self) -> str:
        """The path."""
        return self.path


@dataclass(frozen=True, slots=True)
class ResourceAccess:
    """A verb on a resource of a group. What is empty is not part of the question."""

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
