"""The bill of materials of a release, in CycloneDX 1.6: packages of Debian, wheels, chart and images."""

import hashlib
import json
import re
import urllib.parse
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from manifests.release import debian, debian_lock, wheels
from manifests.release.chart import package_name
from manifests.release.entries import Entry
from manifests.release.images import KUBERNETES, SCHEDULER, Published
from manifests.release.version import version

Json = dict[str, Any]
_LICENCE = re.compile(r"^License: *(\S.*)$", re.M)
_SPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://paddock.dev/release")


def bill(published: Published, paddock: Path, chart: bytes, cache: Path, *, time: int) -> bytes:
    """The text. ``paddock``: its wheel. ``chart``: the package of the chart. ``time``: of the commit."""
    own = _own(published)
    found = {
        each["bom-ref"]: each
        for each in (
            _of_wheel(paddock),
            _of_chart(chart),
            *_schedulers(),
            *_of_debian(cache),
            *_of_wheels(cache),
        )
    }
    components = [found[name] for name in sorted(found)]
    inside = [each["bom-ref"] for each in components if each["type"] == "library"]
    text = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_SPACE, published.reference)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": own,
        },
        "components": components,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": inside}],
    }
    return (json.dumps(text, indent=2, sort_keys=True) + "\n").encode()


def _component(kind: str, name: str, of_version: str, purl: str, **more: object) -> Json:
    return {"type": kind, "bom-ref": purl, "name": name, "version": of_version, "purl": purl, **more}


def _own(published: Published) -> Json:
    place = urllib.parse.quote(f"{published.registry}/{published.repository}", safe="")
    purl = f"pkg:oci/paddock@{published.digest.replace(':', '%3A')}?repository_url={place}&tag={version()}"
    hashes = [{"alg": "SHA-256", "content": published.digest.removeprefix("sha256:")}]
    return _component("container", "paddock", version(), purl, hashes=hashes, licenses=_named(["Apache-2.0"]))


def _of_chart(package: bytes) -> Json:
    """The chart, which is no part of the image."""
    purl = f"pkg:generic/paddock-chart@{version()}?file_name={package_name()}"
    return _component("application", "paddock-chart", version(), purl, hashes=_hashes(package))


def _schedulers() -> Iterator[Json]:
    """The images that mode sidecar pulls beside Paddock's."""
    registry, _, name = SCHEDULER.partition("/")
    for each in KUBERNETES:
        purl = f"pkg:oci/{name}?repository_url={urllib.parse.quote(f'{registry}/{name}', safe='')}&tag={each}"
        yield _component("container", name, each, purl, licenses=_named(["Apache-2.0"]))


def _of_debian(cache: Path) -> Iterator[Json]:
    for package in debian.locked():
        deb = debian.fetch(package, cache / "packages")
        fields = HeaderParser().parsestr(debian.control(deb).decode())
        version_of = urllib.parse.quote(fields["Version"], safe=".+~-")
        name = urllib.parse.quote(package.name, safe=".-")
        distribution = f"arch={package.architecture}&distro=debian-{debian_lock.NUMBER}"
        purl = f"pkg:deb/debian/{name}@{version_of}?{distribution}"
        licences = _licences_of(debian.unpacked(deb).get(f"usr/share/doc/{package.name}/copyright"))
        yield _component(
            "library", package.name, fields["Version"], purl, hashes=_hashes(deb), licenses=_named(licences)
        )


def _licences_of(copyright_file: Entry | None) -> list[str]:
    """Short names of licences, where a file of copyrights is in the form that programs can read."""
    text = (copyright_file.contents or b"").decode() if copyright_file else ""
    return sorted(set(_LICENCE.findall(text))) if text.startswith("Format:") else []


def _of_wheels(cache: Path) -> Iterator[Json]:
    for architecture in wheels.MACHINES:
        for wheel in wheels.downloaded(architecture, cache / "wheels"):
            yield _of_wheel(wheel)


def _of_wheel(wheel: Path) -> Json:
    name, of_version = wheels.name_and_version(wheel)
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (each for each in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", each))
        fields = HeaderParser().parsestr(archive.read(path).decode())
    classified = [each for each in fields.get_all("Classifier", []) if each.startswith("License ::")]
    stated = fields["License-Expression"] or fields["License"] or ""
    # A field may hold the whole text of a licence.
    licences = [stated] if stated and "\n" not in stated else [each.split(" :: ")[-1] for each in classified]
    purl = f"pkg:pypi/{name}@{of_version}?file_name={urllib.parse.quote(wheel.name)}"
    hashes = _hashes(wheel.read_bytes())
    return _component("library", name, of_version, purl, hashes=hashes, licenses=_named(licences))


def _named(licences: Iterable[str]) -> list[Json]:
    return [{"license": {"name": each}} for each in licences]


def _hashes(contents: bytes) -> list[Json]:
    return [{"alg": "SHA-256", "content": hashlib.sha256(contents).hexdigest()}]
