"""The shipped manifests as values, for the tests that speak of them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from extender.wire.objects.sizing import MARKER_PREFIX

MANIFESTS = Path(__file__).parents[2] / "manifests"
OVERLAYS = ("sidecar", "service", "kubeadm")
CONFIGS = sorted(MANIFESTS.glob("*/scheduler-config-*.yaml"))
MARKERS = {f"{MARKER_PREFIX}{verb}" for verb in ("filter", "preempt", "bind")}
CHART = MANIFESTS / "chart"
QUEUES = MANIFESTS / "queues" / "queues.yaml"
POLICY_FILE = MANIFESTS / "policies" / "mark-managed-pods.yaml"


class UniqueKeyLoader(yaml.SafeLoader):
    """Refuses a key given twice, as kube-scheduler does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise yaml.constructor.ConstructorError(None, None, f"repeated key in {keys}", node.start_mark)
        return super().construct_mapping(node, deep)


def documents(path: Path) -> list[Any]:
    return list(yaml.load_all(path.read_text(), Loader=UniqueKeyLoader))


def document(path: Path) -> Any:
    (only,) = documents(path)
    return only


def yaml_files() -> list[Path]:
    """Every YAML file of the manifests. Templates of the chart are none."""
    return sorted(path for path in MANIFESTS.rglob("*.yaml") if CHART not in path.parents)


def objects(kind: str) -> Iterator[tuple[Path, Any]]:
    """Every object of a kind that the manifests hold, with its file."""
    for path in yaml_files():
        for found in documents(path):
            if isinstance(found, dict) and found.get("kind") == kind:
                yield path, found


def named(path: Path) -> str:
    return str(path.relative_to(MANIFESTS))


def paddock_container(overlay: str) -> tuple[Any, Any]:
    """The pod spec that an overlay runs Paddock in, and Paddock's container in it."""
    if overlay == "kubeadm":
        spec = document(MANIFESTS / "kubeadm" / "patches" / "kube-scheduler1+strategic.yaml")["spec"]
    else:
        spec = document(MANIFESTS / overlay / "deployment.yaml")["spec"]["template"]["spec"]
    (container,) = [found for found in spec["containers"] if found["name"] == "paddock"]
    return spec, container


def flags(overlay: str) -> dict[str, str]:
    _, container = paddock_container(overlay)
    return dict(arg.removeprefix("--").split("=", 1) for arg in container["args"] if arg.startswith("--"))


def rules(kind: str, name: str) -> set[tuple[str, str, str, str]]:
    """``(group, resource, resource name or "", verb)`` for each permission of a role."""
    (role,) = [found for _, found in objects(kind) if found["metadata"]["name"] == name]
    return {
        (group, resource, only, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for only in rule.get("resourceNames", [""])
        for verb in rule["verbs"]
    }


def seconds(duration: str) -> float:
    found = re.fullmatch(r"(\d+)s", duration)
    assert found, f"{duration} is not a plain number of seconds"
    return float(found[1])


def managed(config: Any) -> list[str]:
    return [entry["name"] for part in config["extenders"] for entry in part.get("managedResources", [])]


def profiles(overlay: str) -> set[str]:
    config = document(MANIFESTS / overlay / "scheduler-config-scoped.yaml")
    return {profile["schedulerName"] for profile in config["profiles"]}


def patch(spec: Any) -> str:
    """The expression that returns the steps of the only patch."""
    (mutation,) = spec["mutations"]
    return str(mutation["jsonPatch"]["expression"])


def spaceless(expression: str) -> str:
    return "".join(expression.split())
