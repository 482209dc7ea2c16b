"""Any body is answered by the fault table. No body is a bug, and none changes the ledger by a fault."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.extender.rigs import BODIES, VERBS, Rig, answers_of, answers_still, changed, filter_body, serving

SECRET = "hunter2"


def requests_of(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["Pod"]["spec"]["containers"][0]["resources"]["requests"]
    return found


def nested(depth: int, around: bytes = b"") -> bytes:
    return b"[" * depth + around + b"]" * depth


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
    async with serving(answers_of(rig)) as door:
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
    async with serving(answers_of(rig)) as door:
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
    async with serving(answers_of(Rig())) as door:
        status, answer = await door.post("preempt", body)
        assert (status, list(answer)) == (400, ["error"])
        assert door.faults == [("preempt", "bad body")]
        await answers_still(door)


async def test_an_unknown_queue_is_a_refusal() -> None:
    rig = Rig()
    async with serving(answers_of(rig)) as door:
        for queue in ("root.nowhere", "root..a", "root.\u0000", "root." + "x" * 10_000):
            _, answer = await door.post("filter", filter_body(f"p{len(queue)}", queue=queue, app=queue[:20]))
            text = answer["FailedAndUnresolvableNodes"]["n1"]
            assert text.startswith("PlacementFailed: ")
            assert len(text) < 300
        await answers_still(door)
    assert door.faults == []


async def test_a_uid_in_use_is_refused_and_changes_nothing() -> None:
    rig = Rig()
    async with serving(answers_of(rig)) as door:
        await door.post("filter", filter_body("p"))
        status, answer = await door.post("filter", filter_body("q", uid="uid-p"))
        assert (status, answer) == (200, {"Error": "uid belongs to pod default/p"})
        await answers_still(door)
    assert [record.facts.name for record in rig.engine.view.pods()] == ["p", "well"]


# -- anything ------------------------------------------------------------------------------------------


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
        opened = serving(answers_of(rig))
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
