"""Fixtures for tests of the shell: a fake API server and its client."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from extender.kube.connection.client import ApiClient, connect
from tests.extender.fake_api import FakeApi


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    server = await FakeApi().start()
    yield server
    await server.stop()


@pytest.fixture
async def client(api: FakeApi, tmp_path: Path) -> AsyncIterator[ApiClient]:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(api.kubeconfig()))
    async with await connect(kubeconfig=str(kubeconfig)) as connected:
        yield connected
