"""The webhook's endpoint: its answers, and bodies that are too large, of another type, or a trap."""

import io
import json
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from core.workload.pod import NamespaceFacts
from extender.http.door import Door
from extender.http.endpoints import guarded_app
from extender.http.webhook import MOST_BYTES, webhook_endpoints
from tests.extender.mutation.reviews import patch_in, pod, review_of

JSON = "application/json"
DEEP = b"[" * 100_000
OWN = "paddock-system"


async def _find(name: str) -> NamespaceFacts | None:
    return None if name == "unknown" else NamespaceFacts(name)


def served() -> TestClient[Any, Any]:
    endpoints = webhook_endpoints(_find, lambda: {}, own=OWN)
    return TestClient(TestServer(guarded_app(endpoints, Door())))


async def asked(
    client: TestClient[Any, Any],
    body: bytes,
    *,
    rules: str = "adopt.mark",
    kind: str = JSON,
    method: str = "POST",
    **headers: str,
) -> tuple[int, bytes]:
    headers["Content-Type"] = kind
    async with client.request(method, f"/mutate/{rules}", data=body, headers=headers) as response:
        return response.status, await response.read()


def review(**about: Any) -> bytes:
    return json.dumps(review_of(pod(), **about)).encode()


async def test_a_pod_is_changed_by_the_rules_of_the_path() -> None:
    async with served() as client:
        status, body = await asked(client, review())
        assert status == 200
        paths = [each["path"] for each in patch_in(body)]
        assert paths[0] == "/spec/schedulerName"
        assert any("paddock.dev~1filter" in each for each in paths)
        _, body = await asked(client, review(), rules="gate")
        assert patch_in(body) == []


async def test_pods_of_paddocks_own_namespace_stay() -> None:
    async with served() as client:
        status, body = await asked(client, review(namespace=OWN))
    assert (status, patch_in(body)) == (200, [])


WRONG: dict[str, tuple[dict[str, Any], int, str]] = {
    "an unknown rule": ({"body": review(), "rules": "adopt.drain"}, 404, "the rules are adopt"),
    "a namespace that is not known": ({"body": review(namespace="unknown")}, 503, "not known yet"),
    "no JSON": ({"body": b"{"}, 400, "no AdmissionReview"),
    "another kind": ({"body": b'{"apiVersion":"v1","kind":"Pod","request":{"uid":"u"}}'}, 400, "only"),
    "no pod": ({"body": json.dumps(review_of({"spec": 1})).encode()}, 400, "no pod"),
    "nothing": ({"body": b""}, 400, "no AdmissionReview"),
    "a deep object": ({"body": b'{"request":{"object":' + DEEP}, 400, "no AdmissionReview"),
    "a deep field": ({"body": b'{"x":' + DEEP}, 400, "no AdmissionReview"),
    "another type": ({"body": review(), "kind": "text/plain"}, 415, "application/json"),
    "a form": ({"body": review(), "kind": "application/x-www-form-urlencoded"}, 415, "application/json"),
    "a packed body": ({"body": review(), "Content-Encoding": "gzip"}, 415, "Content-Encoding"),
    "another method": ({"body": b"", "method": "GET"}, 405, ""),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_is_said_and_the_next_review_is_answered(name: str) -> None:
    about, status, text = WRONG[name]
    async with served() as client:
        body = about["body"]
        seen, answer = await asked(
            client, body, **{key: each for key, each in about.items() if key != "body"}
        )
        assert (seen, text in answer.decode()) == (status, True)
        assert len(answer) < 300
        assert (await asked(client, review()))[0] == 200


@pytest.mark.parametrize("says_its_length", [True, False])
async def test_a_body_above_the_limit_is_refused_before_it_is_read(says_its_length: bool) -> None:
    async def pieces() -> Any:
        for _ in range(MOST_BYTES // 2**16 + 2):
            yield b" " * 2**16

    async with served() as client:
        data = io.BytesIO(b" " * (MOST_BYTES + 1)) if says_its_length else pieces()
        status = 0
        try:
            async with client.post("/mutate/mark", data=data, headers={"Content-Type": JSON}) as response:
                status, text = response.status, await response.text()
            assert str(MOST_BYTES) in text
        except aiohttp.ClientError:
            # The connection may be closed while the rest of the body is sent.
            status = 413
        assert status == 413
        assert (await asked(client, review()))[0] == 200


async def test_a_wide_object_is_answered() -> None:
    """Fields that no rule reads are skipped, so a large object costs little."""
    wide = pod(volumes=[{} for _ in range(200_000)])
    async with served() as client:
        status, body = await asked(client, json.dumps(review_of(wide)).encode())
    assert status == 200
    assert len(patch_in(body)) > 0
