"""Contents of the policies of ``manifests/``, which agree with each other and with Paddock."""

import re
from typing import Any

import pytest
import yaml

from core.workload.pod import OWN_GATE, PREEMPTED_FOR, RESERVED_NODE, TRIGGERED
from extender.configuration.settings import Settings
from extender.configuration.sources import CONFIGS_NAME
from extender.wire import translate
from extender.wire.annotations import gang
from extender.wire.service_keys import SERVICE_KEYS
from tests.manifests.rendering import (
    MANIFESTS,
    MARKERS,
    POLICY_FILE,
    document,
    documents,
    flags,
    patch,
    profiles,
    rules,
    spaceless,
)

# --- the policy ------------------------------------------------------------------------------------


def policy() -> Any:
    (found,) = [each for each in documents(POLICY_FILE) if each["kind"] == "MutatingAdmissionPolicy"]
    return found["spec"]


def managed(spec: Any) -> str:
    """The condition for a managed pod in a policy that changes pods. The patch begins with it."""
    (found,) = re.findall(r"\|\| !\(\s*(namespaceObject.*?)\) \? \[\] :", patch(spec), re.DOTALL)
    return spaceless(found)


def steps(spec: Any) -> str:
    """The steps of the patch for a managed pod."""
    return spaceless(patch(spec).partition("? [] :")[2])


def scheduler_names(expression: str) -> set[str]:
    """The list that an expression ends with."""
    return set(re.findall(r'"([^"]+)"', expression.rpartition(" in ")[2]))


def test_the_policy_sets_the_markers_that_the_configurations_name() -> None:
    for part in ("requests", "limits"):
        (whole,) = re.findall(rf'resources/{part}", value: {{(.*?)}}', patch(policy()), re.DOTALL)
        assert set(re.findall(r'"([^"]+)": "1"', whole)) == MARKERS
        each = re.findall(rf'resources/{part}/([^"]+)", value: "1"', patch(policy()))
        assert {path.replace("~1", "/") for path in each} == MARKERS


def test_only_pods_whose_scheduler_calls_paddock_are_marked() -> None:
    """The name is no match condition, since the policy would not be asked again after another has set it."""
    called = policy()["variables"][0]
    assert called["name"] == "called"
    assert scheduler_names(called["expression"]) == profiles("kubeadm") == profiles("service")
    assert profiles("sidecar") == Settings().scheduler_names


def test_the_scoped_sidecar_narrows_the_policy_to_its_own_names() -> None:
    patches = document(MANIFESTS / "sidecar-scoped" / "kustomization.yaml")["patches"]
    (change_of_policy,) = [
        each["patch"] for each in patches if each["target"]["kind"] == "MutatingAdmissionPolicy"
    ]
    guard, change = yaml.safe_load(change_of_policy)
    assert (guard["op"], guard["path"]) == ("test", "/spec/variables/0/name")
    assert guard["value"] == policy()["variables"][0]["name"]
    assert (change["op"], change["path"]) == ("replace", "/spec/variables/0/expression")
    assert scheduler_names(change["value"]) == profiles("sidecar")


