"""Scores of the echo that watches are such as kube-scheduler reads."""

import json

import pytest

from e2e.bench.worlds.echo import scores_of


@pytest.mark.parametrize("names", [[], ["n1"], ["n1", "node-2.example"]])
def test_each_offered_node_has_the_same_score(names: list[str]) -> None:
    found = json.loads(scores_of(json.dumps(names, separators=(",", ":")).encode()))
    assert found == [{"Host": name, "Score": 0} for name in names]
