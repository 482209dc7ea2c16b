"""Roles of readers, and the Services and APIService of the ports with a login."""

import pytest

from extender.certificates.publishing import API_SERVICE
from extender.http.aggregated import CHECKED, DEBUG, EXPLANATIONS, GROUP, READ, VERSION, WEB_SERVICES
from extender.http.aggregated import QUEUES as QUEUES_RESOURCE
from extender.identity.request_header import CONFIG_MAP_NAMESPACE
from tests.manifests.rendering import MANIFESTS, document, flags, objects, paddock_container


def test_the_proxy_is_known_by_the_role_of_kubernetes() -> None:
    (found,) = [
        each
        for path, each in objects("RoleBinding")
        if each["roleRef"]["name"] == "extension-apiserver-authentication-reader"
        and path.parent.name == "base"
    ]
    # The name under which kubeadm's overlay replaces the account by its own user.
    assert (found["metadata"]["name"], found["metadata"]["namespace"]) == ("paddock", CONFIG_MAP_NAMESPACE)


def test_a_viewer_reads_every_route_and_creates_nothing() -> None:
    (role,) = [each for _, each in objects("ClusterRole") if each["metadata"]["name"] == "paddock-viewer"]
    through_api_server = {
        (resource, verb)
        for rule in role["rules"]
        for resource in rule.get("resources", ())
        for verb in rule["verbs"]
    }
    assert through_api_server == {
        *((f"{WEB_SERVICES}/{name}", "get") for name in READ),
        *((f"{WEB_SERVICES}/{name}", "create") for name in CHECKED),
        *((EXPLANATIONS, verb) for verb in ("create", "get")),
        *((QUEUES_RESOURCE, verb) for verb in ("get", "list")),
        (DEBUG, "get"),
    }
    (plans,) = [rule for rule in role["rules"] if rule.get("resources") == [DEBUG]]
    assert plans["resourceNames"] == ["preemptions"]


def test_tenants_ask_why_their_own_pods_wait_and_nothing_else() -> None:
    """Kubernetes adds the rules to `view`, and thereby to `edit` and `admin`."""
    (role,) = [
        each for _, each in objects("ClusterRole") if each["metadata"]["name"] == "paddock-explanations"
    ]
    assert role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
    assert role["rules"] == [{"apiGroups": [GROUP], "resources": [EXPLANATIONS], "verbs": ["get"]}]


def test_whoever_may_create_pods_asks_whether_they_would_run() -> None:
    """Kubernetes adds the rules to `edit`, and thereby to `admin`, and not to `view`."""
    (role,) = [
        each for _, each in objects("ClusterRole") if each["metadata"]["name"] == "paddock-simulations"
    ]
    added = {name for name in role["metadata"]["labels"] if "aggregate-to" in name}
    assert added == {"rbac.authorization.k8s.io/aggregate-to-edit"}
    assert role["rules"] == [{"apiGroups": [GROUP], "resources": [EXPLANATIONS], "verbs": ["create"]}]


def test_a_scraper_reads_metrics_alone() -> None:
    (role,) = [each for _, each in objects("ClusterRole") if each["metadata"]["name"] == "paddock-metrics"]
    assert role["rules"] == [{"nonResourceURLs": ["/metrics", "/ws/v1/metrics"], "verbs": ["get"]}]


@pytest.mark.parametrize("overlay", ["service", "sidecar"])
def test_an_api_service_leads_to_the_port_of_the_aggregated_api(overlay: str) -> None:
    found = document(MANIFESTS / overlay / "api-service.yaml")
    assert found["metadata"]["name"] == API_SERVICE == f"{VERSION}.{GROUP}"
    assert "caBundle" not in found["spec"]
    assert not found["spec"].get("insecureSkipTLSVerify", False)
    reached = found["spec"]["service"]
    service = document(MANIFESTS / overlay / "service.yaml")
    assert (reached["name"], reached["namespace"]) == (
        service["metadata"]["name"],
        service["metadata"]["namespace"],
    )
    spec, container = paddock_container(overlay)
    assert spec["serviceAccountName"] == "paddock"
    given, ports = flags(overlay), {each["name"]: each["containerPort"] for each in container["ports"]}
    targets = {each["name"]: (each["port"], each["targetPort"]) for each in service["spec"]["ports"]}
    for name in ("rest", "aggregated"):
        assert targets[name][0] == int(given[f"{name}-port"]) == ports[name]
    assert reached["port"] == targets["aggregated"][0]
    # Every port of these Services needs a login.
    assert "rest-access" not in given


def test_replicas_reach_each_other_at_a_port_that_no_service_leads_to() -> None:
    _, container = paddock_container("sidecar")
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert int(flags("sidecar")["peer-port"]) == ports["peer"]
    service = document(MANIFESTS / "sidecar" / "service.yaml")
    assert {each["targetPort"] for each in service["spec"]["ports"]} == {"rest", "aggregated"}
    # One instance alone has no other to answer.
    assert "peer-port" not in flags("service")
