"""A control plane for all tests, on one event loop. Everything else belongs to each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.cluster.client import Cluster
from e2e.cluster.kubelet import StubKubelet
from e2e.cluster.watching import PodCache
from e2e.programs.binaries import NoBinary, minor_of_programs, require
from e2e.programs.control_plane import ControlPlane
from e2e.programs.nursery import Nursery
from e2e.programs.paddock import NURSERY

POLICIES_SINCE = 36
"""First minor version of Kubernetes with MutatingAdmissionPolicy v1."""


def pytest_configure(config: pytest.Config) -> None:
    """End a run without programs at once. No test builds them, and each would fail for the same reason."""
    if config.option.collectonly:
        return
    try:
        require()
    except NoBinary as error:
        raise pytest.UsageError(str(error)) from None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only the items of this folder share one loop, but the hook gets those of every folder of a run."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    needy = [item for item in items if item.get_closest_marker("mutating_policies")]
    if needy and not needy[0].config.option.collectonly and (minor := minor_of_programs()) < POLICIES_SINCE:
        for item in needy:
            item.add_marker(pytest.mark.skip(f"Kubernetes 1.{minor} serves no MutatingAdmissionPolicy v1"))


@pytest.fixture(scope="session", autouse=True)
def nursery() -> Iterator[None]:
    """The process from which the tests' Paddocks are forked."""
    with Nursery() as running:
        NURSERY.append(running)
        yield
        NURSERY.pop()


@pytest.fixture
def started_as_a_user_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start this test's Paddocks as a user does: they load their code themselves."""
    monkeypatch.setattr("e2e.programs.paddock.NURSERY", [])


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def control_plane() -> AsyncIterator[ControlPlane]:
    async with ControlPlane() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def cluster(control_plane: ControlPlane) -> AsyncIterator[Cluster]:
    async with Cluster(control_plane) as made:
        made.namespace = await made.create_namespace()
        yield made
        await made.reset()


@pytest_asyncio.fixture(loop_scope="session")
async def pods(cluster: Cluster) -> AsyncIterator[PodCache]:
    async with PodCache(cluster) as cache:
        yield cache


@pytest_asyncio.fixture(loop_scope="session")
async def kubelet(cluster: Cluster) -> AsyncIterator[StubKubelet]:
    async with StubKubelet(cluster) as running:
        yield running
