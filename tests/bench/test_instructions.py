"""Instructions of a life: what valgrind prints is read, and start and benchmark are left out."""

import shutil

import pytest

from e2e.bench.inside import instructions

PRINTED = """==7== Events    : Ir
==7== Collected : 3376558771
==7==
==7== I   refs:      3,376,558,771
"""


def test_the_number_is_found() -> None:
    assert instructions.found_in(PRINTED) == 3_376_558_771


def test_a_run_without_a_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="no number"):
        instructions.found_in("==7== valgrind: failed to start")


def test_neither_the_start_nor_the_benchmark_counts() -> None:
    def counted(_form: str, count: int, steps: bool) -> int:
        return 5_000_000 + count * (300 + (1_700 if steps else 0))

    assert instructions.instructions_of("plain", counted) == 1_700


async def test_without_valgrind_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    await instructions.run()
    assert capsys.readouterr() == ("", "instructions: not measured, since valgrind is not installed\n")
