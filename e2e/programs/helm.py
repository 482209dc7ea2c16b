"""`make helm`: build Helm once from its Go module, and the renderer of many installations in one process.

Helm's module is apart from the control plane's, whose replacements of Kubernetes' modules it could not use.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import yaml

from e2e.programs.binaries import ROOT, TOOLS, NoBinary
from e2e.programs.building import STRIPPED, GoModule

CHART = ROOT / "manifests" / "chart"
NAMESPACE = "paddock-system"
_DEADLINE = 300.0
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_POLICY_KIND = "MutatingAdmissionPolicy"


@dataclass(frozen=True)
class Case:
    """Installation of the chart: values, and what the cluster would answer."""

    name: str
    values: Mapping[str, Any]
    kubeVersion: str = "v1.36.2"  # noqa: N815 - as the renderer reads it
    apiVersions: tuple[str, ...] = (f"admissionregistration.k8s.io/v1/{_POLICY_KIND}",)  # noqa: N815
    namespace: str = NAMESPACE
    lint: bool = False


@dataclass(frozen=True)
class Rendered:
    """The text of each template, or the error; and what lint has to say, warnings and worse."""

    files: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    lint: tuple[str, ...] = ()

    def text(self, template: str) -> str:
        """The text of a template that is named from the chart's folder `templates` on."""
        return self.files[f"paddock/templates/{template}"]

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        return [
            each
            for name, text in sorted(self.files.items())
            if name.endswith(".yaml")
            for each in yaml.load_all(text, Loader=_Loader)
            if each
        ]


def render(cases: Iterable[Case]) -> dict[str, Rendered]:
    """Render the chart for each case, by the case's name."""
    asked = json.dumps({"chart": str(CHART), "cases": [asdict(case) for case in cases]})
    done = subprocess.run(
        [RENDERER], input=asked, capture_output=True, text=True, timeout=_DEADLINE, check=True
    )
    found = (json.loads(line) for line in done.stdout.splitlines())
    return {each["name"]: Rendered(each["files"] or {}, each["error"], tuple(each["lint"])) for each in found}


def _flags() -> str:
    """Linker flags with the versions in them. Without these Helm takes every cluster for Kubernetes 1.20."""
    text = (TOOLS / "helm" / "go.mod").read_text()
    helm, client = re.search(r"helm\.sh/helm/v3 (\S+)", text), re.search(r"k8s\.io/client-go v0\.(\d+)", text)
    if helm is None or client is None:
        raise NoBinary("e2e/tools/helm/go.mod names no version of Helm, or of client-go")
    module = "helm.sh/helm/v3"
    minors = (
        f"-X {module}/{place}.k8sVersionMinor={client[1]}" for place in ("pkg/chartutil", "pkg/lint/rules")
    )
    return " ".join((STRIPPED, f"-X {module}/internal/version.version={helm[1]}", *minors))


HELM_MODULE = GoModule(
    "helm",
    ("helm.sh/helm/v3/cmd/helm", "paddock.dev/e2e/tools/helm/render"),
    ("helm", "render"),
    ("go.mod", "go.sum", "render/main.go"),
    _flags,
)
HELM, RENDERER = HELM_MODULE.program("helm"), HELM_MODULE.program("render")
is_built = HELM_MODULE.is_built

if __name__ == "__main__":
    sys.exit(HELM_MODULE.main())
