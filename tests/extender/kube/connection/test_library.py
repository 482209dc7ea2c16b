"""The library that reads kubeconfigs is imported without its models, and reads them as it always does."""

import subprocess
import sys

import pytest

SHOWN = """
import sys
{before}
import extender.kube.connection.credentials as own
print(sum(name.startswith("kubernetes_asyncio.client.models") for name in sys.modules), own.Configuration)
"""


def imported(*, before: str = "") -> tuple[int, str]:
    """Number of modules with models in a new process, and the class of configurations."""
    done = subprocess.run(
        [sys.executable, "-c", SHOWN.format(before=before)], capture_output=True, text=True, check=True
    )
    count, _, found = done.stdout.strip().partition(" ")
    return int(count), found


@pytest.mark.rule("DESIGN-11")
def test_no_models_are_imported() -> None:
    assert imported() == (0, "<class 'kubernetes_asyncio.client.configuration.Configuration'>")


def test_a_library_that_somebody_has_imported_stays_as_it_is() -> None:
    count, found = imported(before="import kubernetes_asyncio")
    assert count > 500
    assert found == "<class 'kubernetes_asyncio.client.configuration.Configuration'>"
