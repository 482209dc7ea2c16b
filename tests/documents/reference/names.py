"""The page of annotations, labels, resources and other names on objects of the API."""

import re
from collections.abc import Iterable, Iterator

from tests.documents.reference.markdown import code, page, sentence, table
from tests.documents.reference.meanings import meanings
from tests.interfaces.comparing import recorded_lines
from tests.interfaces.product import ROOT

_INTRO = """\
# Names on objects

Annotations, labels, resources and other names that Paddock reads or writes on objects of the Kubernetes
API."""

_READ = """\
## Keys that users write

Read on pods, namespaces and priority classes. Where a pod has several keys of one kind, the order is
[POD-3](../specification/pods-and-applications.md#pod-3) for applications and
[POD-5](../specification/pods-and-applications.md#pod-5) for queues."""

_OWN = """\
## Names of paddock.dev

Written by Paddock or by its policies. Where `manifests/records` is installed, only Paddock and cluster
admins may write these annotations of pods."""

_MAPS = """\
## ConfigMaps

`yunikorn-defaults` and `yunikorn-configs` in the namespace of Paddock, merged key by key; the second wins
([SRC-1](../specification/configuration.md#src-1)).
Names of YuniKorn's own objects, such as its webhook's Service, are keys without effect only."""

_DOMAIN = "paddock.dev/"
_NO_NAMES = {_DOMAIN, f"{_DOMAIN}v1"}
"""The prefix by itself, and the version of scenarios."""
_IN_MANIFESTS = re.compile(rf"{re.escape(_DOMAIN)}[a-z][a-z-]*")


def names_page() -> str:
    read = [line for line in recorded_lines("keys-read") if not line.split(" ")[2].startswith(_DOMAIN)]
    users = meanings("keys", read)
    own = sorted(_own_names())
    ours = meanings("names", own)
    return page(
        _INTRO,
        _READ,
        table(
            ("on a", "as", "key", "meaning"),
            ((*_placed(line), sentence(users[line])) for line in read),
        ),
        _OWN,
        table(("name", "meaning"), ((code(name), sentence(ours[name])) for name in own)),
        _MAPS,
    )


def _placed(line: str) -> tuple[str, str, str]:
    kind, place, key = line.split(" ")
    return kind, place, code(key)


def _own_names() -> set[str]:
    """Names of the domain in the code and in the manifests."""
    named = {name for name in recorded_lines("names") if name.startswith(_DOMAIN)}
    return (named | set(_in_manifests(ROOT.glob("manifests/**/*.yaml")))) - _NO_NAMES


def _in_manifests(files: Iterable) -> Iterator[str]:
    for path in files:
        yield from _IN_MANIFESTS.findall(path.read_text(encoding="utf-8"))
