"""The webhook of the chart: who asks it, how it is reached, who may change it, and what it may not stop."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from e2e.programs.helm import Case, Rendered, render
from extender.certificates.publishing import WEBHOOK
from extender.http.webhook import SEPARATOR
from extender.mutation.rules import RULES
from tests.manifests.chart.installations import GROUP, MODES, V1, V1_BETA, named, one, values

ON = {"enabled": True}
KIND = "MutatingWebhookConfiguration"
EVERYTHING: dict[str, Any] = {"adopt": ON, "gates": ON, "identity": ON}
SYSTEM = ["kube-system", "paddock-system"]
PORT = 10294
_SEGMENT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def older(asked: Mapping[str, Any], name: str = "one") -> Case:
    """An installation on an API server without policies that change pods."""
    return Case(name, asked, "v1.33.13", ())


@cache
def made() -> Mapping[str, Rendered]:
    given = {mode: values(mode, "scoped", **EVERYTHING) for mode in MODES}
    given |= {
        "gates everywhere": values("sidecar", gates={"enabled": True, "everyNamespace": True}),
        "gates alone": values("sidecar", gates=ON),
        "adoption alone": values("sidecar", adopt=ON),
        "another port": values("sidecar", adopt=ON, ports={"webhook": 10250}),
        "nothing": values("sidecar"),
        "required": values("sidecar", "scoped", **EVERYTHING, mutation={"require": True}),
        "without ports": values(
            "sidecar", "scoped", rest={"enabled": False}, apiService={"enabled": False}, networkPolicy=ON
        ),
    }
    return render(older(asked, name) for name, asked in given.items())


def webhooks(name: str) -> dict[str, dict[str, Any]]:
    assert made()[name].error == ""
    (found,) = [each for each in made()[name].objects if each["kind"] == KIND]
    assert found["metadata"]["name"] == WEBHOOK
    return {each["name"].removesuffix(".paddock.dev"): each for each in found["webhooks"]}


def rules_of(webhook: dict[str, Any]) -> list[str]:
    config = webhook["clientConfig"]
    path = config["service"]["path"] if "service" in config else config["url"].partition(f":{PORT}")[2]
    assert path.startswith("/mutate/")
    found: list[str] = path.removeprefix("/mutate/").split(SEPARATOR)
    assert set(found) <= RULES
    return found


@pytest.mark.parametrize("mode", ["sidecar", "service"])
def test_an_api_server_takes_the_path_of_a_service(mode: str) -> None:
    """Each segment must be a subdomain as in RFC 1123."""
    for webhook in webhooks(mode).values():
        segments = webhook["clientConfig"]["service"]["path"].removeprefix("/").split("/")
        assert [each for each in segments if not _SEGMENT.fullmatch(each)] == []


@pytest.mark.parametrize("mode", MODES)
def test_each_pod_meets_one_webhook_with_all_rules(mode: str) -> None:
    found = webhooks(mode)
    mark = "mark-named" if mode == "sidecar" else "mark"
    assert {name: rules_of(each) for name, each in found.items()} == {
        "pods": ["adopt", "user-info", mark],
        "gated-pods": ["adopt", "user-info", mark, "gate"],
        "templates": ["user-info"],
    }
    selectors = {
        name: {(each["key"], each["operator"]) for each in webhook["namespaceSelector"]["matchExpressions"]}
        for name, webhook in found.items()
    }
    assert selectors["pods"] ^ selectors["gated-pods"] == {
        ("paddock.dev/gate", "In"),
        ("paddock.dev/gate", "NotIn"),
    }


@pytest.mark.parametrize("name", ["gates everywhere", "gates alone", "adoption alone"])
def test_fewer_rules_have_one_webhook(name: str) -> None:
    (found,) = webhooks(name).values()
    assert rules_of(found) == (["adopt"] if name == "adoption alone" else ["gate"])


@pytest.mark.parametrize("mode", MODES)
def test_no_webhook_can_stop_anything(mode: str) -> None:
    for webhook in webhooks(mode).values():
        assert (webhook["failurePolicy"], webhook["timeoutSeconds"]) == ("Ignore", 2)
        assert (webhook["reinvocationPolicy"], webhook["sideEffects"]) == ("IfNeeded", "None")
        assert webhook["matchPolicy"] == "Equivalent"
        excluded = webhook["namespaceSelector"]["matchExpressions"][0]
        assert (excluded["operator"], excluded["values"]) == ("NotIn", SYSTEM)
        assert "caBundle" not in webhook["clientConfig"]
        (condition,) = webhook["matchConditions"]
        assert condition["expression"]


def test_the_webhook_is_reached_by_the_service_or_on_the_own_node() -> None:
    for mode in ("sidecar", "service"):
        service = webhooks(mode)["pods"]["clientConfig"]["service"]
        assert (service["name"], service["namespace"], service["port"]) == ("paddock", "paddock-system", PORT)
    assert webhooks("kubeadm")["pods"]["clientConfig"]["url"].startswith(f"https://127.0.0.1:{PORT}/mutate/")
    (patches,) = [
        each for each in made()["kubeadm"].objects if each["metadata"]["name"] == "paddock-static-pod"
    ]
    text = patches["data"]["kube-scheduler1-strategic.yaml"]
    assert f"--webhook-port={PORT}" in text
    assert "--serving-address=127.0.0.1" in text
    assert "Service" not in {each["kind"] for each in made()["kubeadm"].objects}


@pytest.mark.parametrize(
    ("name", "port"), [("sidecar", PORT), ("another port", 10250), ("without ports", PORT)]
)
def test_the_port_is_the_same_everywhere(name: str, port: int) -> None:
    objects = made()[name].objects
    (service,) = [each for each in objects if each["kind"] == "Service"]
    assert {"name": "webhook", "port": port, "targetPort": "webhook"} in service["spec"]["ports"]
    (workload,) = [each for each in objects if each["kind"] == "Deployment"]
    (container,) = [
        each for each in workload["spec"]["template"]["spec"]["containers"] if each["name"] == "paddock"
    ]
    assert f"--webhook-port={port}" in container["args"]
    assert {"name": "webhook", "containerPort": port} in container["ports"]
    assert {each["clientConfig"]["service"]["port"] for each in webhooks(name).values()} == {port}


def test_a_network_policy_lets_the_api_server_in() -> None:
    (policy,) = [each for each in made()["without ports"].objects if each["kind"] == "NetworkPolicy"]
    assert policy["spec"]["ingress"] == [{"ports": [{"port": "webhook", "protocol": "TCP"}]}]


@pytest.mark.parametrize("mode", MODES)
def test_paddock_may_patch_this_one_configuration_and_keep_its_certificate(mode: str) -> None:
    (role,) = [
        each
        for each in made()[mode].objects
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == "paddock-webhook"
    ]
    assert role["rules"] == [
        {
            "apiGroups": [GROUP],
            "resources": ["mutatingwebhookconfigurations"],
            "resourceNames": [WEBHOOK],
            "verbs": ["get", "patch"],
        }
    ]
    assert "paddock-webhook" in named(made()[mode], "ClusterRoleBinding")
    assert "paddock-certificate" in named(made()[mode], "RoleBinding")


def test_what_changes_no_pod_needs_no_webhook() -> None:
    assert named(made()["nothing"], KIND) == set()
    assert "paddock-webhook" not in named(made()["nothing"], "ClusterRole")


@pytest.mark.parametrize(
    ("asked", "served", "kind"),
    [
        ({"by": "webhook"}, (V1, V1_BETA), KIND),
        ({"by": "policies"}, (V1,), "MutatingAdmissionPolicy"),
        ({"by": "policies", "beta": True}, (V1_BETA,), "MutatingAdmissionPolicy"),
        ({"beta": True}, (V1_BETA,), "MutatingAdmissionPolicy"),
        ({}, (V1_BETA,), KIND),
    ],
    ids=repr,
)
def test_the_choice_may_be_made_by_hand(asked: dict[str, Any], served: tuple[str, ...], kind: str) -> None:
    found = one(values("sidecar", gates=ON, mutation=asked), kubeVersion="v1.35.4", apiVersions=served)
    assert found.error == ""
    assert {each["kind"] for each in found.objects if "Mutating" in each["kind"]} - {
        "MutatingAdmissionPolicyBinding"
    } == {kind}


@pytest.mark.parametrize("served", [(), (V1_BETA,)])
def test_policies_that_are_not_served_are_refused_with_the_way_out(served: tuple[str, ...]) -> None:
    asked = values("sidecar", gates=ON, mutation={"by": "policies"})
    error = one(asked, kubeVersion="v1.34.4", apiVersions=served).error
    for word in ("MutatingAdmissionPolicy v1", "mutation.beta=true", "mutation.by to webhook"):
        assert word in error


def test_policies_that_require_the_changes_spare_what_runs_the_cluster() -> None:
    objects = [each for each in made()["required"].objects if each["kind"] == "ValidatingAdmissionPolicy"]
    found = {each["metadata"]["name"].removesuffix(".paddock.dev"): each["spec"] for each in objects}
    required = {name: spec for name, spec in found.items() if name.startswith("require-")}
    assert set(required) == {"require-markers", "require-gates", "require-adoption"}
    for spec in required.values():
        excluded = spec["matchConstraints"]["namespaceSelector"]["matchExpressions"][0]
        assert (excluded["operator"], excluded["values"]) == ("NotIn", SYSTEM)
    assert {each["failurePolicy"] for each in required.values()} == {"Fail", "Ignore"}
    assert not [name for name in named(made()["sidecar"], "ValidatingAdmissionPolicy") if "require" in name]
