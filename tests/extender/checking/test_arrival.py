"""Quotas of other systems as queue documents: what is converted, and what becomes a note."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from core.errors import PaddockError
from extender.checking.arrival import arrive
from extender.cli import main

KUEUE = b"""
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-a}
spec:
  cohort: research
  preemption: {reclaimWithinCohort: Any}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: spot
      resources:
      - {name: cpu, nominalQuota: 9, borrowingLimit: 3}
      - {name: memory, nominalQuota: 36Gi}
    - name: fixed
      resources:
      - {name: cpu, nominalQuota: 500m, borrowingLimit: 1}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team-b}
spec:
  cohortName: research
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: fixed, resources: [{name: cpu, nominalQuota: "4", lendingLimit: "1"}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: alone}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: fixed, resources: [{name: cpu, nominalQuota: "4"}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: jobs, namespace: ml}
spec: {clusterQueue: team-a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
"""
ELASTIC = b"""
apiVersion: v1
kind: List
items:
- apiVersion: scheduling.x-k8s.io/v1alpha1
  kind: ElasticQuota
  metadata: {name: q, namespace: ml}
  spec: {min: {cpu: 2, memory: 4Gi}, max: {cpu: 4, memory: 8Gi}}
- apiVersion: scheduling.x-k8s.io/v1alpha1
  kind: ElasticQuota
  metadata: {name: second, namespace: ml}
  spec: {min: {cpu: 1}}
"""
HELM = b"""
yunikornDefaults:
  queues.yaml: |
    partitions: [{name: default, queues: [{name: root, submitacl: "*", queues: [{name: a}]}]}]
  service.schedulingInterval: 1s
hostNetwork: true
fullnameOverride: x
"""
FILES = {"kueue": KUEUE, "elasticquota": ELASTIC, "yunikorn-helm": HELM}


def queues_of(document: str) -> dict[str, Any]:
    (root,) = yaml.safe_load(document)["partitions"][0]["queues"]
    return {each["name"]: each for each in root["queues"]}


def test_a_cohort_is_a_parent_and_its_cluster_queues_are_leaves() -> None:
    """Nominal quotas are guaranteed. A borrowing limit gives a max, and a cohort's max is their sum."""
    queues = queues_of(arrive("kueue", [KUEUE]).document)
    team_a, team_b = queues["research"]["queues"]
    assert queues["research"]["resources"]["max"] == {"memory": "36Gi", "vcore": "13500m"}
    assert team_a["resources"] == {
        "guaranteed": {"memory": "36Gi", "vcore": "9500m"},
        "max": {"vcore": "13500m"},
    }
    assert team_b["resources"] == {"guaranteed": {"vcore": "4"}}
    assert queues["alone"]["resources"] == {"guaranteed": {"vcore": "4"}, "max": {"vcore": "4"}}


def test_what_kueue_has_and_queues_lack_is_named() -> None:
    notes = "\n".join(arrive("kueue", [KUEUE]).notes)
    for text in (
        "ClusterQueue team-a: preemption is left out.",
        "ClusterQueue team-a: its flavors are added up",
        "ClusterQueue team-b: lendingLimit of vcore is left out.",
        "queue-name=jobs in namespace ml need the label yunikorn.apache.org/queue=root.research.team-a.",
    ):
        assert text in notes


def test_an_elastic_quota_is_a_queue_of_its_namespace() -> None:
    found = arrive("elasticquota", [ELASTIC])
    assert queues_of(found.document)["ml"]["resources"] == {
        "guaranteed": {"memory": "4Gi", "vcore": "2"},
        "max": {"memory": "8Gi", "vcore": "4"},
    }
    rules = yaml.safe_load(found.document)["partitions"][0]["placementrules"]
    assert [each["name"] for each in rules] == ["provided", "tag"]
    assert found.notes == ("ElasticQuota ml/second is left out: one ElasticQuota counts for each namespace.",)


def test_values_of_a_chart_become_the_config_map() -> None:
    found = arrive("yunikorn-helm", [HELM])
    assert yaml.safe_load(found.document)["data"].keys() == {"queues.yaml", "service.schedulingInterval"}
    assert found.notes == (
        "fullnameOverride: has no counterpart.",
        "hostNetwork: set pod.hostNetwork of Paddock's chart.",
    )


@pytest.mark.parametrize("system", FILES)
def test_a_converted_document_is_valid(
    system: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "given.yaml"
    file.write_bytes(FILES[system])
    assert main(["check", "--from", system, str(file)]) == 0, capsys.readouterr()
    printed = tmp_path / "printed.yaml"
    printed.write_text(capsys.readouterr().out)
    assert main(["check", str(printed)]) == 0


@pytest.mark.parametrize("text", [b"a: [", b"kind: Pod", b"- 1", b"\xff", b""])
@pytest.mark.parametrize("system", FILES)
def test_files_without_such_objects_are_refused(system: str, text: bytes) -> None:
    with pytest.raises(PaddockError, match=r"the files have no|a file is no YAML"):
        arrive(system, [text])
