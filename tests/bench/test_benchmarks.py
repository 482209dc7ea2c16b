"""Every benchmark that `make bench` names is there."""

import inspect
from importlib import import_module

import pytest

from e2e.bench.__main__ import BENCHMARKS, main


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_benchmark_can_be_started(name: str) -> None:
    assert inspect.iscoroutinefunction(import_module(f"e2e.bench.{BENCHMARKS[name]}").run)


def test_an_unknown_name_starts_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["latency", "unknown"]) == 2
    assert "unknown benchmark unknown" in capsys.readouterr().err
