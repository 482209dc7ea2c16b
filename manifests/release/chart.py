"""The package of the chart. Unlike the chart in the sources it names the images of its release."""

from manifests.release.entries import Entry, file, tar, with_folders, zipped
from manifests.release.images import SCHEDULER, Published
from manifests.release.version import ROOT, version

CHART = ROOT / "manifests" / "chart"
_IMAGE = """\
  {name}:
    registry: ""
    repository: ""
"""
_NAMED = """\
  {name}:
    registry: {registry}
    repository: {repository}
"""
_DEFAULTS = (
    "  # No repository has a default: name one from which your cluster pulls. "
    "A digest is used instead of the tag.\n"
)
_NAMED_DEFAULTS = "  # The images of this release. A digest is used instead of the tag.\n"
_TAG = """\
    # Empty: the version of the chart.
    tag: ""
    digest: ""
"""
_DIGEST = """\
    # Empty: the version of the chart.
    tag: ""
    digest: {digest}
"""


class OtherValues(Exception):
    """A values.yaml in which the places to fill are not found."""


def package_name() -> str:
    """Name of the package, as `helm package` gives it."""
    return f"paddock-{version()}.tgz"


def package(published: Published, *, time: int) -> bytes:
    """The package. Helm's own has the time of its making in it, so two would differ."""
    files = {path: path.relative_to(CHART).as_posix() for path in CHART.rglob("*") if path.is_file()}
    entries: dict[str, Entry] = {
        f"paddock/{name}": file(path.read_bytes()) for path, name in files.items() if name != ".helmignore"
    }
    entries["paddock/values.yaml"] = file(_values(published).encode())
    entries["paddock/LICENSE"] = file((ROOT / "LICENSE").read_bytes())
    found = {path: entry for path, entry in with_folders(entries).items() if entry.contents is not None}
    return zipped(tar(found, time=time))


def _values(published: Published) -> str:
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    scheduler_registry, _, scheduler = SCHEDULER.partition("/")
    changes = [(_DEFAULTS, _NAMED_DEFAULTS), (_TAG, _DIGEST.format(digest=published.digest))]
    for name, registry, repository in (
        ("paddock", published.registry, published.repository),
        ("scheduler", scheduler_registry, scheduler),
    ):
        named = _NAMED.format(name=name, registry=registry, repository=repository)
        changes.append((_IMAGE.format(name=name), named))
    for old, new in changes:
        if text.count(old) != 1:
            raise OtherValues(f"manifests/chart/values.yaml has {text.count(old)} times:\n{old}")
        text = text.replace(old, new)
    return text
