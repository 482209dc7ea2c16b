"""``make manifests``: write the files of the kustomize overlays from the chart, which is their one source."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from e2e.programs.helm import Case, Rendered, render
from tests.manifests.rendering import MANIFESTS

FIRST_LINE = "# Rendered from manifests/chart by `make manifests`.\n"
_IMAGES = {"paddock": {"repository": "paddock"}, "scheduler": {"repository": "kube-scheduler"}}
_EVERYTHING: dict[str, Any] = {
    "kustomize": True,
    "namespace": {"create": True},
    "images": _IMAGES,
    "identity": {"enabled": True},
    "gates": {"enabled": True},
    "adopt": {"enabled": True},
}
_FORMS = {
    "sidecar": ("plain", "scoped", "prioritize", "direct"),
    "kubeadm": ("plain", "scoped", "prioritize", "direct"),
    "service": ("scoped", "prioritize", "direct"),
}
_ROLES = (
    "core",
    "gangs",
    "preemption",
    "direct-delete",
    "authentication",
    "certificate",
    "aggregated-api",
    "configuration",
)
_FROM_TEMPLATES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "base/namespace.yaml": ("service-scoped", ("namespace.yaml",)),
    "base/service-account.yaml": ("service-scoped", ("service-account.yaml",)),
    "base/rbac.yaml": ("service-scoped", tuple(f"roles/{name}.yaml" for name in _ROLES)),
    "base/bound-account.yaml": ("service-scoped", ("policies/bound-account.yaml",)),
    "base/viewers.yaml": ("service-scoped", ("roles/viewers.yaml",)),
    "sidecar/rbac.yaml": ("sidecar-plain", ("roles/kube-scheduler.yaml", "roles/direct-delete-binding.yaml")),
    "sidecar/deployment.yaml": ("sidecar-plain", ("workload/sidecar.yaml",)),
    "sidecar/service.yaml": ("sidecar-plain", ("network/service.yaml",)),
    "sidecar/api-service.yaml": ("sidecar-plain", ("network/api-service.yaml",)),
    "service/deployment.yaml": ("service-scoped", ("workload/service.yaml",)),
    "service/service.yaml": ("service-scoped", ("network/service.yaml",)),
    "service/api-service.yaml": ("service-scoped", ("network/api-service.yaml",)),
    "policies/mark-managed-pods.yaml": ("kubeadm-ungated", ("policies/mark-managed-pods.yaml",)),
    "gates/gate-managed-pods.yaml": ("kubeadm-plain", ("policies/gate-managed-pods.yaml",)),
    "kubeadm/rbac.yaml": ("kubeadm-plain", ("roles/lease.yaml",)),
    "monitoring/pod-monitor.yaml": ("monitoring-pods", ("monitoring/pod-monitor.yaml",)),
    **{
        f"monitoring/{name}.yaml": ("monitoring-service", (f"monitoring/{name}.yaml",))
        for name in ("service-monitor", "rules", "board-queues", "board-operation")
    },
    **{
        f"{folder}/{name}.yaml": ("kubeadm-scoped", (f"policies/{name}.yaml",))
        for folder, names in {
            "gated-policies": ("mark-and-gate-pods",),
            "identity": ("add-user-info", "protect-user-info"),
            "records": ("protect-records",),
            "quota": ("protect-nodes", "protect-gates", "protect-owners", "protect-requests"),
            "adopt": ("adopt-pods",),
        }.items()
        for name in names
    },
}
"""Each file: the case that it is of, and its templates in their order."""
_FROM_DATA = {
    **{
        f"{mode}/scheduler-config-{form}.yaml": (f"{mode}-{form}", f"scheduler-config-{form}.yaml")
        for mode, forms in _FORMS.items()
        for form in forms
    },
    "kubeadm/patches/kube-scheduler0+json.yaml": ("kubeadm-plain", "kube-scheduler0-json.yaml"),
    "kubeadm/patches/kube-scheduler1+strategic.yaml": ("kubeadm-plain", "kube-scheduler1-strategic.yaml"),
}
"""Each file that a ConfigMap of the chart holds: the case, and its key."""


def files() -> dict[Path, str]:
    """The text of each file that is rendered."""
    made = render(_cases())
    for name, each in made.items():
        assert not each.error, f"{name}: {each.error}"
    texts = {
        path: "---\n".join(f"{made[case].text(name).strip()}\n" for name in names)
        for path, (case, names) in _FROM_TEMPLATES.items()
    }
    texts |= {path: _data(made[case])[key] for path, (case, key) in _FROM_DATA.items()}
    return {MANIFESTS / path: FIRST_LINE + text for path, text in sorted(texts.items())}


def _cases() -> Iterator[Case]:
    for mode, forms in _FORMS.items():
        for form in forms:
            values = {**_EVERYTHING, "mode": mode, "scheduler": {"form": form}}
            if mode == "service":
                values["tls"] = {"source": "secret"}
            yield Case(f"{mode}-{form}", values)
    ungated = {"mode": "kubeadm", "scheduler": {"form": "scoped"}, "gates": {"enabled": False}}
    yield Case("kubeadm-ungated", {**_EVERYTHING, **ungated})
    for monitor in ("service", "pods"):
        monitoring = {"enabled": True, "monitor": monitor}
        yield Case(f"monitoring-{monitor}", {**_EVERYTHING, "mode": "sidecar", "monitoring": monitoring})


def _data(made: Rendered) -> dict[str, str]:
    """The texts of all ConfigMaps of a case."""
    found = [each for each in made.objects if each["kind"] == "ConfigMap"]
    return {key: text for each in found for key, text in each["data"].items()}


if __name__ == "__main__":
    for written, text in files().items():
        written.write_text(text)
