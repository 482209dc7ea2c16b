"""Whatever comes in is answered as the fault table says, is never a bug, and leaves the ledger as it was."""

import asyncio
import io
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extender.http.server import MOST_BYTES
from tests.builders import make_queue
from tests.extender.rigs import (
    VERBS,
    Door,
    Rig,
    answers_of,
    bind_body,
    filter_body,
    preempt_body,
    serving,
)

SECRET = "hunter2"
MIB = 2**20

BODIES = {
    "filter": filter_body("p"),
    "prioritize": filter_body("p"),
    "preempt": preempt_body("p", {"n1": ["v1"], "n2": None}),
    "bind": bind_body("p"),
}


def changed(change: Callable[[dict[str, Any]], object], body: bytes = BODIES["filter"]) -> bytes:
    """A body with one thing in it replaced."""
    decoded = json.loads(body)
    change(decoded)
    return json.dumps(decoded).encode()


def requests_of(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["Pod"]["spec"]["containers"][0]["resources"]["requests"]
    return found


def nested(depth: int, around: bytes = b"") -> bytes:
    return b"[" * depth + around + b"]" * depth


async def answers_still(door: Door) -> None:
    # An application of its own: a body may have said anything of the others.
    status, answer = await door.post("filter", filter_body("well", app="well"))
    assert (status, answer) == (200, {"NodeNames": ["n1", "n2"]})


WRONG = {
    "empty": (b"", "body: Invalid JSON"),
    "truncated": (BODIES["filter"][:200], "body: Invalid JSON"),
    "trailing": (BODIES["filter"] + b"x", "trailing characters"),
    "not an object": (b"[]", "body: Input should be an object"),
    "null": (b"null", "body: Input should be an object"),
    "no pod": (b'{"NodeNames":[]}', "body has no Pod"),
    "pod is null": (b'{"Pod":null,"NodeNames":[]}', "body has no Pod"),
    "no uid": (changed(lambda body: body["Pod"]["metadata"].pop("uid")), "Pod.metadata.uid: Field required"),
    "empty uid": (changed(lambda body: body["Pod"]["metadata"].update(uid="")), "uid is empty"),
    "uid is a number": (
        changed(lambda body: body["Pod"]["metadata"].update(uid=5)),
        "Pod.metadata.uid: Input",
    ),
    "node names are no list": (changed(lambda body: body.update(NodeNames=SECRET)), "NodeNames: Input"),
    "nodes are no list": (changed(lambda body: body.update(Nodes=[], NodeNames=None)), "Nodes: Input"),
    "neither list": (changed(lambda body: body.update(NodeNames=None)), "neither NodeNames nor Nodes"),
    "containers are text": (
        changed(lambda body: body["Pod"]["spec"].update(containers=SECRET)),
        "spec.containers: Input should be a valid array",
    ),
    "label is a number": (
        changed(lambda body: body["Pod"]["metadata"]["labels"].update(a=5)),
        "metadata.labels.a: Input should be a valid string",
    ),
    "priority is a fraction": (
        changed(lambda body: body["Pod"]["spec"].update(priority=1.5)),
        "spec.priority: Input should be a valid integer",
    ),
    "spec is null": (changed(lambda body: body["Pod"].update(spec=None)), "spec: Input should be an object"),
    "negative": (changed(lambda body: requests_of(body).update(cpu="-1")), "container 'c', cpu: "),
    "negative number": (changed(lambda body: requests_of(body).update(memory=-5)), "container 'c', memory: "),
    "no quantity": (changed(lambda body: requests_of(body).update(cpu="two")), "container 'c', cpu: "),
    "endless quantity": (changed(lambda body: requests_of(body).update(cpu="9" * 6000)), "is longer than"),
    "no time": (
        changed(lambda body: body["Pod"]["metadata"].update(creationTimestamp=SECRET * 1000)),
        "creationTimestamp is not an RFC 3339 time",
    ),
    "not UTF-8": (BODIES["filter"].replace(b"uid-p", b"uid-\xff"), "invalid unicode"),
    "half a surrogate": (BODIES["filter"].replace(b"uid-p", b"\\ud800"), "body: Invalid JSON"),
    "byte order mark": (b"\xef\xbb\xbf" + BODIES["filter"], "body: Invalid JSON"),
    "deep body": (nested(100_000), "recursion limit"),
    "deep pod": (b'{"Pod":' + nested(100_000) + b',"NodeNames":[]}', "recursion"),
    "deep unknown field": (
        BODIES["filter"].replace(b'"status"', b'"x":' + nested(100_000) + b',"status"'),
        "recursion",
    ),
    "deep and open": (b'{"Pod":' + b"[" * 100_000, "recursion"),
}


@pytest.mark.parametrize(("body", "text"), WRONG.values(), ids=WRONG.keys())
async def test_what_is_wrong_is_named_by_its_path(body: bytes, text: str) -> None:
    rig = Rig()
    async with serving(answers_of(rig.verbs)) as door:
        status, answer = await door.post("filter", body)
        assert (status, list(answer)) == (200, ["Error"])
        assert text in answer["Error"]
        assert SECRET not in answer["Error"]
        assert len(answer["Error"]) < 1000
        assert door.faults == [("filter", "bad body")]
        await answers_still(door)
    assert rig.witness.decisions[:-1] == []
    assert rig.audit() == ()


BIND_WRONG = {
    "truncated": (BODIES["bind"][:30], "Invalid JSON"),
    "no uid": (changed(lambda body: body.pop("PodUID"), BODIES["bind"]), "PodUID: Field required"),
    "node is a number": (changed(lambda body: body.update(Node=5), BODIES["bind"]), "Node: Input should be"),
    "empty node": (changed(lambda body: body.update(Node=""), BODIES["bind"]), "must not be empty"),
    "deep": (nested(100_000), "recursion"),
    "deep node": (BODIES["bind"].replace(b'"n1"', nested(100_000)), "recursion"),
    "not UTF-8": (BODIES["bind"].replace(b"n1", b"\xff"), "Invalid JSON"),
}


@pytest.mark.parametrize(("body", "text"), BIND_WRONG.values(), ids=BIND_WRONG.keys())
async def test_what_is_wrong_with_a_bind_body(body: bytes, text: str) -> None:
    rig = Rig()
    async with serving(answers_of(rig.verbs)) as door:
        status, answer = await door.post("bind", body)
        assert (status, list(answer)) == (200, ["Error"])
        assert text in answer["Error"]
        assert door.faults == [("bind", "bad body")]
        await answers_still(door)
    assert rig.api.posted == []


PREEMPT_WRONG = {
    "deep victims": BODIES["preempt"].replace(b'[{"UID": "v1"}]', nested(100_000)),
    "victims are a list": changed(lambda body: body.update(NodeNameToMetaVictims=[]), BODIES["preempt"]),
    "victim without uid": BODIES["preempt"].replace(b'"UID"', b'"Uid"'),
    "violations are text": BODIES["preempt"].replace(b"1}", b'"one"}'),
}


@pytest.mark.parametrize("body", PREEMPT_WRONG.values(), ids=PREEMPT_WRONG.keys())
async def test_what_is_wrong_with_a_preempt_body(body: bytes) -> None:
    assert body != BODIES["preempt"]
    async with serving(answers_of(Rig().verbs)) as door:
        status, answer = await door.post("preempt", body)
        assert (status, list(answer)) == (400, ["error"])
        assert door.faults == [("preempt", "bad body")]
        await answers_still(door)


async def test_an_unknown_queue_is_a_refusal() -> None:
    rig = Rig()
    async with serving(answers_of(rig.verbs)) as door:
        for queue in ("root.nowhere", "root..a", "root.\u0000", "root." + "x" * 10_000):
            _, answer = await door.post("filter", filter_body(f"p{len(queue)}", queue=queue, app=queue[:20]))
            text = answer["FailedAndUnresolvableNodes"]["n1"]
            assert text.startswith("PlacementFailed: ")
            assert len(text) < 300
        await answers_still(door)
    assert door.faults == []


async def test_a_uid_in_use_is_refused_and_changes_nothing() -> None:
    rig = Rig()
    async with serving(answers_of(rig.verbs)) as door:
        await door.post("filter", filter_body("p"))
        status, answer = await door.post("filter", filter_body("q", uid="uid-p"))
        assert (status, answer) == (200, {"Error": "uid belongs to pod default/p"})
        await answers_still(door)
    assert [record.facts.name for record in rig.engine.snapshot.pods()] == ["p", "well"]


# -- sizes ----------------------------------------------------------------------------------------------


def node_list(nodes: int, bytes_each: int) -> bytes:
    """A filter body with whole Nodes."""
    filling = b"x" * bytes_each
    items = b",".join(
        b'{"metadata":{"name":"n%d","annotations":{"filling":"%s"}}}' % (n, filling) for n in range(nodes)
    )
    head = changed(lambda body: body.update(NodeNames=None, Nodes=5))
    return head.replace(b'"Nodes": 5', b'"Nodes":{"metadata":{},"items":[' + items + b"]}")


async def test_a_filter_body_of_60_mb_is_answered() -> None:
    body = node_list(5_000, 12_000)
    assert len(body) > 60_000_000
    rig = Rig(make_queue("root.a", max={"vcore": 1000}), nodes=1)
    async with serving(answers_of(rig.verbs)) as door:
        _, answer = await door.post("filter", io.BytesIO(body))
        assert len(answer["Nodes"]["items"]) == 5_000
        other = body.replace(b"uid-p", b"uid-q").replace(b'"name": "p"', b'"name": "q"')
        _, refused = await door.post("filter", io.BytesIO(other))
        assert len(refused["FailedAndUnresolvableNodes"]) == 5_000
        assert refused["Nodes"]["items"] == []
    assert door.faults == []


async def connection_to(door: Door) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", door.port)


def head(verb: str, *headers: str) -> bytes:
    lines = [f"POST /v1/{verb} HTTP/1.1", "Host: localhost", *headers, "", ""]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize(("verb", "status"), [("filter", b"200"), ("prioritize", b"400"), ("bind", b"200")])
async def test_300_mb_are_refused_before_the_first_byte(verb: str, status: bytes) -> None:
    rig = Rig()
    async with serving(answers_of(rig.verbs)) as door:
        reader, writer = await connection_to(door)
        writer.write(head(verb, f"Content-Length: {300 * MIB}"))
        answer = await asyncio.wait_for(reader.readuntil(b"}"), 5)
        assert answer.split()[1] == status
        assert b"Connection: close" in answer
        assert f"above the limit of {MOST_BYTES}".encode() in answer
        writer.close()
        assert door.faults == [(verb, "too large")]
        await answers_still(door)


async def test_an_endless_stream_is_cut_at_the_limit() -> None:
    rig = Rig()
    async with serving(answers_of(rig.verbs), most_bytes=MIB) as door:
        reader, writer = await connection_to(door)
        writer.write(head("filter", "Transfer-Encoding: chunked"))
        answer = asyncio.create_task(reader.readuntil(b"}"))
        sent, chunk = 0, b"10000\r\n" + b"[" * 0x10000 + b"\r\n"
        while not answer.done():
            assert sent < 300 * MIB
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(0)
            sent += 0x10000
        assert b"above the limit of 1048576 bytes" in await answer
        # The limit, and what both sockets hold.
        assert sent < 20 * MIB
        writer.close()
        assert door.faults == [("filter", "too large")]
        await answers_still(door)


async def test_a_small_body_that_unpacks_to_a_large_one_is_refused() -> None:
    async with serving(answers_of(Rig().verbs), most_bytes=MIB) as door:
        packed = zlib.compress(b"[" * (64 * MIB))
        status, answer = await door.post("filter", packed, **{"Content-Encoding": "deflate"})
        assert (status, list(answer)) == (200, ["Error"])
        assert [fault for _, fault in door.faults] == ["too large"]
        await answers_still(door)


async def test_a_body_in_pieces_is_put_together() -> None:
    async with serving(answers_of(Rig().verbs)) as door:

        async def pieces() -> Any:
            for at in range(0, len(BODIES["filter"]), 50):
                yield BODIES["filter"][at : at + 50]

        assert await door.post("filter", pieces()) == (200, {"NodeNames": ["n1", "n2"]})


# -- connections that break -----------------------------------------------------------------------------


async def until_called(door: Door, calls: int) -> None:
    async with asyncio.timeout(5):
        while door.calls < calls:  # noqa: ASYNC110 a handler has no event for its end
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("verb", VERBS)
async def test_a_caller_that_hangs_up_within_its_body_is_no_bug(verb: str) -> None:
    rig = Rig()
    async with serving(answers_of(rig.verbs)) as door:
        _, writer = await connection_to(door)
        writer.write(head(verb, "Content-Length: 1000") + b'{"Pod":')
        await writer.drain()
        writer.close()
        await until_called(door, 1)
        assert door.faults == [(verb, "incomplete body")]
        await answers_still(door)
    assert door.bugs == []


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        (["Transfer-Encoding: chunked"], b"5\r\n{}\r\nnot a chunk\r\n"),
        (["Content-Encoding: deflate", "Content-Length: 5"], b"hello"),
        (["Content-Encoding: gzip", "Content-Length: 5"], b"hello"),
    ],
    ids=["wrong chunks", "not deflate", "not gzip"],
)
async def test_a_body_that_its_headers_belie_is_no_bug(headers: list[str], sent: bytes) -> None:
    async with serving(answers_of(Rig().verbs)) as door:
        reader, writer = await connection_to(door)
        writer.write(head("filter", *headers) + sent)
        answer = await asyncio.wait_for(reader.readline(), 5)
        assert answer.split()[1] in (b"200", b"400")
        writer.close()
        await answers_still(door)
    assert door.bugs == []
    assert {fault for _, fault in door.faults} <= {"incomplete body"}


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"POST /v1/filter HTTP/1.1\r\nX: " + b"y" * 70_000],
)
async def test_what_is_no_http_is_answered_by_the_protocol(garbage: bytes) -> None:
    async with serving(answers_of(Rig().verbs)) as door:
        reader, writer = await connection_to(door)
        writer.write(garbage + b"\r\n\r\n")
        assert (await asyncio.wait_for(reader.readline(), 5)).split()[1] == b"400"
        writer.close()
        await answers_still(door)
    assert door.faults == []


