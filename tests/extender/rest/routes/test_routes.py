"""Answers of each route, each fault, and which of two faults is told first."""

import json
from typing import Any

import msgspec
import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.users.identity import Identity
from core.workload.pod import NamespaceFacts
from extender.queueconfig.parsing import parse
from extender.rest.facts import Facts, InForce
from extender.rest.members import encoded
from extender.rest.model.answer import Fault
from extender.rest.moment.stored import StoredRows
from extender.rest.openapi import ANSWERS
from extender.rest.routes.reply import Ask, Big, Plain, Refused, Reply, redirect
from extender.rest.routes.routes import IN_STEPS, PATHS, ledger_routes
from extender.rest.routes.table import Router
from tests.builders import START, make_ledger, make_pod, make_queue

PARTITION = "/ws/v1/partition/:partition"
BASE = "/ws/v1/partition/default"
ELSEWHERE = "/ws/v1/partition/%5Bmycluster%5Ddefault"
STATES = "Only following application states are allowed: active"


@pytest.fixture
def ledger() -> Ledger:
    """An application that runs, one that waits, one that is rejected and one that has completed."""
    made = make_ledger(make_queue("root.a"), make_queue("root.b"))
    alice = Identity("alice", ())
    for pod in (
        make_pod("p", node="n1", identity=alice),
        make_pod("q", app="app-2"),
        make_pod("lost", app="app-3", queue="root.no"),
        make_pod("over", app="app-4", node="n1"),
    ):
        made.apply(on.PodObserved(pod), now=START)
    made.apply(on.PodDeleted(PodUid("uid-over")), now=START)
    made.apply(on.TimePassed(), now=START + 40)
    return made


@pytest.fixture
def router(ledger: Ledger) -> Router:
    config = InForce(document=parse("partitions: []").document, checksum="AB")
    rows = StoredRows(lambda: Facts(ledger.view))
    return Router(ledger_routes(lambda: Facts(ledger.view, config=config), lambda: rows))


def read(reply: Reply) -> Any:
    """Value of an answer that is made in steps."""
    assert isinstance(reply, Big)
    return json.loads(b"".join(reply.steps()))


def fault_of(reply: Reply) -> Fault:
    """Fault that is told at once, or when the answer is made."""
    if isinstance(reply, Big):
        with pytest.raises(Refused) as refused:
            list(reply.steps())
        return refused.value.fault
    assert isinstance(reply, Fault)
    return reply


def ids(reply: Reply) -> list[str]:
    return [each["applicationID"] for each in read(reply)]


@pytest.mark.rule("REST-4", "REST-22")
@pytest.mark.parametrize("path", sorted({*PATHS, *IN_STEPS}))
def test_every_route_answers(router: Router, path: str) -> None:
    names = {"partition": "default", "queue": "root.a", "state": "active", "application": "app-1"}
    names |= {"node": "n1", "user": "alice", "group": "dev"}
    for name, value in names.items():
        path = path.replace(f":{name}", value)
    reply = router.answer(Ask(path))
    if path.endswith("/group/dev"):
        with pytest.raises(Refused, match="Group not found"):
            read(reply)
    else:
        assert not isinstance(reply, Fault)
        body = b"".join(reply.steps()) if isinstance(reply, Big) else encoded(reply)
        assert isinstance(reply, Plain) or body.endswith(b"\n")


@pytest.mark.rule("REST-32", "REST-33")
@pytest.mark.parametrize(
    ("path", "query", "found"),
    [
        (f"{BASE}/queue/root.a/applications", {}, ["app-1", "app-2"]),
        (f"{BASE}/queue/root.a/applications", {"status": "nonsense"}, ["app-1", "app-2"]),
        (f"{BASE}/queue/root/applications", {}, []),
        (f"{BASE}/queue/ROOT.A/applications/ACTIVE", {"status": "Running"}, ["app-1"]),
        (f"{BASE}/applications/Active", {"status": ""}, ["app-1", "app-2"]),
        (f"{BASE}/applications/active", {"status": "accepted"}, ["app-2"]),
        (f"{BASE}/applications/rejected", {"status": "nonsense"}, ["app-3"]),
        (f"{BASE}/applications/completed", {}, ["app-4"]),
    ],
)
def test_lists_of_applications(router: Router, path: str, query: dict[str, str], found: list[str]) -> None:
    assert ids(router.answer(Ask(path, query=query))) == found


