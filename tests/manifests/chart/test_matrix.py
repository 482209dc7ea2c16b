"""Every combination of mode, form, version of Kubernetes and size renders and keeps the rules."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from e2e.programs.helm import CHART, Rendered, render
from tests.manifests.chart.installations import (
    GROUP,
    V1,
    changes_pods,
    is_served,
    matrix,
    rendered_matrix,
)

CASES = {case.name: case for case in matrix()}
INSTALLED = list(CASES)
TEMPLATES = sorted((CHART / "templates").rglob("*.*"))
UNSTEADY = re.compile(
    r"\b(lookup|now|date|uuidv4|rand\w+|gen(CA|PrivateKey|SelfSigned|Signed)\w*|derivePassword|htpasswd|bcrypt)\b"
)
"""Functions of templates whose result differs between two renders."""
TOO_NEW = re.compile(r"\.(slice|flatten|distinct|reverse|sort|sortBy|first|last)\(|\blists\.range\(")
"""Functions of lists in CEL. An API server takes them in a new object from 1.35 on."""


def made(name: str) -> Rendered:
    return rendered_matrix()[name]


def actions(text: str) -> Iterator[str]:
    return (
        each for each in re.findall(r"\{\{(.*?)\}\}", text, re.DOTALL) if not each.startswith(("/*", "- /*"))
    )


def expressions(part: Any) -> Iterator[str]:
    """Every expression in CEL below a part of an object."""
    if isinstance(part, list):
        for each in part:
            yield from expressions(each)
    elif isinstance(part, dict):
        for name, value in part.items():
            if name.lower().endswith("expression"):
                yield value
            else:
                yield from expressions(value)


def metadata(each: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = each["metadata"]
    return found


@pytest.mark.parametrize("name", INSTALLED)
def test_it_renders_and_passes_lint(name: str) -> None:
    assert (made(name).error, made(name).lint) == ("", ())
    assert made(name).objects


def test_all_cases_are_there() -> None:
    assert len(INSTALLED) == 132


@pytest.mark.parametrize("name", INSTALLED)
def test_each_object_is_named_labelled_and_in_a_namespace_of_its_own(name: str) -> None:
    objects = made(name).objects
    keys = [(each["kind"], metadata(each).get("namespace"), metadata(each)["name"]) for each in objects]
    assert len(set(keys)) == len(keys)
    for each in objects:
        assert metadata(each)["labels"]["app.kubernetes.io/part-of"] == "paddock"
        assert metadata(each).get("namespace", "queues") in ("queues", "kube-system")
    assert "paddock-system" not in json.dumps(objects)


@pytest.mark.parametrize("name", INSTALLED)
def test_nothing_runs_at_the_side_and_no_field_of_paddock_is_rendered(name: str) -> None:
    """A tool that applies the objects again must undo nothing that Paddock or a user wrote."""
    objects = made(name).objects
    assert not {each["kind"] for each in objects} & {"Job", "CronJob", "Secret", "PersistentVolumeClaim"}
    assert not [each for each in objects if "helm.sh/hook" in str(metadata(each))]
    text = json.dumps(objects)
    assert "caBundle" not in text
    configured = {metadata(each)["name"] for each in objects if each["kind"] == "ConfigMap"}
    assert not configured & {"yunikorn-configs", "yunikorn-defaults"}
    created = {each["kind"] for each in objects} & {"Namespace"}
    assert created == ({"Namespace"} if name.endswith("most") else set())


@pytest.mark.parametrize("name", INSTALLED)
def test_pods_are_changed_by_policies_of_one_version_or_by_the_webhook(name: str) -> None:
    case = CASES[name]
    found = {(each["kind"], each["apiVersion"]) for each in made(name).objects if "Mutating" in each["kind"]}
    version = f"{GROUP}/v1" if V1 in case.apiVersions else f"{GROUP}/v1beta1"
    policies = {("MutatingAdmissionPolicy", version), ("MutatingAdmissionPolicyBinding", version)}
    by = policies if is_served(case) else {("MutatingWebhookConfiguration", f"{GROUP}/v1")}
    assert found == (by if changes_pods(case) else set())


@pytest.mark.parametrize("name", INSTALLED)
def test_no_expression_has_a_function_that_an_older_api_server_lacks(name: str) -> None:
    """That each version takes them all is shown in e2e/tests/install/test_combinations, by `make matrix`."""
    found = list(expressions(made(name).objects))
    assert found
    assert [each for each in found if TOO_NEW.search(each)] == []


def test_such_an_expression_is_found() -> None:
    planted = {
        "spec": {"mutations": [{"jsonPatch": {"expression": "[[1], [2]].flatten()"}}, {"a": "x.sort("}]}
    }
    assert [each for each in expressions(planted) if TOO_NEW.search(each)] == ["[[1], [2]].flatten()"]


def test_two_renders_are_equal_byte_for_byte() -> None:
    again = render(replace(case, lint=False) for case in matrix())
    assert {name: each.files for name, each in again.items()} == {
        name: each.files for name, each in rendered_matrix().items()
    }


@pytest.mark.parametrize("path", TEMPLATES, ids=[str(path.relative_to(CHART)) for path in TEMPLATES])
def test_no_template_asks_a_cluster_a_clock_or_a_die(path: Any) -> None:
    assert [each for each in actions(path.read_text()) if UNSTEADY.search(each)] == []


def test_such_a_template_is_found() -> None:
    text = '{{/* now */}} {{ randAlphaNum 8 }} {{- $x := lookup "v1" "Secret" "" "" }} {{ .Values.known }}'
    assert len([each for each in actions(text) if UNSTEADY.search(each)]) == 2


@pytest.mark.parametrize("name", INSTALLED)
def test_the_configuration_of_the_scheduler_is_yaml_with_the_lease_that_paddock_follows(name: str) -> None:
    (found,) = [each for each in made(name).objects if metadata(each)["name"] == "paddock-scheduler-config"]
    (text,) = found["data"].values()
    config = yaml.safe_load(text)
    mode = CASES[name].values["mode"]
    expected = "paddock-scheduler" if mode == "sidecar" else "kube-scheduler"
    assert config["leaderElection"]["resourceName"] == expected
    if mode == "sidecar":
        (workload,) = [each for each in made(name).objects if each["kind"] == "Deployment"]
        assert f"--lease=kube-system/{expected}" in json.dumps(workload)
