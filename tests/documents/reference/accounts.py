"""The page of accounts and their rights, from the chart's templates of roles."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tests.documents.reference.markdown import codes, page, table
from tests.documents.reference.meanings import exactly
from tests.interfaces.product import ROOT

_TEMPLATES = ROOT / "manifests" / "chart" / "templates" / "roles"
_DIRECTIVE = re.compile(r"^\s*\{\{.*\}\}\s*$", re.MULTILINE)
_VALUE = re.compile(r"\{\{ \.Values\.([\w.]+) \}\}")
_INLINE = re.compile(r"\{\{.*?\}\}")

_PADDOCK: Mapping[str, str] = {
    "paddock-core": "Always: reads the cluster, binds pods, writes annotations, conditions and Events",
    "paddock": "Always: reads the queues",
    "paddock-first-queues": "Always: copies the first queues once, and stores the first order",
    "paddock-gangs": "`abilities.gangs`: placeholders of gangs",
    "paddock-preemption": "`abilities.preemption`: evicts victims",
    "paddock-direct-delete": "`abilities.directDelete`, and always in mode `sidecar`: deletes victims",
    "paddock-authentication": "`rest.enabled` or `apiService.enabled`: asks the API server about callers",
    "paddock-certificate": "`rest.enabled`, `apiService.enabled`, a webhook: maintains the certificate",
    "paddock-verbs-certificates": (
        "`tls.source: selfSigned`: makes the certificates of the verbs. The second name is the value "
        "`tls.clientSecret`"
    ),
    "paddock-aggregated-api": "`apiService.enabled`: says which certificate of the aggregated API to trust",
    "paddock-webhook": "A webhook: says which certificate of the webhook to trust",
    "paddock-actions": "`admin.enabled`: stores what administrators order",
    "paddock-ending": "`abilities.executionTimeout` or `admin.enabled`: ends applications",
    "paddock-configuration-writer": "`admin.config`: writes queues for callers who may update them",
    "paddock-lease": "Mode `kubeadm`: reads the Lease of kube-scheduler",
    "paddock-scheduler-lease": "Mode `sidecar`: the Lease of its kube-scheduler",
}
_PEOPLE: Mapping[str, str] = {
    "paddock-viewer": "Reads everything from Paddock",
    "paddock-explanations": "Asks why pods wait; part of `view`",
    "paddock-simulations": "Asks whether a pod would run; part of `edit`",
    "paddock-metrics": "Scrapes the metrics with a token",
    "paddock-operator": "Sends actions, with `administer` on the queue, too",
}
_MODES = (
    (
        "`sidecar`",
        "ServiceAccount `paddock` of the release's namespace",
        "the same, also with `system:kube-scheduler` and `system:volume-scheduler`",
    ),
    (
        "`service`",
        "ServiceAccount `paddock` of the release's namespace",
        "its own; the chart gives it nothing",
    ),
    ("`kubeadm`", "user `paddock` of a client certificate", "`system:kube-scheduler`"),
)
_ABOUT = """\
Paddock acts with one account. Each ability has a role of its own, which the chart renders only if it is on.
A rule without names applies to every object of the resource."""
_LIMITS = """\
With `rest.enabled` or `apiService.enabled` the account also has `extension-apiserver-authentication-reader`,
a role of `kube-system` that comes with Kubernetes.
The policy `bound-account` limits what the account does with its rights. It creates and deletes placeholders
only. Of other pods it changes annotations `paddock.dev/…`, the gate and conditions.

The log names a right that a role lacks by verb, resource and API group. So does `/readyz?verbose`, under
`rights missing`. The end-to-end tests take each right away once, and expect its name there."""
_VERBS = """\
The verbs `set-paddock-records`, `open-paddock-gates` and `delete-paddock-victims` on pods are Paddock's own.
Policies ask for them before an annotation `paddock.dev/…` is written, a gate opened, or a victim deleted."""


def accounts_page() -> str:
    """The text of the page."""
    roles = dict(_roles())
    exactly("roles", {**_PADDOCK, **_PEOPLE}, roles)
    return page(
        "# Accounts and their rights",
        _ABOUT,
        table(("mode", "account of Paddock", "account of kube-scheduler"), _MODES),
        _LIMITS,
        "## Roles of Paddock",
        *_of(roles, _PADDOCK),
        _VERBS,
        "## Roles of people and programs",
        "No user has these roles until you bind them, but `view` and `edit` contain two of them.",
        *_of(roles, _PEOPLE),
    )


def _of(roles: Mapping[str, Mapping[str, Any]], meanings: Mapping[str, str]) -> Iterator[str]:
    for name, meaning in meanings.items():
        kind = roles[name]["kind"]
        yield f"### {name}\n\n{meaning}. A {kind}."
        yield table(("API group", "resources", "names", "verbs"), map(_row, roles[name]["rules"]))


def _row(rule: Mapping[str, Any]) -> tuple[str, ...]:
    groups = [each or '""' for each in rule.get("apiGroups", ())]
    resources = [*rule.get("resources", ()), *rule.get("nonResourceURLs", ())]
    return tuple(codes(each) for each in (groups, resources, rule.get("resourceNames", ()), rule["verbs"]))


def _roles() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each role of the chart. Its rules have no directive inside."""
    for path in sorted(_TEMPLATES.glob("*.yaml")):
        text = _VALUE.sub(r"\1", _DIRECTIVE.sub("", path.read_text(encoding="utf-8")))
        text = _INLINE.sub("x", text)
        for each in yaml.safe_load_all(text):
            if each and each["kind"] in ("Role", "ClusterRole"):
                yield each["metadata"]["name"], each
