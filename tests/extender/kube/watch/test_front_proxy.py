"""The ConfigMap that describes the API server's proxy, from its first list to its deletion."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from extender.identity.request_header import FrontProxy
from extender.kube.connection.client import ApiClient
from extender.kube.watch.front_proxy import front_proxy_reflector
from extender.kube.watch.reporting import Silence
from tests.extender.fake_api import FakeApi
from tests.extender.reflector_bench import until

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
NAME = "extension-apiserver-authentication"
PEM = "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n"


class Heard(Silence):
    """A reporter that remembers what could not be read."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []

    def undecodable(self, kind: str, name: str, error: str, /) -> None:
        self.unreadable.append(error)


class Stage:
    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.offered: list[FrontProxy | None] = []
        self.reporter = Heard()
        self.reflector = front_proxy_reflector(client, self.offered.append, self.reporter)

    def write(self, authority: str, *, name: str = NAME, **changed: str) -> None:
        data = {
            "requestheader-client-ca-file": PEM.format(authority),
            "requestheader-allowed-names": json.dumps(["front-proxy-client"]),
            "requestheader-username-headers": json.dumps(["X-Remote-User"]),
        } | {key.replace("_", "-"): value for key, value in changed.items()}
        self.api.apply(CONFIG_MAPS, {"metadata": {"name": name}, "data": data})

    def authorities(self) -> list[str | None]:
        return [each and each.authority.split("\n")[1] for each in self.offered]


@pytest.fixture
async def stage(api: FakeApi, client: ApiClient) -> AsyncIterator[Stage]:
    made = Stage(api, client)
    task: list[asyncio.Task[None]] = []
    made.write("first")
    made.write("of-another", name="another")
    task.append(asyncio.create_task(made.reflector.run()))
    await asyncio.wait_for(made.reflector.synced.wait(), 5)
    yield made
    task[0].cancel()
    with suppress(asyncio.CancelledError):
        await task[0]


async def test_the_config_map_is_followed_and_no_other(stage: Stage) -> None:
    assert stage.authorities() == ["first"]
    await until(lambda: stage.api.watching == 1)
    stage.write("second")
    stage.write("of-another-too", name="another")
    await until(lambda: len(stage.offered) == 2)
    assert stage.authorities() == ["first", "second"]


async def test_a_config_map_that_vanished_is_no_proxy(stage: Stage) -> None:
    await until(lambda: stage.api.watching == 1)
    stage.api.delete(CONFIG_MAPS, NAME)
    await until(lambda: len(stage.offered) == 2)
    stage.write("again")
    await until(lambda: len(stage.offered) == 3)
    assert stage.authorities() == ["first", None, "again"]


async def test_a_config_map_deleted_between_two_watches_is_no_proxy(stage: Stage) -> None:
    await until(lambda: stage.api.watching == 1)
    await stage.api.stop()
    stage.api.delete(CONFIG_MAPS, NAME)
    stage.api.compact()
    await stage.api.start()
    await until(lambda: stage.authorities()[-1:] == [None])


async def test_a_config_map_that_cannot_be_used_is_no_proxy_and_reported(stage: Stage) -> None:
    await until(lambda: stage.api.watching == 1)
    stage.write("second", requestheader_username_headers="X-Remote-User")
    await until(lambda: len(stage.offered) == 2)
    assert stage.authorities() == ["first", None]
    assert stage.reporter.unreadable == ["requestheader-username-headers is no list of texts"]
