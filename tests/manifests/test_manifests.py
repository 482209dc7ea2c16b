"""Rules of ``manifests/`` that need no cluster: references, permissions, and that the parts agree.

The end-to-end tests start a real kube-scheduler with each configuration. Here are rules that such a run would
not notice. Examples are a permission too many, or a deadline that is longer than its caller's patience.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from extender.certificates.keeper import SECRET
from extender.certificates.publishing import API_SERVICE
from extender.cli import _parser
from extender.configuration.settings import Settings
from extender.configuration.sources import CONFIGS_NAME, DEFAULTS_NAME
from extender.first_queues import INITIAL_NAME, MARKER_NAME
from extender.queueconfig.load import load_document
from extender.queueconfig.surprises.warnings import warnings_of
from tests.manifests.rendering import (
    CONFIGS,
    MANIFESTS,
    MARKERS,
    OVERLAYS,
    QUEUES,
    document,
    documents,
    flags,
    managed,
    named,
    objects,
    paddock_container,
    profiles,
    rules,
    seconds,
    yaml_files,
)

# --- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", yaml_files(), ids=named)
def test_every_file_is_yaml_without_repeated_keys(path: Path) -> None:
    assert all(found for found in documents(path))


@pytest.mark.parametrize("path", sorted(MANIFESTS.rglob("kustomization.yaml")), ids=named)
def test_what_a_kustomization_names_exists(path: Path) -> None:
    found = document(path)
    generated = [name for each in found.get("configMapGenerator", []) for name in each["files"]]
    for name in found.get("resources", []) + generated:
        target = (path.parent / name).resolve()
        assert target.is_file() or (target / "kustomization.yaml").is_file(), name


def test_each_overlay_is_there_with_its_configurations() -> None:
    assert {(path.parent.name, path.stem.rsplit("-", 1)[1]) for path in CONFIGS} == {
        (overlay, variant)
        for overlay in OVERLAYS
        for variant in ("plain", "scoped", "prioritize", "direct")
        # Unscoped, a Paddock behind a Service would have to place its own pod.
        if (overlay, variant) != ("service", "plain")
    }


def test_the_sample_queues_are_valid_and_every_leaf_has_a_max() -> None:
    """F-6: a pod with a mistyped queue falls back to ``root.default``, which must not bypass every limit."""
    queues = load_document(QUEUES.read_text()).queues
    paths = {queue.path for queue in queues}
    assert {"root", "root.default", "root.tenants.team-a"} <= paths
    leaves = [queue for queue in queues if not any(path.startswith(f"{queue.path}.") for path in paths)]
    assert [leaf.path for leaf in leaves if not leaf.max] == []
    assert [str(warning) for warning in warnings_of(QUEUES.read_bytes())] == []


@pytest.mark.parametrize("path", sorted(MANIFESTS.rglob("kustomization.yaml")), ids=named)
def test_no_overlay_holds_queues(path: Path) -> None:
    """F-5: applying an overlay again, as an upgrade does, must replace no queue."""
    found = document(path)
    reached = [*found.get("resources", []), *found.get("components", [])]
    assert not [name for name in reached if (path.parent / name).resolve() == QUEUES.parent]
    generated = found.get("configMapGenerator", [])
    assert not [each for each in generated if each["name"] in (CONFIGS_NAME, DEFAULTS_NAME)]
    assert path.parent != QUEUES.parent
    assert "yunikorn-" not in path.read_text()


def test_no_manifest_is_a_config_map_of_queues() -> None:
    """Boards for Grafana are the only ConfigMaps."""
    boards = {"grafana_dashboard": "1"}
    found = [(path, each["metadata"]) for path, each in objects("ConfigMap")]
    assert [named(path) for path, each in found if not boards.items() <= each.get("labels", {}).items()] == []
    assert not {each["name"] for _, each in found} & {CONFIGS_NAME, DEFAULTS_NAME}


def image_names() -> Iterator[tuple[str, str]]:
    for overlay in OVERLAYS:
        spec, _ = paddock_container(overlay)
        yield from ((overlay, found["image"]) for found in spec["containers"] if "image" in found)
    for line in (MANIFESTS / "Dockerfile").read_text().splitlines():
        if line.startswith("FROM "):
            yield "Dockerfile", line.split()[1]


@pytest.mark.parametrize(("where", "image"), sorted(set(image_names())))
def test_no_image_names_a_registry_host(where: str, image: str) -> None:
    host, slash, _ = image.partition("/")
    assert not (slash and re.search(r"[.:]", host)), f"{where}: {image}"


def test_the_image_runs_paddock_as_an_ordinary_user_from_hashed_requirements() -> None:
    text = (MANIFESTS / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["paddock"]' in text
    assert "USER 65532:65532" in text
    assert all(
        "--require-hashes" in line or "--no-deps" in line for line in re.findall(r"pip install.*", text)
    )


# --- permissions -----------------------------------------------------------------------------------


def test_the_core_role_has_exactly_the_verbs_used() -> None:
    """F-20: the role creates and deletes no pod."""
    assert rules("ClusterRole", "paddock-core") == {
        *(("", "pods", "", verb) for verb in ("get", "list", "watch", "patch")),
        *(("", "pods", "", verb) for verb in ("set-paddock-records", "open-paddock-gates")),
        ("", "pods/binding", "", "create"),
        ("", "pods/status", "", "patch"),
        *(("", kind, "", verb) for kind in ("nodes", "namespaces") for verb in ("list", "watch")),
        *(("scheduling.k8s.io", "priorityclasses", "", verb) for verb in ("list", "watch")),
        *(
            (group, "podgroups", "", verb)
            for group in ("scheduling.k8s.io", "scheduling.x-k8s.io")
            for verb in ("list", "watch")
        ),
        *(("policy", "poddisruptionbudgets", "", verb) for verb in ("list", "watch")),
        *(("apps", "daemonsets", "", verb) for verb in ("list", "watch")),
        *(("", "events", "", verb) for verb in ("create",)),
    }


def test_each_ability_has_a_role_of_its_own() -> None:
    assert rules("ClusterRole", "paddock-preemption") == {("", "pods/eviction", "", "create")}
    assert rules("ClusterRole", "paddock-authentication") == {
        ("authentication.k8s.io", "tokenreviews", "", "create"),
        ("authorization.k8s.io", "subjectaccessreviews", "", "create"),
    }
    assert rules("ClusterRole", "paddock-aggregated-api") == {
        ("apiregistration.k8s.io", "apiservices", API_SERVICE, "patch")
    }
    assert rules("ClusterRole", "paddock-gangs") == {
        ("", "pods", "", "create"),
        ("", "pods", "", "delete"),
        ("", "pods/finalizers", "", "update"),
    }
    verbs = ("delete", "delete-paddock-victims")
    assert rules("ClusterRole", "paddock-direct-delete") == {("", "pods", "", verb) for verb in verbs}


@pytest.mark.parametrize("overlay", ["base", *OVERLAYS])
def test_direct_deletion_is_bound_only_beside_a_scheduler_of_the_same_account(overlay: str) -> None:
    """kube-scheduler deletes the victims of its own preemption."""
    bound = {
        found["roleRef"]["name"]
        for path, found in objects("ClusterRoleBinding")
        if path.parent.name == overlay and found["roleRef"]["name"].startswith("paddock")
    }
    always = ("core", "gangs", "preemption", "authentication", "aggregated-api")
    expected = {"base": {f"paddock-{name}" for name in always}, "sidecar": {"paddock-direct-delete"}}
    assert bound == expected.get(overlay, set())


def test_every_binding_of_base_has_the_user_of_kubeadm_there() -> None:
    patches = document(MANIFESTS / "kubeadm" / "kustomization.yaml")["patches"]
    (target,) = [each["target"]["name"] for each in patches if "target" in each]
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        for path, found in objects(kind):
            assert path.parent.name != "base" or re.fullmatch(target, found["metadata"]["name"])


def test_of_config_maps_and_secrets_only_its_own_are_read() -> None:
    names, verbs = ("yunikorn-defaults", "yunikorn-configs"), ("list", "watch")
    assert rules("Role", "paddock") == {
        *(("", "configmaps", name, verb) for name in names for verb in verbs),
    }
    assert rules("Role", "paddock-first-queues") == {
        *(("", "configmaps", name, "get") for name in (INITIAL_NAME, MARKER_NAME)),
        ("", "configmaps", "", "create"),
    }
    assert rules("Role", "paddock-certificate") == {
        *(("", "secrets", SECRET, verb) for verb in ("get", "update")),
        # A rule cannot name an object that does not exist yet.
        ("", "secrets", "", "create"),
    }


@pytest.mark.parametrize(
    ("role", "lease", "verbs"),
    [
        pytest.param("paddock-lease", "kube-scheduler", {"get"}, id="kubeadm only reads it"),
        pytest.param(
            "paddock-scheduler-lease",
            "paddock-scheduler",
            {"get", "update"},
            id="the sidecar's scheduler holds it with the same account",
        ),
    ],
)
def test_of_leases_only_the_one_of_the_overlay(role: str, lease: str, verbs: set[str]) -> None:
    assert rules("Role", role) == {("coordination.k8s.io", "leases", lease, verb) for verb in verbs}


@pytest.mark.parametrize("kind", ["ClusterRole", "Role"])
def test_no_rule_has_a_wildcard(kind: str) -> None:
    found = [(path, role) for path, role in objects(kind)]
    assert found
    for path, role in found:
        for rule in role["rules"]:
            assert "*" not in {value for values in rule.values() for value in values}, named(path)


# --- scheduler configurations ----------------------------------------------------------------------


@pytest.mark.parametrize("path", CONFIGS, ids=named)
def test_a_refused_pod_is_back_within_its_turn(path: Path) -> None:
    config = document(path)
    assert config["podMaxBackoffSeconds"] == 1 < Settings().turn_lease
    assert config["podInitialBackoffSeconds"] == 1
    assert (config["clientConnection"]["qps"], config["clientConnection"]["burst"]) == (500, 1000)


@pytest.mark.parametrize("path", CONFIGS, ids=named)
def test_each_verb_and_each_marker_stands_in_one_entry(path: Path) -> None:
    config = document(path)
    verbs = [
        (key.removesuffix("Verb"), value)
        for part in config["extenders"]
        for key, value in part.items()
        if key.endswith("Verb")
    ]
    expected = {"filter", "preempt", "bind"} | ({"prioritize"} if "prioritize" in path.name else set())
    if "direct" in path.name:
        expected -= {"bind"}
    assert sorted(verbs) == sorted((verb, verb) for verb in expected)
    scoped = "scoped" in path.name or path.parent.name == "service"
    markers = [marker for marker in MARKERS if marker.removeprefix("paddock.dev/") in expected]
    assert sorted(managed(config)) == (sorted(markers) if scoped else [])


@pytest.mark.parametrize("path", [path for path in CONFIGS if managed(document(path))], ids=named)
def test_a_marker_switches_on_the_verb_of_its_name_and_is_no_resource_of_nodes(path: Path) -> None:
    for part in document(path)["extenders"]:
        (marker,) = part["managedResources"]
        assert marker["ignoredByScheduler"] is True
        assert f"{marker['name'].removeprefix('paddock.dev/')}Verb" in part


@pytest.mark.parametrize("path", CONFIGS, ids=named)
def test_a_bind_call_may_take_longer_than_paddock_holds_it(path: Path) -> None:
    for part in document(path)["extenders"]:
        assert part["nodeCacheCapable"] is True
        assert part["ignorable"] is False, "an ignored outage is a way past every quota"
        if "bindVerb" in part:
            assert seconds(part["httpTimeout"]) > Settings().bind_deadline
            assert not {"filterVerb", "preemptVerb", "prioritizeVerb"} & set(part)
        else:
            # These calls delay the scheduling of all other pods.
            assert seconds(part["httpTimeout"]) <= 5


@pytest.mark.parametrize("path", CONFIGS, ids=named)
def test_nodes_are_ranked_by_paddock_alone_when_it_ranks_them(path: Path) -> None:
    config = document(path)
    weights = [part["weight"] for part in config["extenders"] if "prioritizeVerb" in part]
    if "prioritize" in path.name:
        assert weights == [200]
        assert config["percentageOfNodesToScore"] == 100
    else:
        assert weights == []
        assert "percentageOfNodesToScore" not in config


@pytest.mark.parametrize("path", CONFIGS, ids=named)
def test_every_profile_schedules_marked_pods_even_without_extenders(path: Path) -> None:
    for profile in document(path)["profiles"]:
        (plugin,) = profile["pluginConfig"]
        assert plugin["name"] == "NodeResourcesFit"
        assert plugin["args"]["ignoredResourceGroups"] == ["paddock.dev"]


def test_the_sidecar_leaves_the_default_scheduler_name_to_the_cluster() -> None:
    assert profiles("sidecar") == {"yunikorn", "paddock"}
    assert profiles("kubeadm") == profiles("service") == {"default-scheduler", "yunikorn", "paddock"}


@pytest.mark.parametrize("path", CONFIGS, ids=named)
def test_calls_go_to_where_the_overlay_serves_them(path: Path) -> None:
    port = flags(path.parent.name)["verbs-port"]
    base = "https://paddock.paddock-system.svc" if path.parent.name == "service" else "http://127.0.0.1"
    assert {part["urlPrefix"] for part in document(path)["extenders"]} == {f"{base}:{port}/v1"}


@pytest.mark.parametrize("path", sorted(MANIFESTS.glob("service/scheduler-config-*.yaml")), ids=named)
def test_a_call_that_leaves_the_host_is_authenticated_both_ways(path: Path) -> None:
    for part in document(path)["extenders"]:
        assert part["enableHTTPS"] is True
        assert set(part["tlsConfig"]) == {"serverName", "caFile", "certFile", "keyFile"}
        assert part["tlsConfig"]["serverName"] == "paddock.paddock-system.svc"


@pytest.mark.parametrize("path", CONFIGS, ids=named)
def test_paddock_follows_the_lease_its_scheduler_holds(path: Path) -> None:
    election = document(path)["leaderElection"]
    assert election["leaderElect"] is True
    lease = f"{election['resourceNamespace']}/{election['resourceName']}"
    assert flags(path.parent.name).get("lease", "") == ("" if path.parent.name == "service" else lease)


# --- pods ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_command_line_takes_the_shipped_arguments(overlay: str) -> None:
    _, container = paddock_container(overlay)
    _parser().parse_args(container["args"])
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        if "exec" in container[name]:
            command, *arguments = container[name]["exec"]["command"]
            assert command == "paddock"
            _parser().parse_args(arguments)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_paddock_runs_at_the_restricted_level(overlay: str) -> None:
    spec, container = paddock_container(overlay)
    security = spec.get("securityContext", {}) | container["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["allowPrivilegeEscalation"] is False
    assert security["readOnlyRootFilesystem"] is True
    assert container["resources"]["requests"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_admin_port_stays_on_loopback(overlay: str) -> None:
    assert flags(overlay)["admin-address"] == "127.0.0.1"
    _, container = paddock_container(overlay)
    for probe in (container[name] for name in ("startupProbe", "livenessProbe", "readinessProbe")):
        # The kubelet reaches a loopback port only of a pod on the host's network.
        asked = "httpGet" if overlay == "kubeadm" else "exec"
        assert asked in probe
        assert flags(overlay)["admin-port"] in str(probe[asked])


def test_verbs_leave_the_pod_only_with_client_certificates() -> None:
    for overlay in OVERLAYS:
        given = flags(overlay)
        assert given["verbs-address"] == "127.0.0.1" or {"tls-cert", "tls-key", "tls-client-ca"} <= set(given)


def test_two_paddocks_without_a_lease_never_run_at_once() -> None:
    spec = document(MANIFESTS / "service" / "deployment.yaml")["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize("variant", ["scoped", "prioritize"])
def test_the_sidecar_variants_name_a_configuration_that_exists(variant: str) -> None:
    patches = document(MANIFESTS / f"sidecar-{variant}" / "kustomization.yaml")["patches"]
    (patch,) = [each["patch"] for each in patches if each["target"]["kind"] == "Deployment"]
    spec = yaml.safe_load(patch)["spec"]["template"]["spec"]
    chosen = spec["containers"][0]["env"][0]
    assert chosen == {"name": "SCHEDULER_CONFIG", "value": f"scheduler-config-{variant}.yaml"}
    generated = document(MANIFESTS / "sidecar" / "kustomization.yaml")["configMapGenerator"]
    assert chosen["value"] in generated[0]["files"]
