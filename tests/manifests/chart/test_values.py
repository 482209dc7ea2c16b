"""Single values: versions, images, switches, and errors that say what to set."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import yaml

from e2e.programs.helm import CHART, HELM, Case, Rendered, render
from manifests.release.version import version
from tests.manifests.chart.installations import IMAGES, LEAST, MODES, V1, named, one, values

SHA = "sha256:" + "a" * 64
ROLE, BINDING = "ClusterRole", "ClusterRoleBinding"
SWITCHES: Mapping[str, tuple[dict[str, Any], str, str]] = {
    "gangs": ({"abilities": {"gangs": True}}, ROLE, "paddock-gangs"),
    "preemption": ({"abilities": {"preemption": True}}, ROLE, "paddock-preemption"),
    "executionTimeout": ({"abilities": {"executionTimeout": True}}, ROLE, "paddock-ending"),
    "directDelete": ({"abilities": {"directDelete": True}}, ROLE, "paddock-direct-delete"),
    "rest": ({"rest": {"enabled": True}}, ROLE, "paddock-authentication"),
    "apiService": ({"apiService": {"enabled": True}}, "APIService", "v1alpha1.paddock.dev"),
    "the right to the APIService": ({"apiService": {"enabled": True}}, ROLE, "paddock-aggregated-api"),
    "viewerRoles": ({"viewerRoles": {"enabled": True}}, ROLE, "paddock-viewer"),
    "records": ({"records": {"enabled": True}}, "ValidatingAdmissionPolicy", "protect-records.paddock.dev"),
    "quota": ({"quota": {"enabled": True}}, "ValidatingAdmissionPolicy", "protect-nodes.paddock.dev"),
    "identity": (
        {"identity": {"enabled": True}},
        "ValidatingAdmissionPolicy",
        "protect-user-info.paddock.dev",
    ),
    "identity.add": ({"identity": {"enabled": True}}, "MutatingAdmissionPolicy", "add-user-info.paddock.dev"),
    "gates": ({"gates": {"enabled": True}}, "MutatingAdmissionPolicy", "mark-and-gate-pods.paddock.dev"),
    "adopt": ({"adopt": {"enabled": True}}, "MutatingAdmissionPolicy", "adopt-pods.paddock.dev"),
    "networkPolicy": ({"networkPolicy": {"enabled": True}}, "NetworkPolicy", "paddock"),
    "podDisruptionBudget": ({"podDisruptionBudget": {"enabled": True}}, "PodDisruptionBudget", "paddock"),
    "namespace": ({"namespace": {"create": True}}, "Namespace", "paddock-system"),
    "monitoring": (
        {"monitoring": {"enabled": True}, "rest": {"enabled": True}},
        "ServiceMonitor",
        "paddock",
    ),
    "monitoring.monitor": (
        {"monitoring": {"enabled": True, "monitor": "pods"}, "rest": {"enabled": True}},
        "PodMonitor",
        "paddock",
    ),
    "monitoring.alerts": ({"monitoring": {"enabled": True}}, "PrometheusRule", "paddock"),
    "monitoring.boards": ({"monitoring": {"enabled": True}}, "ConfigMap", "paddock-board-queues"),
    "resourceQuota": (
        {"resourceQuota": {"enabled": True}, "pod": {}},
        "ResourceQuota",
        "paddock-priority-class",
    ),
    "queues.initial": (
        {"queues": {"initial": "partitions: []"}},
        "ConfigMap",
        "paddock-initial-queues",
    ),
    "cert-manager": (
        {"tls": {"source": "certManager", "certManager": {"issuerRef": {"name": "ca"}}}},
        "Certificate",
        "paddock-server",
    ),
}
"""Values, and an object that is rendered with them and not without."""


def least(**more: Any) -> dict[str, Any]:
    """The fewest objects, of a mode in which no ability is on by itself."""
    merged = values("service", **LEAST)
    for name, value in more.items():
        merged[name] = {**merged[name], **value} if name == "abilities" else value
    return merged


@cache
def switched() -> Mapping[str, Rendered]:
    cases = [Case(name, least(**given)) for name, (given, _, _) in SWITCHES.items()]
    return render([*cases, Case("least", least())])


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_brings_its_object_and_nothing_else_does(name: str) -> None:
    _, kind, expected = SWITCHES[name]
    assert switched()[name].error == ""
    assert expected in named(switched()[name], kind)
    assert expected not in named(switched()["least"], kind)


def test_every_role_of_an_ability_that_is_on_is_bound() -> None:
    for made in (*switched().values(), *(one(values(mode)) for mode in MODES)):
        bound = {each["roleRef"]["name"] for each in made.objects if each["kind"] == BINDING}
        unbound = {"paddock-viewer", "paddock-metrics", "paddock-explanations", "paddock-simulations"}
        assert {name for name in named(made, ROLE) if name not in unbound} == {
            name for name in bound if name.startswith("paddock") and name not in unbound
        }


@pytest.mark.parametrize(
    ("mode", "gates", "expected"),
    [
        ("sidecar", True, {"gate-managed-pods.paddock.dev"}),
        ("service", False, {"mark-managed-pods.paddock.dev"}),
        ("service", True, {"mark-and-gate-pods.paddock.dev"}),
    ],
)
def test_markers_and_gates_are_given_by_one_policy(mode: str, gates: bool, expected: set[str]) -> None:
    made = one(values(mode, gates={"enabled": gates}))
    assert made.error == ""
    assert {
        name for name in named(made, "MutatingAdmissionPolicy") if "managed" in name or "gate" in name
    } == (expected)


@pytest.mark.parametrize("percentage", [0, 5])
def test_the_number_of_scored_nodes_is_kube_schedulers_own_unless_it_is_set(percentage: int) -> None:
    made = one(values("sidecar", scheduler={"percentageOfNodesToScore": percentage}))
    assert made.error == ""
    (text,) = [
        text
        for each in made.objects
        if each["kind"] == "ConfigMap"
        for text in each["data"].values()
        if "KubeSchedulerConfiguration" in text
    ]
    assert yaml.safe_load(text).get("percentageOfNodesToScore", 0) == percentage


def test_without_abilities_paddock_has_the_core_role_alone() -> None:
    assert named(switched()["least"], ROLE) == {"paddock-core"}


# --- versions and images ----------------------------------------------------------------------------


def images(made: Rendered) -> set[str]:
    assert made.error == ""
    (workload,) = [each for each in made.objects if each["kind"] == "Deployment"]
    return {each["image"] for each in workload["spec"]["template"]["spec"]["containers"]}


@pytest.mark.parametrize(
    ("cluster", "tag"),
    [
        ("v1.33.5-gke.1200", "v1.33.5"),
        ("v1.34.2-eks-abc123", "v1.34.2"),
        ("v1.35.4+k3s1", "v1.35.4"),
        ("v1.36.2", "v1.36.2"),
    ],
)
def test_kube_scheduler_is_of_the_version_of_the_cluster(cluster: str, tag: str) -> None:
    assert images(one(values("sidecar"), kubeVersion=cluster)) == {
        f"r/kube-scheduler:{tag}",
        f"r/paddock:{version()}",
    }


def test_images_have_a_registry_a_digest_and_secrets_to_pull_them() -> None:
    asked = {
        "global": {"imageRegistry": "all.test", "imagePullSecrets": ["a", "b"]},
        "images": {
            "paddock": {"registry": "own.test", "repository": "p", "digest": SHA},
            "scheduler": {"repository": "s", "tag": "v1.36.9", "digest": SHA},
        },
    }
    made = one(values("sidecar", **asked))
    assert images(made) == {f"all.test/p@{SHA}", f"all.test/s:v1.36.9@{SHA}"}
    apart = one(values("sidecar", images=asked["images"]))
    assert images(apart) == {f"own.test/p@{SHA}", f"s:v1.36.9@{SHA}"}
    (workload,) = [each for each in made.objects if each["kind"] == "Deployment"]
    assert workload["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]


def test_an_old_cluster_is_refused() -> None:
    assert "requires kubeVersion: >=1.33.0-0" in one(values("sidecar"), kubeVersion="v1.32.9").error


# --- errors ------------------------------------------------------------------------------------------

MISTAKES: Mapping[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no image": ({"mode": "sidecar"}, ("images.scheduler.repository", "has no default", "set it to")),
    "no image of Paddock": (
        {"mode": "kubeadm", "images": {"scheduler": {"repository": "r"}}},
        ("images.paddock.repository", "has no default"),
    ),
    "plain at a Service": (
        {**IMAGES, "mode": "service", "tls": {"source": "secret"}},
        ("set scheduler.form to scoped, prioritize or direct",),
    ),
    "a Service without TLS": (
        {**IMAGES, "mode": "service", "scheduler": {"form": "scoped"}},
        ("set tls.source to selfSigned, secret or certManager",),
    ),
    "fewer nodes where all are ranked": (
        values("sidecar", scheduler={"form": "prioritize", "percentageOfNodesToScore": 5}),
        ("leave scheduler.percentageOfNodesToScore at 0",),
    ),
    "two without a Lease": (values("service", replicas=2), ("set replicas to 1",)),
    "TLS of a static pod": (values("kubeadm", tls={"source": "secret"}), ("leave tls.source at none",)),
    "own certificates of a static pod": (
        values("kubeadm", tls={"source": "selfSigned"}),
        ("leave tls.source at none",),
    ),
    "a source that is none": (values("service", tls={"source": "vault"}), ("tls", "source")),
    "no issuer": (values("sidecar", tls={"source": "certManager"}), ("tls.certManager.issuerRef.name",)),
    "a name that is none": (values("sidecar", sidecar={}), ("sidecar",)),
    "a mode that is none": (values("sidecar") | {"mode": "plugin"}, ("mode",)),
    "a digest that is none": (
        values("sidecar") | {"images": {"paddock": {"repository": "r", "digest": "abc"}}},
        ("digest",),
    ),
    "a port that is none": (values("sidecar", ports={"rest": 70000}), ("ports",)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str) -> None:
    given, expected = MISTAKES[name]
    error = one(given).error
    for word in expected:
        assert word in error


def leaves(tree: Any, path: str = "") -> Iterator[str]:
    """Paths of the values that have no values below them."""
    if not isinstance(tree, dict) or not tree:
        yield path
        return
    for name, below in tree.items():
        yield from leaves(below, f"{path}.{name}" if path else name)


def test_the_schema_knows_every_value_and_every_value_is_in_the_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    given = yaml.safe_load((CHART / "values.yaml").read_text())

    def resolved(part: dict[str, Any]) -> dict[str, Any]:
        name = part.get("$ref", "").removeprefix("#/definitions/")
        return schema["definitions"][name] if name else part

    def agree(part: dict[str, Any], tree: dict[str, Any], path: str) -> None:
        known = resolved(part).get("properties")
        if known is None:
            return
        optional = {"limits"} if path.endswith("resources") else set()
        assert set(known) - optional <= set(tree) <= set(known), path
        for name, below in tree.items():
            if isinstance(below, dict):
                agree(known[name], below, f"{path}.{name}")

    agree(schema, given, "")


def test_every_value_is_read_by_a_template() -> None:
    text = " ".join(path.read_text() for path in sorted((CHART / "templates").rglob("*.*")))
    given = yaml.safe_load((CHART / "values.yaml").read_text())
    of_images = "images."
    unread = [path for path in leaves(given) if f".{path}" not in text and not path.startswith(of_images)]
    # Read as a whole.
    assert [path for path in unread if ".resources." not in path and ".labels." not in path] == []


# --- the command ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_the_command_renders_what_the_tests_render(mode: str, tmp_path: Any) -> None:
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(values(mode)))
    version = ("--kube-version", "v1.36.2", "--api-versions", V1)
    command = [
        HELM,
        "template",
        "paddock",
        CHART,
        "-n",
        "paddock-system",
        "-f",
        tmp_path / "values.yaml",
        *version,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"HOME": str(tmp_path), "PATH": ""}
    )
    found = [each for each in yaml.safe_load_all(done.stdout) if each]
    assert sorted(map(repr, found)) == sorted(map(repr, one(values(mode)).objects))


def test_the_chart_passes_lint_by_the_command(tmp_path: Any) -> None:
    sets = [f"--set=images.{name}.repository=r" for name in ("paddock", "scheduler")]
    command = [HELM, "lint", "--strict", "--kube-version=v1.36.2", *sets, CHART]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"HOME": str(tmp_path), "PATH": ""}
    )
    assert done.returncode == 0, done.stdout
