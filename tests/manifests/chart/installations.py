"""Installations of the chart: every mode, form and version of Kubernetes, in three sizes."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

from e2e.programs.helm import Case, Rendered, render

GROUP = "admissionregistration.k8s.io"
V1, V1_BETA = (f"{GROUP}/{version}/MutatingAdmissionPolicy" for version in ("v1", "v1beta1"))
SERVED: Mapping[str, tuple[str, ...]] = {
    "v1.33.13": (),
    "v1.34.4-gke.1200": (V1_BETA,),
    "v1.35.4-eks-abc123": (V1_BETA,),
    "v1.36.2": (V1, V1_BETA),
}
"""Policies that an API server of each minor version may serve."""
MODES, FORMS = ("sidecar", "service", "kubeadm"), ("plain", "scoped", "prioritize", "direct")
IMAGES = {"images": {"paddock": {"repository": "r/paddock"}, "scheduler": {"repository": "r/kube-scheduler"}}}
_DIGEST = "sha256:" + "0" * 64
_OFF, _ON = {"enabled": False}, {"enabled": True}

LEAST: dict[str, Any] = {
    **dict.fromkeys(("rest", "apiService", "viewerRoles", "records", "quota"), _OFF),
    "abilities": {"gangs": False, "preemption": False, "executionTimeout": False},
    "pod": {"preferControlPlane": False, "tolerations": [], "priorityClassName": ""},
}
MOST: dict[str, Any] = {
    **dict.fromkeys(("identity", "gates", "adopt", "networkPolicy", "monitoring", "resourceQuota"), _ON),
    **dict.fromkeys(("spread", "podDisruptionBudget"), _ON),
    "abilities": {"directDelete": True},
    "mutation": {"beta": True},
    "queues": {"initial": "partitions: [{name: default, queues: [{name: root}]}]\n"},
    "namespace": {"create": True},
    "global": {"imageRegistry": "registry.test", "imagePullSecrets": ["pull"]},
    "images": {
        "paddock": {"repository": "paddock", "digest": _DIGEST},
        "scheduler": {"repository": "kube-scheduler", "tag": "v1.36.9"},
    },
    "paddock": {"logLevel": "debug", "extraArgs": ["--rest-hosts=a"]},
    "pod": {"hostNetwork": True, "annotations": {"a": "b"}, "nodeSelector": {"c": "d"}},
    "service": {"address": "10.0.0.9", "clusterIP": "10.0.0.9"},
}
SIZES: Mapping[str, dict[str, Any]] = {"least": LEAST, "usual": {}, "most": MOST}


def values(mode: str, form: str = "plain", **more: Any) -> dict[str, Any]:
    """Values that a mode cannot do without, and others."""
    tls = {"tls": {"source": "secret"}} if mode == "service" else {}
    form = "scoped" if mode == "service" and form == "plain" else form
    return {**IMAGES, **tls, "mode": mode, "scheduler": {"form": form}, **more}


def matrix() -> Iterator[Case]:
    """Every combination."""
    for (version, served), mode, form, size in product(SERVED.items(), MODES, FORMS, SIZES):
        if (mode, form) == ("service", "plain"):
            continue
        asked = values(mode, form, **SIZES[size])
        if size == "most" and mode != "kubeadm":
            asked["tls"] = {"source": "certManager", "certManager": {"issuerRef": {"name": "ca"}}}
        if size == "usual" and mode == "service":
            asked["tls"] = {"source": "selfSigned"}
        if size == "most" and mode == "service":
            asked["monitoring"] = {**_ON, "monitor": "pods"}
        if size == "most" and mode == "sidecar":
            asked |= {"replicas": 3, "scheduler": {"form": form, "lease": "quick"}}
        yield Case(f"{version} {mode} {form} {size}", asked, version, served, "queues", lint=True)


def changes_pods(case: Case) -> bool:
    """True if an installation needs a policy that changes pods."""
    given = case.values
    scoped = given["mode"] == "service" or given["scheduler"]["form"] == "scoped"
    return scoped or any(given.get(name) == _ON for name in ("identity", "gates", "adopt"))


def is_served(case: Case) -> bool:
    """True if the API server has a version of these policies that the values allow."""
    beta = case.values.get("mutation", {}).get("beta", False)
    return V1 in case.apiVersions or (beta and V1_BETA in case.apiVersions)


@cache
def rendered_matrix() -> Mapping[str, Rendered]:
    return render(matrix())


def one(asked: Mapping[str, Any], **more: Any) -> Rendered:
    """A single installation."""
    return render([Case("one", asked, **more)])["one"]


def named(made: Rendered, kind: str) -> set[str]:
    """Names of the objects of a kind."""
    return {each["metadata"]["name"] for each in made.objects if each["kind"] == kind}
