"""An effector for each test of this folder."""

import pytest

from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi
from tests.extender.kube.effects.effector_bench import Bench


@pytest.fixture
async def bench(api: FakeApi, client: ApiClient) -> Bench:
    return Bench(api, client)
