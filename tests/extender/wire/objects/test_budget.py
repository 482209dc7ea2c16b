"""A PodDisruptionBudget of the API as core's own value."""

import json
from typing import Any

import pytest

from core.workload.budget import BudgetFacts
from core.workload.nodes.affinity import Requirement
from extender.wire.translate import BUDGET, budget_from


def read(spec: Any = None, status: Any = None, **metadata: Any) -> BudgetFacts:
    body = {"metadata": {"name": "db", "namespace": "prod", **metadata}, "spec": spec, "status": status}
    return budget_from(BUDGET.decode(json.dumps({key: each for key, each in body.items() if each})))


@pytest.mark.parametrize(
    ("spec", "selector"),
    [
        pytest.param({}, None, id="no selector"),
        pytest.param({"selector": None}, None, id="null"),
        pytest.param({"selector": {}}, (), id="empty"),
        pytest.param({"selector": {"matchLabels": None, "matchExpressions": None}}, (), id="nulls"),
        pytest.param(
            {"selector": {"matchLabels": {"tier": "data", "app": "db"}}},
            (Requirement("app", "In", ("db",)), Requirement("tier", "In", ("data",))),
            id="labels, in one order",
        ),
        pytest.param(
            {
                "selector": {
                    "matchLabels": {"app": "db"},
                    "matchExpressions": [
                        {"key": "tier", "operator": "NotIn", "values": ["web", "cache"]},
                        {"key": "zone", "operator": "Exists"},
                    ],
                }
            },
            (
                Requirement("app", "In", ("db",)),
                Requirement("tier", "NotIn", ("web", "cache")),
                Requirement("zone", "Exists", ()),
            ),
            id="both",
        ),
    ],
)
def test_pods_that_it_selects(spec: dict[str, Any], selector: tuple[Requirement, ...] | None) -> None:
    assert read({"maxUnavailable": "10%", **spec}).selector == selector


@pytest.mark.parametrize(
    ("generation", "status", "allowed"),
    [
        pytest.param(1, {"disruptionsAllowed": 2, "observedGeneration": 1}, 2, id="up to date"),
        pytest.param(2, {"disruptionsAllowed": 2, "observedGeneration": 1}, 0, id="of an older spec"),
        pytest.param(1, None, 0, id="not looked at yet"),
    ],
)
def test_what_it_allows(generation: int, status: dict[str, int] | None, allowed: int) -> None:
    assert read({"selector": {}}, status, generation=generation) == BudgetFacts("prod", "db", (), allowed)