@pytest.mark.rule("REST-2", "REST-22", "REST-33")
@pytest.mark.parametrize(
    ("path", "query", "status", "begins"),
    [
        (f"{ELSEWHERE}/queues", {}, 404, "Partition not found"),
        (f"{ELSEWHERE}/queue/root.%2521", {}, 404, "Partition not found"),
        (f"{ELSEWHERE}/queue/root.%2521/applications", {}, 400, "invalid queue name"),
        (f"{ELSEWHERE}/queue/root.a/applications", {}, 404, "Partition not found"),
        (f"{ELSEWHERE}/queue/%25zz/application/app-1", {}, 400, "invalid URL escape"),
        (f"{ELSEWHERE}/queue/root.%2521/application/app-1", {}, 404, "Partition not found"),
        (f"{BASE}/queue/root.%2521/application/app-1", {}, 400, "invalid queue name"),
        (f"{BASE}/queue/root.no/application/no", {}, 404, "Queue not found"),
        (f"{BASE}/queue/root.b/application/app-1", {}, 404, "Application not found"),
        (f"{BASE}/queue/root..a", {}, 400, "invalid queue name"),
        (f"{BASE}/queue/root.{'x' * 65}", {}, 400, "invalid queue name"),
        (f"{BASE}/queue/root.{'x' * 64}", {}, 404, "Queue not found"),
        (f"{BASE}/queue/a", {}, 404, "Queue not found"),
        (f"{BASE}/queue/root.%2521/applications/nonsense", {}, 400, "invalid queue name"),
        (f"{BASE}/queue/root.a/applications/rejected", {"status": "x"}, 400, STATES),
        (f"{BASE}/queue/root.a/applications/active", {"status": "x"}, 400, "Only following active statuses"),
        (f"{BASE}/applications/running", {"status": "x"}, 400, f"{STATES}, rejected, completed"),
        (f"{BASE}/applications/active", {"status": "starting"}, 400, "Only following active statuses"),
        (f"{BASE}/application/app-3", {}, 404, "Application not found"),
        (f"{BASE}/application/app-4", {}, 404, "Application not found"),
        (f"{BASE}/node/n9", {}, 404, "Node not found"),
        (f"{ELSEWHERE}/usage/user/bob", {}, 404, "User not found"),
        (f"{BASE}/usage/user/1bob", {}, 400, "Invalid user name"),
        (f"{BASE}/usage/user/a%252Bb", {}, 400, "Invalid user name"),
        (f"{BASE}/usage/user/a+b", {}, 400, "Invalid user name"),
        (f"{BASE}/usage/user/%25", {}, 400, "invalid URL escape"),
        (f"{BASE}/usage/group/a$", {}, 400, "Invalid group name"),
        (f"{ELSEWHERE}/usage/group/dev", {}, 404, "Group not found"),
    ],
)
def test_faults(router: Router, path: str, query: dict[str, str], status: int, begins: str) -> None:
    reply = fault_of(router.answer(Ask(path, query=query)))
    assert (reply.status_code, reply.message[: len(begins)]) == (status, begins)
    assert reply.description == reply.message


@pytest.mark.rule("REST-31")
def test_children_come_with_the_member_subtree_whatever_it_says(router: Router) -> None:
    for query, count in (({}, 0), ({"subtree": "false"}, 2), ({"subtree": ""}, 2)):
        found = read(router.answer(Ask(f"{BASE}/queue/root", query=query)))
        assert len(found.get("children", ())) == count


@pytest.mark.rule("REST-27")
@pytest.mark.parametrize(
    ("accept", "json"),
    [("application/json", True), ("application/json, */*", False), ("", False), ("*/*", False)],
)
def test_the_configuration_is_json_for_exactly_that_wish(router: Router, accept: str, json: bool) -> None:
    reply = router.answer(Ask("/ws/v1/config", accept=accept))
    assert isinstance(reply, Big)
    assert reply.content_type == f"application/{'json' if json else 'x-yaml'}; charset=UTF-8"
    assert b"".join(reply.steps()).startswith(b"{" if json else b"checksum")


