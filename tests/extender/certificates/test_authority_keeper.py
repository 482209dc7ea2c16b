"""Secrets of the verbs' certificates: made once, shared by all instances, handed to kube-scheduler."""

import base64

import pytest

from extender.certificates.authority import (
    AUTHORITY_LIFETIME,
    AUTHORITY_PUBLISHED_FOR,
    AUTHORITY_RENEWED_AT,
    CLIENT_LIFETIME,
    CLIENT_RENEWED_AT,
    Authority,
)
from extender.certificates.issuing import KeyPair, is_signed_by, self_signed, service_names
from extender.certificates.keeper import AUTHORITY_SECRET, AuthorityKeeper
from extender.certificates.rotation import ServingPairs, data_of
from extender.kube.connection.api import NotFound
from extender.kube.connection.client import ApiClient
from tests.extender.certificates.test_keeper import SECRETS, Clock
from tests.extender.fake_api import FakeApi

CLIENT = "paddock-client-tls"
DUE = AUTHORITY_LIFETIME * AUTHORITY_RENEWED_AT


class Instance:
    """Instance with a keeper. ``happened``: what it handed on, in order."""

    def __init__(self, client: ApiClient, clock: Clock) -> None:
        self.served: list[Authority] = []
        self.shown: list[ServingPairs] = []
        self.happened: list[str] = []
        self.keeper = AuthorityKeeper(
            client,
            namespace="paddock-system",
            client_secret=CLIENT,
            names=service_names("paddock-system"),
            serve=self._serve,
            show=self._show,
            wall=clock,
            is_missing=lambda error: isinstance(error, NotFound),
        )

    def _serve(self, authority: Authority) -> None:
        self.served.append(authority)
        self.happened.append("serve")

    def _show(self, client: ServingPairs) -> None:
        self.shown.append(client)
        self.happened.append("show")


def secret(api: FakeApi, name: str) -> dict[str, str]:
    found = api.find(SECRETS, name)
    assert found is not None
    return {key: base64.b64decode(value).decode() for key, value in found["data"].items()}


async def test_the_first_instance_makes_both_and_the_second_uses_the_same(
    api: FakeApi, client: ApiClient
) -> None:
    clock = Clock()
    first, second = (Instance(client, clock) for _ in range(2))
    for each in (first, second, first):
        await each.keeper.check()
        assert each.keeper.problem == ""
    assert first.served == second.served
    assert first.shown == second.shown
    assert first.happened == second.happened == ["serve", "show"]
    of_authority, handed = secret(api, AUTHORITY_SECRET), secret(api, CLIENT)
    assert set(of_authority) == {"ca.crt", "tls.crt", "tls.key", "server.crt", "server.key"}
    assert set(handed) == {"ca.crt", "tls.crt", "tls.key"}
    assert handed["ca.crt"] == of_authority["ca.crt"]
    assert is_signed_by(
        KeyPair(handed["tls.crt"], handed["tls.key"]),
        KeyPair(of_authority["tls.crt"], of_authority["tls.key"]),
    )
    assert of_authority["tls.key"] not in handed.values()
    assert of_authority["server.key"] not in handed.values()


async def test_two_that_start_at_once_agree(api: FakeApi, client: ApiClient) -> None:
    clock = Clock()
    first, second = (Instance(client, clock) for _ in range(2))
    # Both find that there is none.
    api.fail_next(404, method="GET", path=f"{SECRETS}/{AUTHORITY_SECRET}", times=2)
    await first.keeper.check()
    await second.keeper.check()
    assert "409" in second.keeper.problem
    assert second.served == []
    await second.keeper.check()
    assert second.keeper.problem == ""
    assert second.served == first.served
    assert second.shown == first.shown


async def test_an_authority_that_was_written_meanwhile_is_read_again(api: FakeApi, client: ApiClient) -> None:
    clock = Clock()
    first, second = (Instance(client, clock) for _ in range(2))
    await first.keeper.check()
    await second.keeper.check()
    clock.now += DUE
    api.lose_next_reply(method="PUT", path=f"{SECRETS}/{AUTHORITY_SECRET}")
    await first.keeper.check()
    assert first.keeper.problem != ""
    await second.keeper.check()
    await first.keeper.check()
    assert first.served[-1] == second.served[-1]
    assert first.served[-1].pairs.next is not None
    assert first.keeper.problem == ""


