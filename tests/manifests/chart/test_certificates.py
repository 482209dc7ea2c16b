"""Certificates of the verbs that Paddock makes itself: flags, volumes and rights of that source."""

from collections.abc import Mapping
from typing import Any

import pytest

from e2e.programs.helm import Rendered
from extender.certificates.keeper import AUTHORITY_SECRET, SECRET
from tests.manifests.chart.installations import LEAST, named, one, values

OWN = {"tls": {"source": "selfSigned"}}


def pod_of(made: Rendered) -> dict[str, Any]:
    assert made.error == ""
    (workload,) = [each for each in made.objects if each["kind"] == "Deployment"]
    found: dict[str, Any] = workload["spec"]["template"]["spec"]
    return found


def paddock_of(made: Rendered) -> dict[str, Any]:
    (found,) = [each for each in pod_of(made)["containers"] if each["name"] == "paddock"]
    return dict(found)


def secrets_of(made: Rendered) -> dict[str, set[str]]:
    """Names of Secrets by verb; an empty name stands for any."""
    assert made.error == ""
    found: dict[str, set[str]] = {}
    for each in made.objects:
        if each["kind"] in ("Role", "ClusterRole"):
            for rule in each["rules"]:
                for verb in rule["verbs"] if "secrets" in rule.get("resources", ()) else ():
                    found.setdefault(verb, set()).update(rule.get("resourceNames", [""]))
    return found


@pytest.mark.parametrize("mode", ["service", "sidecar"])
def test_paddock_gets_the_name_of_one_secret_and_no_files(mode: str) -> None:
    container = paddock_of(one(values(mode, **OWN)))
    assert [each for each in container["args"] if each.startswith("--tls-")] == [
        "--tls-client-secret=paddock-client-tls"
    ]
    assert [each["name"] for each in container["volumeMounts"]] == ["tmp"]
    assert "tls" not in [each["name"] for each in pod_of(one(values(mode, **OWN)))["volumes"]]


def test_kube_scheduler_mounts_a_secret_that_may_not_exist_yet() -> None:
    """Paddock, which makes it, is in the same pod, and no pod starts without a Secret that it must have."""
    (volume,) = [
        each for each in pod_of(one(values("sidecar", **OWN)))["volumes"] if each["name"] == "client-tls"
    ]
    assert volume["secret"]["secretName"] == "paddock-client-tls"
    assert volume["secret"]["optional"] is True
    (given,) = [
        each
        for each in pod_of(one(values("sidecar", tls={"source": "secret"})))["volumes"]
        if each["name"] == "client-tls"
    ]
    assert "optional" not in given["secret"]


def test_rights_are_to_three_secrets_by_name() -> None:
    made = one(values("service", tls={"source": "selfSigned", "clientSecret": "mine"}))
    names = {SECRET, AUTHORITY_SECRET, "mine"}
    assert secrets_of(made) == {"get": names, "update": names, "create": {""}}


def test_without_ports_that_need_a_certificate_rights_are_to_two() -> None:
    least = {**LEAST, "mutation": {"by": "policies"}}
    names = {AUTHORITY_SECRET, "paddock-client-tls"}
    made = one(values("sidecar", **{**least, **OWN}))
    assert secrets_of(made) == {"get": names, "update": names, "create": {""}}
    assert named(made, "Role") >= {"paddock-verbs-certificates"}
    assert secrets_of(one(values("sidecar", **least))) == {}


@pytest.mark.parametrize(
    "tls",
    [{"source": "secret"}, {"source": "certManager", "certManager": {"issuerRef": {"name": "ca"}}}],
    ids=["secret", "certManager"],
)
def test_another_source_gives_no_right_to_them(tls: Mapping[str, Any]) -> None:
    made = one(values("service", tls=tls))
    assert secrets_of(made) == {"get": {SECRET}, "update": {SECRET}, "create": {""}}
    assert not [each for each in paddock_of(made)["args"] if "client-secret" in each]


def test_no_certificate_is_rendered() -> None:
    made = one(values("service", **OWN))
    assert named(made, "Certificate") == set()
    assert named(made, "Secret") == set()


@pytest.mark.parametrize("name", [SECRET, AUTHORITY_SECRET])
def test_a_secret_with_paddocks_own_keys_is_not_handed_out(name: str) -> None:
    made = one(values("service", tls={"source": "selfSigned", "clientSecret": name}))
    assert "only Paddock reads" in made.error
