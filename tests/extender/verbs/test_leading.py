"""Calls for managed pods while another instance admits, and Bindings of one that was stopped (F-3)."""

import asyncio
import json

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import OpenGate
from extender.kube.connection.client import ApiClient
from extender.kube.connection.fencing import HeldBack
from extender.kube.effects.effector import Effector
from extender.verbs.bind import BindOutcome, BindVerb, PostBinding
from extender.verbs.leading import NotLeading, fenced
from extender.verbs.pure import PureVerbs
from extender.wire.calls.extender_v1 import NO_PRIORITIES
from extender.wire.translate import POD, pod_from
from tests.builders import usage
from tests.extender.fake_api import FakeApi
from tests.extender.reflector_bench import cancelled, until
from tests.extender.rigs import Rig, bind_body, filter_body, pod_body

PODS = "/api/v1/namespaces/default/pods"


class Played:
    """A Lease that the test sets. ``becomes``: its state at the next reading."""

    problem = ""

    def __init__(self, *, held: bool, becomes: bool = False) -> None:
        self.held, self.becomes, self.read = held, becomes, 0

    async def confirm(self) -> bool:
        self.read += 1
        self.held = self.held or self.becomes
        return self.held


def led(played: Played) -> Rig:
    rig = Rig()
    rig.verbs = PureVerbs(rig.engine, lead=played)
    rig.bind_verb = BindVerb(rig.engine, rig.api, synced=rig.synced, deadline=5.0, lead=played)
    return rig


def there(rig: Rig, name: str, **pod: str) -> bytes:
    """The body of a filter call for a pod that the API server has."""
    body = filter_body(name, **pod)
    shown = pod_from(POD.decode(json.dumps(json.loads(body)["Pod"])))
    rig.api.pods[shown.namespace, shown.name] = shown
    return body


FOREIGN = {"queue": "", "app": "", "scheduler": "default-scheduler"}


async def answered(verb: object, lead: Played, body: bytes, instead: bytes | None = None) -> bytes:
    found = fenced(verb, lead, instead)(body)  # type: ignore[arg-type]
    return found if isinstance(found, bytes) else await found


async def test_a_managed_pod_is_not_admitted_and_nothing_is_reserved() -> None:
    lead = Played(held=False)
    rig = led(lead)
    with pytest.raises(NotLeading, match="NotReady: not leading"):
        await answered(rig.verbs.filter, lead, there(rig, "p"))
    with pytest.raises(NotLeading):
        await rig.bind_verb.bind(bind_body("p"))
    assert await answered(rig.verbs.prioritize, lead, filter_body("p"), NO_PRIORITIES) == NO_PRIORITIES
    assert usage(rig.ledger, "root.a") == (0, 0, 1000)
    assert rig.api.posted == []


async def test_a_pod_in_no_queue_is_served_and_waits_for_no_lease() -> None:
    lead = Played(held=False)
    rig = led(lead)
    assert json.loads(await answered(rig.verbs.filter, lead, there(rig, "f", **FOREIGN)))["NodeNames"]
    await rig.bind_verb.bind(bind_body("f"))
    assert [(each.name, each.fenced) for each in rig.api.posted] == [("f", False)]
    assert lead.read == 0


async def test_a_new_leader_loses_nothing() -> None:
    lead = Played(held=False, becomes=True)
    rig = led(lead)
    assert json.loads(await answered(rig.verbs.filter, lead, there(rig, "p")))["NodeNames"]
    lead.held = False
    await rig.bind_verb.bind(bind_body("p"))
    assert [each.fenced for each in rig.api.posted] == [True]
    assert lead.read == 2


async def test_the_leader_reads_nothing_for_a_call() -> None:
    lead = Played(held=True)
    rig = led(lead)
    assert json.loads(await answered(rig.verbs.filter, lead, there(rig, "p")))["NodeNames"]
    assert lead.read == 0


# -- right before a request is sent ----------------------------------------------------------------------


class Stand:
    """An effector with a fake API server. ``leads()``: True if it may act."""

    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api, self.client = api, client
        self.may: list[bool] = []
        self.learned: list[on.Event] = []
        self.effector = Effector(
            client,
            learn=self.learned.append,
            may_act=lambda: self.may.pop(0),
            count=_uncounted,
            sleep=_at_once,
        )

    async def post(self, *may: bool, fenced: bool = True) -> BindOutcome:
        self.may = list(may)
        binding = PostBinding(PodUid("uid-p"), "default", "p", NodeName("n1"), fenced)
        return await self.effector.post(binding, within=5.0)

    @property
    def node(self) -> str:
        pod = self.api.find(PODS, "p")
        return str(pod["spec"].get("nodeName", "")) if pod else ""


def _uncounted(*_: str) -> None: ...


async def _at_once(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
async def stand(api: FakeApi, client: ApiClient) -> Stand:
    api.apply(PODS, pod_body("p"))
    return Stand(api, client)


async def test_a_binding_is_held_back_when_the_lease_is_lost_before_it_is_written(stand: Stand) -> None:
    outcome = await stand.post(False)
    assert (outcome.bound, outcome.certain, outcome.message) == (False, True, "NotReady: not leading")
    assert stand.node == ""
    assert (await stand.post(True)).bound
    assert stand.node == "n1"


async def test_so_is_its_repetition_after_a_wait(stand: Stand) -> None:
    """A request that was sent before may still succeed."""
    stand.api.lose_next_reply(method="POST")
    outcome = await stand.post(True, False)
    assert (outcome.bound, outcome.certain) == (False, False)


async def test_a_binding_of_a_pod_in_no_queue_is_not(stand: Stand) -> None:
    assert (await stand.post(fenced=False)).bound


async def test_a_request_that_waited_for_its_connection_is_checked_again(stand: Stand) -> None:
    """The process may be stopped in between, so the moment of writing counts."""
    asked: list[str] = []

    def may_send() -> bool:
        asked.append("asked")
        return False

    async with asyncio.timeout(5):
        with pytest.raises(HeldBack):
            await stand.client.post(f"{PODS}/p/binding", b"{}", may_send=may_send)
        assert asked == ["asked"]
        assert not [each for each in stand.api.requests if each.method == "POST"]
        # The client goes on working.
        assert await stand.client.get(PODS)


async def test_a_gate_is_not_opened_by_one_that_lost_the_lease_meanwhile(stand: Stand) -> None:
    stand.may = [True, True, False]
    running = asyncio.create_task(stand.effector.run())
    stand.effector.perform(OpenGate(PodUid("uid-p"), "default", "p"))
    await until(lambda: bool(stand.learned))
    await cancelled(running)
    assert stand.learned == [on.PodWoken(PodUid("uid-p"), reached=False)]
    assert not [each for each in stand.api.requests if each.method == "PATCH"]
