"""Runs last, when the whole suite is run: every rule has tests that passed, and no test claims many rules."""

import pytest

from tests.rules import SHOWN, VERDICTS, required


@pytest.mark.parametrize("rule", required())
def test_a_rule_has_tests_that_passed(rule: str, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.stash[SHOWN].times(rule) > 0


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("rule", [rule for rule in required() if rule.startswith("CFG")])
def test_a_rule_for_documents_has_both_verdicts(rule: str, verdict: str, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.stash[SHOWN].verdicts[rule, verdict] > 0


def test_no_test_claims_many_rules(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.stash[SHOWN].crowded == []
