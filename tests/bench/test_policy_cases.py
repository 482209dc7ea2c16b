"""Cases of the benchmark of policies: which of them apply in which namespace."""

from e2e.bench.rates.policies import (
    CONSTANT,
    NONE,
    ONCE,
    SHIPPED,
    UNLESS,
    cases,
    constant,
    label_of,
    limited,
    trials,
)
from e2e.bench.rates.sides import policies
from e2e.stands.stand import manifest


def test_each_shipped_policy_is_measured_alone_beside_nothing_and_the_measure() -> None:
    alone = [case.policies for case in cases() if case.labelled and len(case.policies) == 1]
    assert alone == [(CONSTANT,), *((name,) for name in (*trials(), *SHIPPED))]
    assert [case.policies for case in cases() if case.name.startswith(NONE)] == [(), ()]


def test_all_together_have_each_change_of_pods_once() -> None:
    (everything,) = [case for case in cases() if case.name == "all"]
    assert set(SHIPPED) - set(everything.policies) == {"gate", "markers"}
    assert everything.labels().keys() >= {label_of(name) for name in everything.policies}


def test_a_binding_applies_only_where_the_label_is_and_a_policy_stays_as_it_is() -> None:
    policy, binding = limited(constant(), "a-label")
    assert policy == constant()[0]
    (expression,) = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert expression == {"key": "a-label", "operator": "Exists"}


def test_labels_of_policies_are_valid_and_differ() -> None:
    labels = [label_of(name) for name in (CONSTANT, *trials(), *SHIPPED)]
    assert len(set(labels)) == len(labels)
    assert all(set(label) <= set("abcdefghijklmnopqrstuvwxyzAINP-./") for label in labels)


def test_a_trial_differs_from_what_is_shipped_in_one_field_and_has_a_name_of_its_own() -> None:
    for things in trials().values():
        policy, binding = things
        assert binding["spec"]["policyName"] == policy["metadata"]["name"]
    shipped = manifest(SHIPPED["markers and gate"])[0]["spec"]
    for name, field in ((ONCE, "reinvocationPolicy"), (UNLESS, "matchConditions")):
        spec = trials()[name][0]["spec"]
        assert {each for each in spec if spec[each] != shipped.get(each)} == {field}
    assert len({each["metadata"]["name"] for things in trials().values() for each in things}) == len(trials())


def test_the_gated_form_gives_the_marker_for_preempt_alone() -> None:
    policy, binding = policies()
    (mutation,) = policy["spec"]["mutations"]
    expression = mutation["jsonPatch"]["expression"]
    found = [line for line in expression.splitlines() if "paddock.dev/" in line and "orValue" in line]
    assert ["paddock.dev/preempt" in line for line in found if "resources" in line] == [True, True]
    assert '"paddock.dev/filter": "1"' not in expression
    assert policy["spec"] | {"mutations": []} == manifest(SHIPPED["markers and gate"])[0]["spec"] | {
        "mutations": []
    }
    assert binding == manifest(SHIPPED["markers and gate"])[1]
