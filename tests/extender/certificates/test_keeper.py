"""Secret of the serving certificate: made once, shared by all instances, published to the APIService."""

import base64
from collections.abc import Callable
from typing import Any

from extender.certificates.issuing import LIFETIME, KeyPair
from extender.certificates.keeper import SECRET, CertificateKeeper
from extender.certificates.publishing import API_SERVICE, ApiServiceBundle
from extender.certificates.rotation import PUBLISHED_FOR, RENEWED_AT, ServingPairs
from extender.kube.connection.api import NotFound
from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi

SECRETS = "/api/v1/namespaces/paddock-system/secrets"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


class Instance:
    """Instance with a keeper. ``shown``: the pairs that it handed on; ``trusted``: what it believes."""

    def __init__(self, client: ApiClient, wall: Callable[[], float]) -> None:
        self.shown: list[KeyPair] = []
        self.trusted = ""
        self.keeper = CertificateKeeper(
            client,
            namespace="paddock-system",
            names=lambda: ("localhost",),
            serve=self._show,
            wall=wall,
            is_missing=lambda error: isinstance(error, NotFound),
            publications=lambda: (ApiServiceBundle(),),
        )

    def _show(self, pairs: ServingPairs) -> None:
        self.trusted = pairs.trusted
        if pairs.served not in self.shown[-1:]:
            self.shown.append(pairs.served)


class Clock:
    """Seconds since 1970, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def secret(api: FakeApi) -> dict[str, str]:
    found = api.find(SECRETS, SECRET)
    assert found is not None
    return {name: base64.b64decode(value).decode() for name, value in found["data"].items()}


def published(api: FakeApi) -> str:
    found: dict[str, Any] | None = api.find(API_SERVICES, API_SERVICE)
    assert found is not None
    return base64.b64decode(found["spec"]["caBundle"]).decode()


async def test_the_first_instance_makes_it_and_the_second_shows_the_same(
    api: FakeApi, client: ApiClient
) -> None:
    api.apply(API_SERVICES, {"metadata": {"name": API_SERVICE}, "spec": {"group": "paddock.dev"}})
    first, second = (Instance(client, Clock()) for _ in range(2))
    for each in (first, second, first):
        await each.keeper.check()
        assert each.keeper.problem == ""
    assert first.shown == second.shown == [KeyPair(secret(api)["tls.crt"], secret(api)["tls.key"])]
    assert published(api) == secret(api)["ca.crt"] == secret(api)["tls.crt"]


async def test_a_rotation_reaches_the_api_server_before_any_caller(api: FakeApi, client: ApiClient) -> None:
    api.apply(API_SERVICES, {"metadata": {"name": API_SERVICE}, "spec": {}})
    clock = Clock()
    first, second = (Instance(client, clock) for _ in range(2))
    for each in (first, second):
        await each.keeper.check()
    clock.now += LIFETIME * RENEWED_AT
    await first.keeper.check()
    staged = secret(api)
    assert published(api) == staged["tls.crt"] + staged["next.crt"]
    assert len(first.shown) == 1
    assert first.trusted == staged["ca.crt"]
    clock.now += PUBLISHED_FOR
    await second.keeper.check()
    await first.keeper.check()
    assert first.shown == second.shown
    assert first.shown[-1].certificate == staged["next.crt"]
    assert published(api) == staged["ca.crt"]


async def test_an_instance_that_was_slower_shows_what_the_other_made(api: FakeApi, client: ApiClient) -> None:
    clock = Clock()
    first, second = (Instance(client, clock) for _ in range(2))
    api.fail_next(404, method="GET", path=SECRETS, times=2)
    await first.keeper.check()
    await second.keeper.check()
    assert "409" in second.keeper.problem
    await second.keeper.check()
    assert second.keeper.problem == ""
    assert second.shown[-1:] == first.shown


async def test_without_the_right_an_instance_shows_one_of_its_own_and_says_why(
    api: FakeApi, client: ApiClient
) -> None:
    instance = Instance(client, Clock())
    api.fail_next(403, path=SECRETS, times=2)
    await instance.keeper.check()
    await instance.keeper.check()
    assert "403" in instance.keeper.problem
    assert len(instance.shown) == 1
    await instance.keeper.check()
    assert instance.keeper.problem == ""
    assert [pair.certificate for pair in instance.shown[1:]] == [secret(api)["tls.crt"]]


async def test_without_the_api_service_nothing_is_amiss(api: FakeApi, client: ApiClient) -> None:
    instance = Instance(client, Clock())
    await instance.keeper.check()
    assert instance.keeper.problem == ""


async def test_a_secret_that_holds_something_else_is_replaced(api: FakeApi, client: ApiClient) -> None:
    api.apply(SECRETS, {"metadata": {"name": SECRET}, "data": {"tls.crt": "bm8=", "other": "bm8="}})
    instance = Instance(client, Clock())
    await instance.keeper.check()
    assert set(secret(api)) == {"ca.crt", "tls.crt", "tls.key"}
    assert instance.keeper.problem == ""
