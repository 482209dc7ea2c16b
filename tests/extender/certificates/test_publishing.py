"""Trusted certificates in the configuration of the webhook: written once, and no other field with them."""

import base64
from typing import Any

import pytest

from core.errors import PaddockError
from extender.certificates.publishing import WEBHOOK, WebhookBundle
from extender.kube.connection.api import NotFound
from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi

PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
FIELDS = {"failurePolicy": "Ignore", "timeoutSeconds": 2}


def configured(api: FakeApi, *names: str, **client_config: Any) -> None:
    service = {"service": {"name": "paddock", "namespace": "paddock-system"}, **client_config}
    webhooks = [{"name": name, **FIELDS, "clientConfig": service} for name in names]
    api.apply(PATH, {"metadata": {"name": WEBHOOK}, "webhooks": webhooks})


def bundles(api: FakeApi) -> list[str]:
    found = api.find(PATH, WEBHOOK)
    assert found is not None
    assert all(
        {**each, "clientConfig": 0} == {"name": each["name"], **FIELDS, "clientConfig": 0}
        for each in found["webhooks"]
    )
    return [base64.b64decode(each["clientConfig"].get("caBundle", "")).decode() for each in found["webhooks"]]


async def publish(client: ApiClient, trusted: str) -> None:
    await WebhookBundle().publish(client, trusted, lambda error: isinstance(error, NotFound))


def patches(api: FakeApi) -> int:
    return sum(each.method == "PATCH" for each in api.requests)


async def test_each_webhook_gets_the_bundle_once(api: FakeApi, client: ApiClient) -> None:
    configured(api, "pods.paddock.dev", "templates.paddock.dev")
    for _ in range(3):
        await publish(client, "PEM")
    assert bundles(api) == ["PEM", "PEM"]
    assert patches(api) == 1


async def test_a_bundle_that_somebody_else_replaced_is_written_again(api: FakeApi, client: ApiClient) -> None:
    configured(api, "pods.paddock.dev", caBundle="QQ==")
    await publish(client, "PEM")
    assert bundles(api) == ["PEM"]


async def test_without_the_configuration_nothing_is_amiss(api: FakeApi, client: ApiClient) -> None:
    await publish(client, "PEM")
    assert patches(api) == 0


async def test_webhooks_that_change_meanwhile_get_no_bundle_of_another_one(
    api: FakeApi, client: ApiClient
) -> None:
    """The patch names the webhooks that were read, so it creates none and hits no other one."""
    configured(api, "pods.paddock.dev")
    read = await client.get(f"{PATH}/{WEBHOOK}")
    configured(api, "templates.paddock.dev")

    class Stale:
        async def get(self, _path: str) -> bytes:
            return read

        patch = client.patch

    with pytest.raises(PaddockError, match="422"):
        await WebhookBundle().publish(Stale(), "PEM", lambda _: False)
    assert bundles(api) == [""]


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_a_missing_right_is_an_error_that_names_the_status(
    api: FakeApi, client: ApiClient, method: str
) -> None:
    configured(api, "pods.paddock.dev")
    api.fail_next(403, method=method, path=PATH)
    with pytest.raises(PaddockError, match="403"):
        await publish(client, "PEM")


async def test_an_unreadable_configuration_is_an_error(api: FakeApi, client: ApiClient) -> None:
    api.apply(PATH, {"metadata": {"name": WEBHOOK}, "webhooks": "none"})
    with pytest.raises(PaddockError, match="not readable"):
        await publish(client, "PEM")