# -- anything -------------------------------------------------------------------------------------------

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value within a JSON document."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for step, inner in steps for path in places(inner, (*at, step)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = value.copy()
    copied[path[0]] = replaced(copied[path[0]], path[1:], new)
    return copied


@st.composite
def mutated(draw: st.DrawFn, body: bytes) -> bytes:
    """A right body with up to two values replaced, and sometimes a byte changed or the end cut off."""
    document = json.loads(body)
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(places(document)))
        document = replaced(document, path, draw(JSON_VALUES))
    text = bytearray(json.dumps(document).encode())
    if draw(st.integers(0, 3)) == 0:
        text[draw(st.integers(0, len(text) - 1))] = draw(st.integers(0, 255))
    if draw(st.integers(0, 3)) == 0:
        del text[draw(st.integers(0, len(text))) :]
    return bytes(text)


STATUSES = {"filter": {200}, "bind": {200}, "prioritize": {200, 400}, "preempt": {200, 400, 503}}


@pytest.mark.parametrize("verb", VERBS)
def test_any_body_is_answered_and_none_is_a_bug(verb: str) -> None:
    rig = Rig()
    with asyncio.Runner() as runner:
        opened = serving(answers_of(rig.verbs))
        door = runner.run(opened.__aenter__())

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.binary(max_size=200) | mutated(BODIES[verb]))
        def answered(body: bytes) -> None:
            status, answer = runner.run(door.post(verb, body))
            assert status in STATUSES[verb]
            assert isinstance(answer, list if verb == "prioritize" and status == 200 else dict)
            assert door.bugs == []

        answered()
        assert rig.audit() == ()
        # Asks that no watch has shown are forgotten: while they wait they rank before the one that comes now.
        rig.time += 31
        rig.engine.pass_time()
        rig.run_planned()
        runner.run(answers_still(door))
        runner.run(opened.__aexit__(None, None, None))
