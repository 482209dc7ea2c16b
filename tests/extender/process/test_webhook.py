"""The webhook of a whole server: its certificate, what its rules read, and answers of a standby."""

import asyncio
import base64
import json
import ssl
from typing import Any

import aiohttp
import pytest

from extender.certificates.keeper import SECRET
from extender.certificates.publishing import WEBHOOK
from extender.front_door import DoorPlaces
from tests.extender.app_bench import NAMESPACES, Server, document, kubeconfig, server, undone, unused_port
from tests.extender.mutation.reviews import patch_in, pod, review_of
from tests.extender.reflector_bench import until

__all__ = ["kubeconfig", "server", "undone"]

SECRETS = "/api/v1/namespaces/paddock-system/secrets"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


class Stage:
    """A server with the webhook's port, and an API server that trusts the bundle of its configuration."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.port = unused_port()
        webhook = {"name": "pods.paddock.dev", "clientConfig": {"service": {"name": "paddock"}}}
        server.api.apply(WEBHOOKS, {"metadata": {"name": WEBHOOK}, "webhooks": [webhook]})

    async def start(self, **overrides: Any) -> None:
        self.server.configure(document())
        await self.server.started(
            overrides={"webhook_port": self.port, **overrides},
            door=DoorPlaces("127.0.0.1", namespace="paddock-system"),
        )
        await until(lambda: bool(self.bundle))
        app = self.server.app
        assert app is not None
        await until(lambda: "webhook" in app.front_door.addresses)

    @property
    def bundle(self) -> str:
        found = self.server.api.find(WEBHOOKS, WEBHOOK)
        assert found is not None
        return base64.b64decode(found["webhooks"][0]["clientConfig"].get("caBundle", "")).decode()

    async def ask(self, rules: str, **review: Any) -> tuple[int, list[dict[str, Any]]]:
        """Status and patch. The certificate and its name are checked."""
        context = ssl.create_default_context(cadata=self.bundle)
        body = json.dumps(review_of(pod(), **review)).encode()
        async with (
            aiohttp.ClientSession(headers={"Content-Type": "application/json"}) as session,
            session.post(
                f"https://127.0.0.1:{self.port}/mutate/{rules}",
                data=body,
                ssl=context,
                server_hostname="paddock.paddock-system.svc",
            ) as response,
        ):
            answer = await response.read()
            return response.status, patch_in(answer) if response.status == 200 else []

    async def until_left_alone(self, namespace: str) -> None:
        """Wait until pods of a namespace are adopted no more."""
        for _ in range(500):
            if not (await self.ask("adopt", namespace=namespace))[1]:
                return
            await asyncio.sleep(0.01)
        pytest.fail("pods are still adopted")


@pytest.fixture
def stage(server: Server) -> Stage:
    return Stage(server)


async def test_the_configuration_gets_the_bundle_and_the_port_answers(stage: Stage) -> None:
    await stage.start()
    secret = stage.server.api.find(SECRETS, SECRET)
    assert secret is not None
    assert stage.bundle == base64.b64decode(secret["data"]["ca.crt"]).decode()
    status, patch = await stage.ask("adopt", namespace="default")
    assert (status, patch[0]["value"]) == (200, "yunikorn")
    assert not [each for each in stage.server.api.requests if "apiservices" in each.path]


async def test_an_instance_that_does_not_lead_answers_too(stage: Stage) -> None:
    """The Lease that it follows has no holder."""
    await stage.start(lease="kube-system/paddock-scheduler")
    assert (await stage.ask("adopt", namespace="default"))[0] == 200


async def test_keys_and_namespaces_are_those_of_now(stage: Stage) -> None:
    await stage.start()
    key = "admissionController__filtering__processNamespaces"
    stage.server.configure(document(), **{key: "team"})

    await stage.until_left_alone("default")
    asked = asyncio.create_task(stage.ask("adopt", namespace="team"))
    stage.server.api.apply(NAMESPACES, {"metadata": {"name": "team"}})
    status, patch = await asked
    assert (status, patch[0]["value"]) == (200, "yunikorn")
    stage.server.api.delete("/api/v1/namespaces/paddock-system/configmaps", "yunikorn-configs")
    await stage.until_left_alone("team")


async def test_an_unknown_namespace_is_an_error_which_lets_the_pod_pass(stage: Stage) -> None:
    await stage.start()
    assert await stage.ask("adopt", namespace="nowhere") == (503, [])


async def test_without_the_right_the_port_answers_and_the_probe_says_what_is_missing(stage: Stage) -> None:
    stage.server.api.fail_next(403, method="PATCH", path=WEBHOOKS, times=100)
    stage.server.configure(document())
    await stage.server.started(
        overrides={"webhook_port": stage.port}, door=DoorPlaces("127.0.0.1", namespace="paddock-system")
    )
    await stage.server.until_shown("/readyz?verbose", "serving certificate", "403")
    assert stage.bundle == ""
