"""Bodies that the REST interface takes: the verdict of validate-conf on a document."""

import hashlib

import pytest
from aiohttp.test_utils import TestClient, TestServer

from extender.checking.verdict import validation_of
from extender.configuration.rest_settings import rest_settings_from
from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from extender.http.rest.answering import Answering
from extender.http.rest.bodies import Bodies
from extender.http.rest.streams import Streams
from extender.rest.memory.ring import EventRing
from extender.rest.routes.served import VALIDATE, served_routes
from extender.rest.routes.table import Router


def validating() -> tuple[Endpoint, ...]:
    """The endpoint of validate-conf beside a document without a checksum."""
    routes = served_routes(lambda text: validation_of(text, active="none"), str, "test")
    streams = Streams(EventRing("test"), lambda: rest_settings_from({}))
    answering = Answering(Router(routes), Bodies(int), streams, lambda *_: None)
    return (Endpoint("POST", VALIDATE, answering.handle),)


@pytest.mark.rule("REST-10")
@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", None),
        (b"partitions: [{queues: [{name: root}]}]", None),
        (b"partitions: [{queues: [], placementrules: [{name: nowhere}]}]", None),
        (b"invalid", "must be a mapping"),
        (b"partitions: [{queues: [], nodesortpolicy: {type: invalid}}]", "undefined policy: invalid"),
        (b"partitions: [{queues: [{name: a, limits: [{users: [u], maxresources: {vcore: 0}}]}]}]", "zero"),
        (b"\xff", "UTF-8"),
    ],
)
@pytest.mark.rule("SRC-11")
async def test_a_document_is_validated_without_being_applied(document: bytes, reason: str | None) -> None:
    async with (
        TestClient(TestServer(guarded_app(validating(), Door()))) as client,
        client.post(VALIDATE, data=document) as response,
    ):
        assert response.status == 200
        answer = await response.json()
    if reason is None:
        checksum = hashlib.sha256(document).hexdigest().upper()
        assert answer == {"allowed": True, "checksum": checksum, "checksumMatch": False}
    else:
        assert not answer["allowed"]
        assert reason in answer["reason"]
