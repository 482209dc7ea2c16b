"""Programs that own a ConfigMap, and would revert what others write to it. Standard library only.

Labels, annotations and names of managers are what Argo CD, Flux and Helm write by their documentation.
"""

from collections.abc import Iterator, Mapping

_OWNERS = {
    "labels": {
        "argocd.argoproj.io/instance": "Argo CD",
        "kustomize.toolkit.fluxcd.io/name": "Flux",
        "helm.toolkit.fluxcd.io/name": "Flux",
    },
    "annotations": {
        "argocd.argoproj.io/tracking-id": "Argo CD",
        "meta.helm.sh/release-name": "Helm",
    },
}
"""Programs by the kind and the name of their mark."""

_MANAGED_BY = "app.kubernetes.io/managed-by"

_MANAGERS = {
    "argocd-controller": "Argo CD",
    "argocd-application-controller": "Argo CD",
    "kustomize-controller": "Flux",
    "helm-controller": "Flux",
    "helm": "Helm",
}
"""Programs by the manager of fields that they write as."""

_NAME_SHOWN = 64


def owners_of(metadata: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Programs that own a ConfigMap, one text each with its mark, sorted. Empty if there are none.

    ``metadata``: of the object, with its managed fields. ``key``: entry of ``data`` that is to be written. A
    manager counts only if it wrote that entry.
    """
    return tuple(sorted({*_marked(metadata), *_managing(metadata, key)}))


def _marked(metadata: Mapping[str, object]) -> Iterator[str]:
    for kind, known in _OWNERS.items():
        found = _mapping(metadata.get(kind))
        for name, program in known.items():
            if name in found:
                yield f"{program} ({kind[:-1]} {name}: {_shown(found[name])})"
    if _mapping(metadata.get("labels")).get(_MANAGED_BY) == "Helm":
        yield f"Helm (label {_MANAGED_BY})"


def _managing(metadata: Mapping[str, object], key: str) -> Iterator[str]:
    entries = metadata.get("managedFields")
    for each in entries if isinstance(entries, list) else ():
        entry = _mapping(each)
        manager = entry.get("manager")
        program = _MANAGERS.get(manager) if isinstance(manager, str) else None
        if program and f"f:{key}" in _mapping(_mapping(entry.get("fieldsV1")).get("f:data")):
            yield f"{program} (field manager {manager})"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _shown(value: object) -> str:
    """Text of an object for one line of a message."""
    text = str(value)[:_NAME_SHOWN]
    return "".join(each if each.isprintable() else "?" for each in text)
