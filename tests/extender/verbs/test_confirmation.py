"""Calls that kube-scheduler never makes, but that any process at the port could send (F-18)."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.workload.pod import OWN_GATE, PodFacts
from extender.kube.connection.api import BadName, segment
from extender.kube.effects.bodies import events_path, pod_path
from extender.verbs.bind import BindVerb
from extender.verbs.confirmation import DISPROVED, MOST_UNCONFIRMED, WARY_FOR, Confirmation
from extender.verbs.faults import CallFault, Unconfirmed
from extender.verbs.pure import PureVerbs
from extender.wire.calls.extender_v1 import BadBody
from tests.builders import make_pod, make_queue, usage
from tests.extender.rigs import PlayedApi, Rig, bind_body, changed, filter_body, preempt_body

UID = PodUid("uid-p")
CLIMBING = [
    "../../../apis",
    "..",
    ".",
    "a/b",
    "a%2Fb",
    "a?watch=1",
    "a#b",
    "",
    "a b",
    "A",
    "a\n",
    "-a",
    "ä",
    "x" * 254,
]


class CountingApi(PlayedApi):
    reads = 0

    async def read_pod(self, namespace: str, name: str, *, within: float) -> PodFacts | None:
        self.reads += 1
        return await super().read_pod(namespace, name, within=within)


def rig_with(*pods: PodFacts, max_cpu: int = 2000) -> Rig:
    """The pods are in the API, and the watch has shown them."""
    rig = Rig(make_queue("root.a", max={"vcore": max_cpu}))
    rig.api = CountingApi()
    rig.bind_verb = BindVerb(rig.engine, rig.api, synced=rig.synced, deadline=5.0)
    for pod in pods:
        rig.api.pods[pod.namespace, pod.name] = pod
        rig.engine.learn(on.PodObserved(pod))
    return rig


# -- names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLIMBING)
def test_no_path_is_made_of_what_is_no_name(name: str) -> None:
    for path in (lambda: pod_path(name, "p"), lambda: pod_path("default", name), lambda: events_path(name)):
        with pytest.raises(BadName):
            path()


@pytest.mark.parametrize("name", ["p", "p-1.b", "0", "x" * 253])
def test_a_name_is_a_segment(name: str) -> None:
    assert segment(name) == name


@pytest.mark.parametrize("name", CLIMBING)
@pytest.mark.parametrize("field", ["PodName", "PodNamespace", "Node"])
async def test_a_bind_call_that_names_nothing_reads_and_posts_nothing(field: str, name: str) -> None:
    rig = rig_with()
    with pytest.raises(BadBody):
        await rig.bind_verb.bind(changed(lambda body: body.update({field: name}), bind_body("p")))
    assert (rig.api.reads, rig.api.posted) == (0, [])


@pytest.mark.parametrize("name", [each for each in CLIMBING if each])
@pytest.mark.parametrize("field", ["name", "namespace"])
@pytest.mark.parametrize("verb", ["filter", "prioritize", "preempt"])
def test_a_body_about_what_is_no_pod_is_a_bad_one(verb: str, field: str, name: str) -> None:
    rig = rig_with()
    body = preempt_body("p", {"n1": ["v"]}) if verb == "preempt" else filter_body("p")
    with pytest.raises(BadBody):
        getattr(rig.verbs, verb)(changed(lambda body: body["Pod"]["metadata"].update({field: name}), body))
    assert rig.engine.view.pod(UID) is None


def test_a_uid_has_an_end() -> None:
    with pytest.raises(BadBody):
        rig_with().verbs.filter(filter_body("p", uid="u" * 129))


# -- which pods are bound ------------------------------------------------------------------------------------


UNFIT: dict[str, tuple[PodFacts, str]] = {
    "our gate": (make_pod("p", gates=(OWN_GATE,), version=5), "held by a scheduling gate"),
    "another's gate": (make_pod("p", gates=("example.com/wait",), version=5), "held by a scheduling gate"),
    "terminating": (make_pod("p", deleting=True, version=5), "pod is gone"),
    "ended": (make_pod("p", terminal=True, version=5), "pod is gone"),
    "elsewhere": (make_pod("p", node="n2", version=5), "already bound to n2"),
    "another uid": (make_pod("p", uid="another", version=5), "pod is gone"),
    "unmanaged, gated": (
        make_pod("p", gates=("x",), scheduler_name="x", app="", queue="", version=5),
        "held by a scheduling gate",
    ),
}


@pytest.mark.parametrize("shown", [True, False], ids=["shown by the watch", "read"])
@pytest.mark.parametrize(("pod", "text"), UNFIT.values(), ids=UNFIT.keys())
async def test_a_pod_that_may_not_be_bound_is_not(pod: PodFacts, text: str, shown: bool) -> None:
    rig = rig_with()
    rig.api.pods["default", "p"] = pod
    if shown:
        rig.engine.learn(on.PodObserved(pod))
    with pytest.raises(CallFault, match=text):
        await rig.bind("p")
    assert rig.api.posted == []


@pytest.mark.parametrize(("name", "namespace"), [("q", "default"), ("p", "other")])
async def test_a_uid_is_not_bound_under_another_name(name: str, namespace: str) -> None:
    rig = rig_with(make_pod("p", version=5), make_pod("q", version=6))
    with pytest.raises(CallFault, match="pod is gone"):
        await rig.bind_verb.bind(bind_body(name, uid="uid-p", namespace=namespace))
    assert rig.api.posted == []


async def test_what_the_watch_has_shown_is_not_read() -> None:
    rig = rig_with(make_pod("p", version=5))
    rig.filter("p")
    assert await rig.bind("p") == {}
    assert (rig.api.reads, len(rig.api.posted)) == (0, 1)


async def test_a_watch_that_is_behind_is_made_up_for_by_one_read() -> None:
    """The gate is open now, and kube-scheduler has already seen this."""
    rig = rig_with(make_pod("p", version=5, gates=(OWN_GATE,)))
    rig.api.pods["default", "p"] = make_pod("p", version=6)
    assert await rig.bind("p") == {}
    assert rig.api.reads == 1


async def test_a_pod_that_only_its_filter_body_has_shown_is_read_before_it_is_bound() -> None:
    rig = rig_with()
    rig.filter("p")
    assert await rig.bind("p") == {}
    assert (rig.api.reads, usage(rig.ledger, "root.a")) == (1, (1000, 0, 0))


@pytest.mark.parametrize(
    "lie",
    [
        {"spec": {"containers": [{"resources": {"requests": {"cpu": "1m"}}}], "schedulerName": "yunikorn"}},
        {"metadata": {"labels": {"yunikorn.apache.org/queue": "root.b", "yunikorn.apache.org/app-id": "b"}}},
        {"metadata": {"resourceVersion": "9999999999999999"}, "spec": {"schedulerName": "yunikorn"}},
    ],
    ids=["size", "queue", "version and size"],
)
@pytest.mark.parametrize("shown", [True, False], ids=["shown by the watch", "unknown"])
async def test_what_a_body_says_of_a_pod_buys_it_no_node(lie: dict[str, Any], shown: bool) -> None:
    """The pod is larger than its queue, but the body shows a smaller one."""
    rig = Rig(make_queue("root.a", max={"vcore": 2000}), make_queue("root.b"))
    true = make_pod("p", cpu=3000, version=5)
    rig.api.pods["default", "p"] = true
    if shown:
        rig.engine.learn(on.PodObserved(true))

    def forge(body: dict[str, Any]) -> None:
        pod = body["Pod"]
        pod["spec"] |= lie.get("spec", {"containers": [{"resources": {"requests": {"cpu": "3"}}}]})
        pod["metadata"] |= {"resourceVersion": "6", **lie.get("metadata", {})}

    rig.verbs.filter(changed(forge, filter_body("p", cpu="3")))
    with pytest.raises(CallFault, match="QuotaExceeded"):
        await rig.bind("p")
    assert rig.api.posted == []
    assert rig.audit() == ()
    rig.engine.learn(on.PodObserved(replace(true, version=7)))
    record = rig.engine.view.pod(UID)
    assert record is not None
    assert record.facts.version == 7


# -- pods that do not exist -------------------------------------------------------------------------------


class Watchful:
    """Verbs with confirmation of bodies, and a clock that only `run` moves."""

    def __init__(self) -> None:
        self.time = 0.0
        self.counts: list[str] = []
        self.warnings: list[str] = []
        self.rig = rig_with()
        self.confirming = Confirmation(
            self.rig.engine,
            lambda namespace, name, within: self.rig.api.read_pod(namespace, name, within=within),
            clock=lambda: self.time,
            count=self.counts.append,
            warn=self.warnings.append,
            sleep=self._sleep,
        )
        self.rig.verbs = PureVerbs(self.rig.engine, confirming=self.confirming)

    async def _sleep(self, seconds: float) -> None:
        self.time += seconds

    async def run(self) -> None:
        task = asyncio.create_task(self.confirming.run())
        for _ in range(2_000):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    def filter(self, name: str, **pod: Any) -> Any:
        return json.loads(self.rig.verbs.filter(filter_body(name, **pod)))


async def test_an_invented_pod_holds_its_quota_for_a_second() -> None:
    watchful = Watchful()
    assert watchful.filter("invented", cpu="2")["NodeNames"]
    assert usage(watchful.rig.ledger, "root.a") == (0, 2000, 0)
    await watchful.run()
    assert watchful.counts == ["disproved"]
    assert usage(watchful.rig.ledger, "root.a") == (0, 0, 0)
    assert watchful.time == 1.0
    assert watchful.rig.audit() == ()


async def test_an_existing_pod_keeps_it() -> None:
    watchful = Watchful()
    watchful.rig.filter("p")
    await watchful.run()
    assert watchful.counts == ["confirmed"]
    assert usage(watchful.rig.ledger, "root.a") == (0, 1000, 0)


async def test_a_pod_that_the_watch_shows_in_time_is_not_read() -> None:
    watchful = Watchful()
    watchful.filter("p")
    watchful.rig.engine.learn(on.PodObserved(make_pod("p", version=5)))
    await watchful.run()
    assert (watchful.counts, watchful.rig.api.reads) == ([], 0)


async def test_what_a_body_said_of_a_known_pod_ends_with_a_read() -> None:
    watchful = Watchful()
    true = make_pod("p", cpu=1000, version=5)
    watchful.rig.api.pods["default", "p"] = true
    watchful.rig.engine.learn(on.PodObserved(true))
    watchful.filter("p", cpu="2", version="99999999999")
    assert usage(watchful.rig.ledger, "root.a") == (0, 2000, 0)
    await watchful.run()
    assert usage(watchful.rig.ledger, "root.a") == (0, 1000, 0)


async def test_an_api_server_that_does_not_answer_is_asked_again() -> None:
    watchful = Watchful()
    read, failures = watchful.rig.api.read_pod, iter([True, True, False])

    async def failing(namespace: str, name: str, *, within: float) -> PodFacts | None:
        if next(failures, False):
            raise CallFault("no answer")
        return await read(namespace, name, within=within)

    watchful.rig.api.read_pod = failing  # type: ignore[method-assign]
    watchful.filter("invented")
    await watchful.run()
    assert watchful.counts == ["unread", "unread", "disproved"]


async def test_a_caller_that_invents_many_pods_is_not_believed_for_a_while() -> None:
    watchful = Watchful()
    for at in range(DISPROVED):
        watchful.filter(f"invented-{at}", app=f"a-{at}")
    await watchful.run()
    assert len(watchful.warnings) == 1
    with pytest.raises(Unconfirmed):
        watchful.filter("another")
    watchful.rig.engine.learn(on.PodObserved(make_pod("real", version=5)))
    assert watchful.filter("real")["NodeNames"]
    watchful.time += WARY_FOR
    assert watchful.filter("another")["NodeNames"]


def test_no_more_than_some_unknown_pods_are_believed_at_once() -> None:
    watchful = Watchful()
    for at in range(MOST_UNCONFIRMED):
        watchful.confirming.expect(PodUid(f"uid-{at}"))
    with pytest.raises(Unconfirmed):
        watchful.filter("one-more")


async def test_the_watch_is_right_about_whose_a_pod_is() -> None:
    """A body placed the pod in another queue. Its reservation there ends when the watch shows the pod."""
    rig = Rig(make_queue("root.a", max={"vcore": 2000}), make_queue("root.b"))
    rig.filter("p", queue="root.b", app="b")
    rig.engine.learn(on.PodObserved(make_pod("p", version=5)))
    record = rig.engine.view.pod(UID)
    assert record is not None
    queue = rig.engine.view.queue_of(record)
    assert queue is not None
    assert (queue.path, usage(rig.ledger, "root.b")) == ("root.a", (0, 0, 0))
    assert rig.audit() == ()