def test_the_policy_never_touches_paddocks_own_pod() -> None:
    (selector,) = policy()["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert selector["operator"] == "NotIn"
    assert selector["values"] == [flags("service")["namespace"]]


def test_a_quota_cannot_be_passed_by_an_error_in_the_policy() -> None:
    assert policy()["failurePolicy"] == "Fail"
    assert policy()["reinvocationPolicy"] == "IfNeeded"


# --- the policies of identity ----------------------------------------------------------------------


def identity_policy(name: str) -> tuple[Any, Any]:
    """The specification of a policy and of its binding."""
    policy, binding = documents(MANIFESTS / "identity" / f"{name}-user-info.yaml")
    assert policy["metadata"]["name"] == binding["spec"]["policyName"]
    return policy["spec"], binding["spec"]


def covered(spec: Any, operation: str) -> set[str]:
    rules = spec["matchConstraints"]["resourceRules"]
    return {kind for rule in rules if operation in rule["operations"] for kind in rule["resources"]}


def variable(spec: Any, name: str) -> str:
    (found,) = [each["expression"] for each in spec["variables"] if each["name"] == name]
    return str(found)


def condition(spec: Any, name: str) -> str:
    (found,) = [each["expression"] for each in spec["matchConditions"] if each["name"] == name]
    return str(found)


@pytest.mark.rule("ID-7")
def test_whoever_sets_a_user_needs_a_verb_of_its_own() -> None:
    """That the API server refuses it is shown in e2e/tests/tenants/test_identity."""
    spec, binding = identity_policy("protect")
    assert (spec["failurePolicy"], binding["validationActions"]) == ("Fail", ["Deny"])
    assert "matchResources" not in binding, "no namespace is without protection"
    fixed, foreign = (validation["expression"] for validation in spec["validations"])
    assert 'check("set-user-info").allowed()' in foreign
    assert "set-user-info" not in fixed, "nobody changes a pod that exists"
    assert "yunikorn.apache.org/user.info" in condition(spec, "names-another-user")


@pytest.mark.rule("ID-7")
def test_whoever_sets_no_user_is_named() -> None:
    """That the API server does it is shown in e2e/tests/tenants/test_identity."""
    spec, binding = identity_policy("add")
    assert (spec["failurePolicy"], spec["reinvocationPolicy"]) == ("Fail", "IfNeeded")
    (selector,) = binding["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert (selector["key"], selector["operator"]) == ("kubernetes.io/metadata.name", "NotIn")
    assert selector["values"] == ["kube-system", flags("service")["namespace"]]


def test_what_may_be_named_is_protected() -> None:
    add, protect = identity_policy("add")[0], identity_policy("protect")[0]
    workloads = {"replicationcontrollers", "deployments", "replicasets", "statefulsets", "daemonsets"}
    workloads |= {"jobs", "cronjobs"}
    assert covered(add, "UPDATE") == workloads
    assert covered(add, "CREATE") == {"pods", *workloads}
    ways_to_a_pod = {"pods", "pods/status", "pods/binding", "bindings"}
    assert covered(protect, "UPDATE") == covered(protect, "CREATE") == ways_to_a_pod | workloads


def test_both_policies_mean_the_same_name_and_trust_the_same_controllers() -> None:
    """If one policy wrote a name differently, the other would refuse it."""
    add, protect = identity_policy("add")[0], identity_policy("protect")[0]
    assert spaceless(variable(add, "own")) in spaceless(condition(protect, "names-another-user"))
    assert add["matchConditions"] == protect["matchConditions"][:1]


def test_the_policies_of_identity_are_installed_together() -> None:
    found = document(MANIFESTS / "identity" / "kustomization.yaml")["resources"]
    assert found == ["add-user-info.yaml", "protect-user-info.yaml"]


# --- gates ------------------------------------------------------------------------------------------


def test_the_gates_are_opt_in_and_for_the_pods_that_are_marked() -> None:
    """The pods that get a gate and the managed ones must be the same, or a gate would never be opened."""
    gate, binding = documents(MANIFESTS / "gates" / "gate-managed-pods.yaml")
    assert binding["spec"] == {"policyName": gate["metadata"]["name"]}
    spec, marking = gate["spec"], policy()
    assert managed(spec) == managed(marking)
    called, _, _ = patch(spec).partition("||")
    assert called.startswith("!(")
    assert scheduler_names(called) == profiles("kubeadm")
    opted, own = spec["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert (opted["key"], opted["operator"], opted["values"]) == ("paddock.dev/gate", "In", ["true"])
    assert (own["operator"], own["values"]) == ("NotIn", [flags("service")["namespace"]])
    assert f'"{OWN_GATE}"' in patch(spec)


def test_the_policy_of_markers_and_gates_means_the_same_pods_as_the_two() -> None:
    """That the API server changes them in the same way is shown in e2e/tests/quota/test_gates."""
    both, binding = documents(MANIFESTS / "gated-policies" / "mark-and-gate-pods.yaml")
    assert binding["spec"] == {"policyName": both["metadata"]["name"]}
    (gate, _), spec = documents(MANIFESTS / "gates" / "gate-managed-pods.yaml"), both["spec"]
    assert managed(spec) == managed(policy())
    assert spaceless(f"(!({variable(policy(), 'called')})||") in steps(spec)
    called, _, _ = spaceless(patch(gate["spec"])).partition("||")
    assert f"||{called}||" in steps(spec)
    assert steps(policy()) in steps(spec)
    assert steps(gate["spec"]) in steps(spec)
    assert "matchConditions" not in spec, "they cost as much as the change itself"
    same = ("failurePolicy", "reinvocationPolicy", "matchConstraints")
    assert [spec[name] for name in same] == [policy()[name] for name in same]


@pytest.mark.parametrize(
    "path",
    [
        "records/protect-records.yaml",
        "identity/protect-user-info.yaml",
        "quota/protect-gates.yaml",
        "quota/protect-nodes.yaml",
        "quota/protect-owners.yaml",
        "base/bound-account.yaml",
    ],
)
def test_a_policy_that_refuses_ends_at_its_conditions_for_most_requests(path: str) -> None:
    """Issue 22: the API server prepares the pod once for all conditions, and three times for the validations.

    `protect-requests` has none, since it concerns resizes only.
    """
    found, _ = documents(MANIFESTS / path)
    assert found["spec"]["matchConditions"]


# --- the policy of records -------------------------------------------------------------------------


def test_records_are_written_only_by_holders_of_the_verb_in_paddocks_role() -> None:
    """That the API server refuses others is shown in e2e/tests/tenants/test_records."""
    policy, binding = documents(MANIFESTS / "records" / "protect-records.yaml")
    spec = policy["spec"]
    assert (spec["failurePolicy"], binding["spec"]["validationActions"]) == ("Fail", ["Deny"])
    assert policy["metadata"]["name"] == binding["spec"]["policyName"]
    assert "matchResources" not in binding["spec"], "no namespace is without protection"
    assert covered(spec, "CREATE") == covered(spec, "UPDATE") >= {"pods", "pods/status", "pods/binding"}
    (validation,) = spec["validations"]
    (verb,) = re.findall(r'check\("(.*?)"\)', validation["expression"])
    roles = [each for each in documents(MANIFESTS / "base" / "rbac.yaml") if each["kind"] == "ClusterRole"]
    assert verb in {name for role in roles for rule in role["rules"] for name in rule["verbs"]}


def test_all_that_is_written_on_pods_is_protected() -> None:
    policy, _ = documents(MANIFESTS / "records" / "protect-records.yaml")
    changes = condition(policy["spec"], "changes-a-record")
    (prefix,) = set(re.findall(r'startsWith\("(.*?)"\)', changes))
    assert all(key.startswith(prefix) for key in (RESERVED_NODE, TRIGGERED, PREEMPTED_FOR))


# --- the policies of the quota ---------------------------------------------------------------------

QUOTA = {
    "nodes": "set-node-name",
    "gates": "open-paddock-gates",
    "owners": "set-paddock-records",
    "requests": "raise-pod-requests",
}
"""Each policy, and the verb that exempts from it (F-1, F-7, F-23, F-24)."""


def quota_policy(name: str) -> tuple[Any, Any]:
    found, binding = documents(MANIFESTS / "quota" / f"protect-{name}.yaml")
    assert found["metadata"]["name"] == binding["metadata"]["name"] == binding["spec"]["policyName"]
    return found["spec"], binding["spec"]


def managed_pod(expression: str) -> set[str]:
    """The definition of a managed pod: names of schedulers, keys, and the annotation of its namespace."""
    return set(re.findall(r'"([\w./-]+)"', expression))


@pytest.mark.parametrize(("name", "verb"), QUOTA.items())
def test_a_tenant_needs_a_verb_for_what_passes_a_quota(name: str, verb: str) -> None:
    """That the API server refuses it is shown in e2e/tests/tenants/policies."""
    spec, binding = quota_policy(name)
    assert (spec["failurePolicy"], binding["validationActions"]) == ("Fail", ["Deny"])
    assert "matchResources" not in binding, "no namespace is without protection"
    (validation,) = spec["validations"]
    assert re.findall(r'check\("(.*?)"\)', validation["expression"]) == [verb]
    assert verb in validation["message"]


def test_the_policies_of_the_quota_are_installed_together() -> None:
    found = document(MANIFESTS / "quota" / "kustomization.yaml")["resources"]
    assert found == [f"protect-{name}.yaml" for name in QUOTA]


@pytest.mark.parametrize("verb", ["set-paddock-records", "open-paddock-gates"])
def test_paddocks_role_has_the_verbs_for_what_it_does_and_no_other(verb: str) -> None:
    assert ("", "pods", "", verb) in rules("ClusterRole", "paddock-core")
    for other in ("set-node-name", "raise-pod-requests", "set-user-info"):
        assert ("", "pods", "", other) not in rules("ClusterRole", "paddock-core")


@pytest.mark.parametrize("name", ["nodes", "owners", "requests"])
def test_only_managed_pods_are_a_matter_of_the_policies(name: str) -> None:
    """The selection equals that of the gates and the markers."""
    spec, _ = quota_policy(name)
    assert managed_pod(variable(spec, "managed")) == managed_pod(managed(policy()))


def test_every_key_that_is_read_of_whose_a_pod_is_is_protected() -> None:
    spec, _ = quota_policy("owners")
    (condition,) = [each for each in spec["matchConditions"] if each["name"].startswith("says")]
    keys = {translate.APP_ID, "applicationId", "spark-app-selector", translate.QUEUE, "queue"}
    keys |= {translate.USER_INFO, gang.TASK_GROUPS, gang.TASK_GROUP_NAME, gang.POLICY, gang.PLACEHOLDER}
    keys |= {gang.POD_GROUP_NAME, gang.POD_GROUP_MIN, gang.PLUGIN_GROUP}
    assert set(re.findall(r'"([^"]+)"', condition["expression"])) == keys


@pytest.mark.parametrize("name", ["gates", "owners"])
def test_no_way_to_write_a_pod_is_left_out(name: str) -> None:
    spec, _ = quota_policy(name)
    assert covered(spec, "UPDATE") == {"pods", "pods/status", "pods/ephemeralcontainers", "pods/resize"}


def test_a_binding_says_no_more_than_the_pod() -> None:
    """The API server copies what it says to the pod."""
    spec, _ = quota_policy("owners")
    assert covered(spec, "CREATE") == {"pods/binding", "bindings"}


def test_a_node_is_named_by_no_template_either() -> None:
    spec, _ = quota_policy("nodes")
    protect = identity_policy("protect")[0]
    assert covered(spec, "UPDATE") == covered(protect, "UPDATE") - {
        "pods",
        "pods/status",
        "pods/binding",
        "bindings",
    }
    assert covered(spec, "CREATE") == covered(spec, "UPDATE") | {"pods"}
    assert protect["matchConditions"][0] in spec["matchConditions"], "the same controllers are trusted"


# --- the policy of the account ---------------------------------------------------------------------


def account_policy() -> tuple[Any, Any]:
    found, binding = documents(MANIFESTS / "base" / "bound-account.yaml")
    assert found["metadata"]["name"] == binding["metadata"]["name"] == binding["spec"]["policyName"]
    return found["spec"], binding["spec"]


def test_the_account_of_every_overlay_is_bounded() -> None:
    """Refusals of the API server are shown in e2e/tests/tenants/test_account (F-20)."""
    spec, binding = account_policy()
    assert (spec["failurePolicy"], binding["validationActions"]) == ("Fail", ["Deny"])
    assert "matchResources" not in binding, "no namespace is without protection"
    (condition,) = spec["matchConditions"]
    namespace = flags("service")["namespace"]
    accounts = {f"system:serviceaccount:{namespace}:paddock", "paddock"}
    assert scheduler_names(condition["expression"]) == accounts
    assert "bound-account.yaml" in document(MANIFESTS / "base" / "kustomization.yaml")["resources"]


def test_every_right_to_write_pods_is_bounded() -> None:
    spec, _ = account_policy()
    operations = {"create": "CREATE", "patch": "UPDATE", "delete": "DELETE"}
    granted = {
        (resource, operations[verb])
        for role in ("paddock-core", "paddock-gangs", "paddock-preemption", "paddock-direct-delete")
        for _, resource, _, verb in rules("ClusterRole", role)
        if resource.partition("/")[0] == "pods" and verb in operations
    }
    assert granted == {
        (kind, operation)
        for operation in operations.values()
        for kind in covered(spec, operation) - {"bindings"}
    }


# --- the policy of adoption ------------------------------------------------------------------------


def adoption() -> tuple[Any, Any]:
    found, binding = documents(MANIFESTS / "adopt" / "adopt-pods.yaml")
    assert found["metadata"]["name"] == binding["metadata"]["name"] == binding["spec"]["policyName"]
    return found["spec"], binding["spec"]


def test_adoption_reads_the_config_map_of_the_queues_and_stops_no_pod() -> None:
    """F-9; that it adopts what YuniKorn would take is shown in e2e/tests/tenants/test_adoption."""
    spec, binding = adoption()
    assert spec["paramKind"] == {"apiVersion": "v1", "kind": "ConfigMap"}
    assert binding["paramRef"] == {
        "name": CONFIGS_NAME,
        "namespace": flags("service")["namespace"],
        "parameterNotFoundAction": "Allow",
    }
    assert (spec["failurePolicy"], spec["reinvocationPolicy"]) == ("Ignore", "IfNeeded")


def test_adoption_reads_every_filter_with_its_default() -> None:
    spec, _ = adoption()
    text = " ".join(each["expression"] for each in spec["variables"])
    read = dict(re.findall(r'data\[\?"([\w.]+)"\]\.orValue\("([^"]*)"\)', text))
    keys = {name for name in SERVICE_KEYS if name.startswith("admissionController.filtering.")}
    assert read == {name: SERVICE_KEYS[name].default for name in keys}


def test_adoption_gives_a_scheduler_name_that_paddock_serves() -> None:
    spec, _ = adoption()
    (name,) = re.findall(
        r'"/spec/schedulerName", value: "(\w+)"', spec["mutations"][0]["jsonPatch"]["expression"]
    )
    for overlay in ("sidecar", "service", "kubeadm"):
        assert name in profiles(overlay) & Settings().scheduler_names
