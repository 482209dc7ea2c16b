"""Paddock on the real control plane: tests, benchmarks, and what both need."""

import pytest

# Helpers assert as well: what was found instead is told of them only if they are rewritten.
pytest.register_assert_rewrite(
    *(
        f"e2e.{name}"
        for name in (
            "cluster.client",
            "stands.course",
            "stands.crashes",
            "stands.gangs",
            "stands.node_reservation",
            "stands.preemption",
            "stands.stand",
        )
    )
)
