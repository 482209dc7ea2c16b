"""All rules together: their order, and that one call is as good as several."""

from itertools import permutations

from extender.mutation.rules import RULES
from tests.extender.mutation.reviews import changed, pod

ALL = ("adopt", "user-info", "mark-named", "gate")


def test_a_pod_that_is_adopted_is_marked_and_gated_by_the_same_call() -> None:
    found = changed(pod(), *ALL, keys={})
    assert found["spec"]["schedulerName"] == "yunikorn"
    assert "paddock.dev/filter" in found["spec"]["containers"][0]["resources"]["requests"]
    assert found["spec"]["schedulingGates"] == [{"name": "paddock.dev/queue"}]
    assert "yunikorn.apache.org/user.info" in found["metadata"]["annotations"]
    assert changed(found, *ALL, keys={}) == found


def test_the_order_of_the_names_does_not_matter() -> None:
    expected = changed(pod(), *ALL, keys={})
    assert all(changed(pod(), *each, keys={}) == expected for each in permutations(ALL))


def test_a_rule_that_is_not_named_does_nothing() -> None:
    for left_out in ALL:
        found = changed(pod(), *(each for each in ALL if each != left_out), keys={})
        assert found != changed(pod(), *ALL, keys={})


def test_templates_have_owners_and_nothing_else() -> None:
    thing = {"spec": {"template": {"metadata": {"annotations": {}}, "spec": pod()["spec"]}}}
    found = changed(thing, *RULES, keys={}, plural="jobs")
    assert found["spec"]["template"]["spec"] == pod()["spec"]
