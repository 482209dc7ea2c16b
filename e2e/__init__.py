"""Paddock on the real control plane: tests, benchmarks, and the parts that both need."""

import pytest

# Helpers assert as well, and only rewritten asserts report what was found instead.
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