async def test_the_port_trusts_an_authority_before_a_client_has_its_certificate(
    api: FakeApi, client: ApiClient
) -> None:
    clock = Clock()
    first, second = (Instance(client, clock) for _ in range(2))
    for each in (first, second):
        await each.keeper.check()
    clock.now += DUE
    for each in (first, second):
        await each.keeper.check()
    staged = first.served[-1]
    assert staged.pairs.next is not None
    assert secret(api, CLIENT)["ca.crt"] == staged.pairs.trusted
    clock.now += AUTHORITY_PUBLISHED_FOR
    await first.keeper.check()
    handed = secret(api, CLIENT)
    assert is_signed_by(KeyPair(handed["tls.crt"], handed["tls.key"]), staged.pairs.next)
    # The other instance has not read it yet, and trusts what has signed it.
    assert staged.pairs.next.certificate in second.served[-1].pairs.trusted
    assert second.served[-1].pairs.served.certificate in handed["ca.crt"]
    await second.keeper.check()
    assert second.served[-1] == first.served[-1]


async def test_a_clients_certificate_is_renewed_and_shown_once(api: FakeApi, client: ApiClient) -> None:
    clock = Clock()
    instance = Instance(client, clock)
    await instance.keeper.check()
    clock.now += CLIENT_LIFETIME * CLIENT_RENEWED_AT
    for _ in range(2):
        await instance.keeper.check()
    assert len(instance.shown) == 2
    assert secret(api, CLIENT)["tls.crt"] == instance.shown[-1].served.certificate


async def test_a_clients_secret_that_is_deleted_comes_back_under_the_same_authority(
    api: FakeApi, client: ApiClient
) -> None:
    instance = Instance(client, Clock())
    await instance.keeper.check()
    api.delete(SECRETS, CLIENT)
    await instance.keeper.check()
    assert len(instance.served) == 1
    assert is_signed_by(instance.shown[-1].served, instance.served[-1].pairs.served)


async def test_a_secret_of_another_source_is_replaced_and_keeps_its_type(
    api: FakeApi, client: ApiClient
) -> None:
    """Kubernetes refuses to change the type of a Secret."""
    foreign = self_signed(("paddock-client",), now=Clock().now)
    data = data_of(ServingPairs(foreign, foreign.certificate))
    api.apply(SECRETS, {"metadata": {"name": CLIENT}, "type": "kubernetes.io/tls", "data": data})
    instance = Instance(client, Clock())
    await instance.keeper.check()
    assert instance.keeper.problem == ""
    found = api.find(SECRETS, CLIENT)
    assert found is not None
    assert found["type"] == "kubernetes.io/tls"
    assert secret(api, CLIENT)["tls.crt"] == instance.shown[-1].served.certificate != foreign.certificate


@pytest.mark.parametrize("name", [AUTHORITY_SECRET, CLIENT])
async def test_without_a_right_it_says_why_and_serves_what_it_may(
    api: FakeApi, client: ApiClient, name: str
) -> None:
    instance = Instance(client, Clock())
    api.fail_next(403, path=f"{SECRETS}/{name}", times=1)
    await instance.keeper.check()
    assert "403" in instance.keeper.problem
    assert instance.shown == []
    assert bool(instance.keeper.served) == (name == CLIENT)
    await instance.keeper.check()
    assert instance.keeper.problem == ""
    assert instance.happened == ["serve", "show"]


async def test_a_secret_that_is_no_secret_is_a_problem_without_its_contents(
    api: FakeApi, client: ApiClient
) -> None:
    api.apply(SECRETS, {"metadata": {"name": AUTHORITY_SECRET}, "data": ["a-secret-text"]})
    instance = Instance(client, Clock())
    await instance.keeper.check()
    assert instance.keeper.problem == f"the Secret {AUTHORITY_SECRET} is not readable"
