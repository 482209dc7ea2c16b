"""The images that an installation pulls, and where Paddock's own will be published."""

import re
from dataclasses import dataclass

from manifests.release.version import version

SCHEDULER = "registry.k8s.io/kube-scheduler"
KUBERNETES = ("v1.33.13", "v1.34.4", "v1.35.4", "v1.36.2")
"""Versions of Kubernetes that a release is tested with. An installation needs that of its own cluster."""

_NAME = re.compile(r"(?P<registry>[a-z0-9.-]+(:[0-9]+)?)/(?P<repository>[a-z0-9]+([/._-]+[a-z0-9]+)*)")
_FIRST = """\
# Every image of Paddock {version}, for all modes. mirror-images.sh copies them.
# kube-scheduler is for mode sidecar only. It needs the version of the cluster.
"""


class NotAnImage(Exception):
    """A name that is no registry and repository."""


@dataclass(frozen=True)
class Published:
    """Paddock's image. ``digest``: of its index."""

    registry: str
    repository: str
    digest: str

    @property
    def reference(self) -> str:
        """The image by its tag and its digest."""
        return f"{self.registry}/{self.repository}:{version()}@{self.digest}"


def published(name: str, digest: str) -> Published:
    """The image under a name such as ``registry.example.com/paddock``. Raises `NotAnImage`."""
    found = _NAME.fullmatch(name)
    if found is None or not ({".", ":"} & set(found["registry"]) or found["registry"] == "localhost"):
        raise NotAnImage(
            f"IMAGE={name}: give a registry and a repository, such as registry.example.com/paddock"
        )
    return Published(found["registry"], found["repository"], digest)


def listed(own: Published) -> str:
    """The text of images.txt."""
    schedulers = [f"{SCHEDULER}:{each}" for each in KUBERNETES]
    return _FIRST.format(version=version()) + "\n".join([own.reference, *schedulers, ""])
