"""Constraints of pods from what they write. Tolerations are remembered by their text."""

import json
from typing import Any

import msgspec
import pytest

from core.workload.nodes.affinity import ANYWHERE, MOST_WEIGHED, UNREAD, Constraints, Toleration
from extender.wire.objects.constraints import constraints_from
from extender.wire.objects.pod import PodSpec

EXISTS = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
NAMED = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}


def read(spec: str) -> Constraints:
    return constraints_from(msgspec.json.decode(spec, type=PodSpec))


def tolerating(*tolerations: dict[str, Any], **others: Any) -> Constraints:
    return read(json.dumps({"tolerations": tolerations, **others}))


@pytest.mark.parametrize("spec", ["{}", '{"tolerations":null}', '{"tolerations":[]}', '{"nodeSelector":{}}'])
def test_a_pod_without_constraints_may_run_anywhere(spec: str) -> None:
    assert read(spec) == ANYWHERE


def test_pods_with_the_same_tolerations_share_one_value() -> None:
    found = tolerating(EXISTS)
    assert found.tolerations == (Toleration("a", "Exists", "", "NoExecute"),)
    assert found is tolerating(EXISTS)
    assert found is read('{ "tolerations" : [ {"operator":"Exists", "key":"a", "effect":"NoExecute"} ] }')


def test_without_an_operator_it_is_equal() -> None:
    assert tolerating({"key": "a", "value": "b"}).tolerations == (Toleration("a", "Equal", "b", ""),)


def test_tolerations_with_a_selector_and_with_terms() -> None:
    with_selector = tolerating(EXISTS, nodeSelector={"zone": "z", "arch": "x"})
    assert with_selector.selector == (("arch", "x"), ("zone", "z"))
    assert tolerating(EXISTS, affinity={"nodeAffinity": NAMED}).tolerations == with_selector.tolerations


@pytest.mark.parametrize("affinity", [{}, {"affinity": {"nodeAffinity": NAMED}}], ids=["plain", "with terms"])
def test_long_tolerations_are_read_as_short_ones_are(affinity: dict[str, Any]) -> None:
    few = [{"key": f"k{at}", "operator": "Exists"} for at in range(9)]
    long = [{**each, "comment": "x" * 1000} for each in few]
    assert tolerating(*few, **affinity) == tolerating(*long, **affinity)


@pytest.mark.parametrize("affinity", [{}, {"affinity": {"nodeAffinity": NAMED}}], ids=["plain", "with terms"])
@pytest.mark.parametrize("count", [MOST_WEIGHED + 1, 10_000])
def test_too_many_tolerations_are_unread(affinity: dict[str, Any], count: int) -> None:
    assert tolerating(*({"key": f"k{at}"} for at in range(count)), **affinity) is UNREAD


def test_too_many_labels_are_unread() -> None:
    assert tolerating(nodeSelector={f"k{at}": "" for at in range(10_000)}) is UNREAD


@pytest.mark.parametrize("written", ["5", "{}", '"a"', "[5]", '[{"key":5}]'])
@pytest.mark.parametrize("affinity", ["", f',"affinity":{json.dumps({"nodeAffinity": NAMED})}'])
def test_what_is_no_list_of_tolerations_is_an_error(written: str, affinity: str) -> None:
    with pytest.raises(ValueError, match="Expected"):
        read(f'{{"tolerations":{written}{affinity}}}')
