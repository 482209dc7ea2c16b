"""Cases of the benchmark of policies: which of them apply in which namespace."""

from e2e.bench.rates.policies import CONSTANT, NONE, SHIPPED, cases, constant, label_of, limited


def test_each_shipped_policy_is_measured_alone_beside_nothing_and_the_measure() -> None:
    alone = [case.policies for case in cases() if case.labelled and len(case.policies) == 1]
    assert alone == [(CONSTANT,), *((name,) for name in SHIPPED)]
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
    labels = [label_of(name) for name in (CONSTANT, *SHIPPED)]
    assert len(set(labels)) == len(labels)
    assert all(set(label) <= set("abcdefghijklmnopqrstuvwxyzPA-./") for label in labels)