@pytest.mark.rule("REST-21")
@pytest.mark.parametrize(
    ("method", "path", "status", "header"),
    [
        ("GET", "/ws/v1/nothing", 404, {}),
        ("GET", "/", 404, {}),
        ("POST", "/ws/v1/nothing", 404, {}),
        ("POST", "/ws/v1/partitions", 405, {"Allow": "GET, OPTIONS"}),
        ("HEAD", "/ws/v1/partitions", 405, {"Allow": "GET, OPTIONS"}),
        ("OPTIONS", "/ws/v1/partitions", 200, {"Allow": "GET, OPTIONS"}),
        ("OPTIONS", "/ws/v1/nothing", 404, {}),
        ("GET", "/ws/v1/partitions/", 301, {"Location": "/ws/v1/partitions"}),
        ("GET", "/WS/v1/Partitions", 301, {"Location": "/ws/v1/partitions"}),
        ("GET", "/ws/v1/partition/X%20y/Nodes", 301, {"Location": "/ws/v1/partition/X%20y/nodes"}),
        ("GET", "/ws/v1/fullstatedump", 301, {"Location": "/debug/fullstatedump"}),
        ("GET", "/ws/v1/stack", 301, {"Location": "/debug/stack"}),
        ("GET", "/ws/v1/partition/%zz/nodes", 400, {}),
        ("GET", "/ws/v1/partition/a%2Fb/nodes", 404, {}),
    ],
)
def test_what_the_router_says_itself(
    router: Router, method: str, path: str, status: int, header: dict[str, str]
) -> None:
    reply = router.answer(Ask(path, method))
    assert isinstance(reply, Plain)
    assert (reply.status, dict(reply.headers)) == (status, header)


@pytest.mark.rule("REST-21")
def test_a_redirect_of_a_listener_with_a_prefix() -> None:
    """The API server passes no redirect on. The text names a path only if the listener has it."""
    near, moved, other = redirect("/ws/v1/partitions"), redirect("/debug/stack"), Plain(405, "no")
    assert [near.below(""), moved.below(""), other.below("/apis/g")] == [near, moved, other]
    assert near.below("/apis/g") == Plain(404, "404 page not found; see /apis/g/ws/v1/partitions\n")
    assert moved.below("/apis/g") == Plain(404, "404 page not found\n")


@pytest.mark.rule("REST-22")
def test_a_name_with_a_plus_comes_doubly_escaped(router: Router, ledger: Ledger) -> None:
    ledger.apply(
        on.PodObserved(make_pod("c", app="app-5", node="n1", identity=Identity("a@b.c", ()))), now=START
    )
    assert not isinstance(router.answer(Ask(f"{BASE}/usage/user/a%2540b.c")), Fault)
    assert not isinstance(router.answer(Ask(f"{BASE}/usage/user/a%40b.c")), Fault)


@pytest.mark.rule("REST-21")
def test_a_query_that_is_not_known_is_ignored(router: Router) -> None:
    assert not isinstance(router.answer(Ask("/ws/v1/partitions", query={"x": "y"})), Fault)


def test_of_an_id_in_two_namespaces_one_can_be_chosen(router: Router, ledger: Ledger) -> None:
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("other")), now=START)
    ledger.apply(on.PodObserved(make_pod("r", namespace="other", queue="root.b")), now=START)
    for namespace in ("default", "other"):
        found = read(router.answer(Ask(f"{BASE}/application/app-1", query={"namespace": namespace})))
        assert found["namespace"] == namespace


def test_every_answer_is_of_the_kind_that_is_described(router: Router) -> None:
    names = {"partition": "default", "queue": "root.a", "state": "active", "application": "app-1"}
    names |= {"node": "n1", "user": "alice"}
    for pattern in {*PATHS, *IN_STEPS} - {f"{PARTITION}/usage/group/:group"}:
        path = pattern
        for name, value in names.items():
            path = path.replace(f":{name}", value)
        reply = router.answer(Ask(path, accept="application/json"))
        body = b"".join(reply.steps()) if isinstance(reply, Big) else encoded(reply)
        struct, many = ANSWERS[pattern]
        found = msgspec.json.decode(body, type=tuple[struct, ...] if many else struct)  # type: ignore[valid-type]
        assert encoded(found) == body


def test_what_was_deleted_before_the_moment_is_not_found(router: Router, ledger: Ledger) -> None:
    """A request that was right when it came, and waited for its turn."""
    paths = ("application/app-2", "queue/root.a/application/app-2", "usage/user/bob", "node/n1")
    ledger.apply(
        on.PodObserved(make_pod("b", app="app-6", identity=Identity("bob", ()), node="n1")), now=START
    )
    replies = [router.answer(Ask(f"{BASE}/{path}")) for path in paths]
    for name in ("p", "q", "b"):
        ledger.apply(on.PodDeleted(PodUid(f"uid-{name}")), now=START)
    ledger.apply(on.ObjectDeleted(on.NODES, NodeName("n1")), now=START)
    ledger.apply(on.TimePassed(), now=START + 4000)
    for reply, what in zip(replies, ("Application", "Application", "User", "Node"), strict=True):
        with pytest.raises(Refused, match=f"{what} not found"):
            read(reply)
