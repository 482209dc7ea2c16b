"""Bind calls: the posted Bindings, the answers, and the ledger afterwards (DESIGN-3, DESIGN-10)."""

import asyncio
from typing import Any

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.workload.pod import NamespaceFacts
from extender.kube.connection.api import Unreachable
from extender.verbs.bind import BindOutcome, PostBinding
from extender.verbs.faults import CallFault, DeadlinePassed, NotReady
from tests.builders import make_node, make_partition, make_pod, make_queue, usage
from tests.extender.reflector_bench import until
from tests.extender.rigs import Rig


async def passed(seconds: float) -> None:
    """Wait until the loop's clock shows that a deadline is over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    await until(lambda: loop.time() > end)


# -- what the verb does ------------------------------------------------------------------------------------


async def test_a_binding_is_posted_for_this_uid_and_charged() -> None:
    rig = Rig()
    rig.filter("p")
    assert await rig.bind("p") == {}
    assert rig.api.posted == [PostBinding(PodUid("uid-p"), "default", "p", NodeName("n1"), fenced=True)]
    assert usage(rig.ledger, "root.a") == (1000, 0, 0)


async def test_the_node_is_charged_before_the_post_succeeds() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    call = asyncio.create_task(rig.bind("p"))
    await until(lambda: bool(rig.api.posted))
    use = rig.engine.view.use_of(NodeName("n1"))
    assert use is not None
    assert use.allocated.get("vcore") == 1000
    rig.api.open.set()
    assert await call == {}


async def test_bound_twice_is_posted_once() -> None:
    rig = Rig()
    rig.filter("p")
    assert await rig.bind("p") == await rig.bind("p") == {}
    assert len(rig.api.posted) == 1


async def test_calls_at_the_same_time_are_posted_once() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    calls = [asyncio.create_task(rig.bind("p")) for _ in range(4)]
    await until(lambda: bool(rig.api.posted))
    rig.api.open.set()
    assert await asyncio.gather(*calls) == [{}, {}, {}, {}]
    assert len(rig.api.posted) == 1


async def test_a_second_call_for_another_node_learns_of_the_first() -> None:
    rig = Rig()
    rig.filter("p")
    await rig.bind("p", "n1")
    with pytest.raises(CallFault, match="already bound to n1"):
        await rig.bind("p", "n2")
    assert len(rig.api.posted) == 1


async def test_a_caller_that_hangs_up_leaves_the_binding_under_way() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    first = asyncio.create_task(rig.bind("p"))
    await until(lambda: bool(rig.api.posted))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.create_task(rig.bind("p"))
    rig.api.open.set()
    assert await second == {}
    assert len(rig.api.posted) == 1


async def given_up(rig: Rig, failure: BaseException) -> list[object]:
    """Reports to the event loop of a bind call that fails after its caller has hung up."""
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: failures.append(context.get("exception"))
    )
    rig.filter("p")
    rig.api.open, rig.api.outcomes = asyncio.Event(), [failure]
    call = asyncio.create_task(rig.bind("p"))
    await until(lambda: bool(rig.api.posted))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    rig.api.open.set()
    await until(lambda: not rig.bind_verb._open)
    return failures


async def test_a_bug_is_reported_even_if_the_caller_has_hung_up() -> None:
    bug = ZeroDivisionError("a bug")
    assert await given_up(Rig(), bug) == [bug]


async def test_a_fault_is_not_reported_if_the_caller_has_hung_up() -> None:
    assert await given_up(Rig(), CallFault("no answer")) == []


async def test_a_refused_binding_gives_its_capacity_back() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1000}))
    rig.filter("p")
    rig.api.outcomes = [BindOutcome(False, message="no such node")]
    with pytest.raises(CallFault, match="no such node"):
        await rig.bind("p")
    assert usage(rig.ledger, "root.a") == (0, 0, 1000)
    rig.engine.learn(on.PodDeleted(PodUid("uid-p")))
    assert rig.filter("q")["NodeNames"]


@pytest.mark.parametrize(
    "lost", [BindOutcome(False, certain=False, message="no answer"), Unreachable("cut", sent=True)]
)
async def test_a_binding_that_may_still_come_about_holds_its_capacity(
    lost: BindOutcome | BaseException,
) -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1000}))
    rig.filter("p")
    rig.api.outcomes = [lost]
    with pytest.raises((CallFault, Unreachable)):
        await rig.bind("p")
    assert usage(rig.ledger, "root.a") == (0, 1000, 0)
    assert rig.filter("q")["NodeNames"] == []


async def test_without_a_live_reservation_there_must_be_headroom() -> None:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("late", cpu=2000, version=5)))
    rig.filter("late", cpu="2")
    rig.time += 31
    rig.engine.pass_time()
    rig.ledger.apply(on.PodObserved(make_pod("quick", cpu=2000, node="n1")), now=rig.time)
    with pytest.raises(CallFault, match=r"QuotaExceeded: root\.a max vcore=2"):
        await rig.bind("late")
    assert rig.api.posted == []


async def test_without_a_live_reservation_headroom_is_enough() -> None:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("late", version=5)))
    rig.filter("late")
    rig.time += 31
    rig.engine.pass_time()
    assert await rig.bind("late") == {}


# -- uids not heard of -------------------------------------------------------------------------------------


async def test_an_unknown_managed_pod_is_read_and_admitted() -> None:
    rig = Rig()
    rig.api.pods["default", "p"] = make_pod("p", cpu=2000)
    rig.api.pods["default", "q"] = make_pod("q")
    assert await rig.bind("p") == {}
    with pytest.raises(CallFault, match="QuotaExceeded"):
        await rig.bind("q")
    assert [each.name for each in rig.api.posted] == ["p"]


async def test_an_unknown_unmanaged_pod_is_bound_as_it_is() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1}))
    rig.api.pods["default", "x"] = make_pod("x", scheduler_name="other", app="", queue="")
    assert await rig.bind("x") == {}
    assert usage(rig.ledger, "root.a") == (0, 0, 0)


async def test_an_unmanaged_pod_s_failure_is_reported() -> None:
    rig = Rig()
    rig.api.pods["default", "x"] = make_pod("x", scheduler_name="other", app="", queue="")
    rig.api.outcomes = [BindOutcome(False, message="no such node")]
    with pytest.raises(CallFault, match="no such node"):
        await rig.bind("x")


@pytest.mark.parametrize("found", [{}, {("default", "p"): make_pod("p", uid="another")}])
async def test_an_unknown_pod_that_does_not_exist_is_not_found(found: dict[tuple[str, str], Any]) -> None:
    rig = Rig()
    rig.api.pods = found
    with pytest.raises(CallFault, match="pod is gone"):
        await rig.bind("p")
    assert rig.api.posted == []


async def test_a_pod_deleted_meanwhile_is_not_found() -> None:
    rig = Rig()
    rig.filter("p")
    rig.engine.learn(on.PodObserved(make_pod("p", version=6)))
    rig.engine.learn(on.PodDeleted(PodUid("uid-p")))
    with pytest.raises(CallFault, match="pod is gone"):
        await rig.bind("p")
    assert rig.api.posted == []


# -- before the caches are synced ---------------------------------------------------------------------------


def now_synced(rig: Rig) -> None:
    rig.ledger.apply(
        on.Configured(make_partition(make_queue("root.a")), rig.engine.view.settings), now=rig.time
    )
    for listed in (
        on.ObjectObserved(on.NODES, make_node("n1")),
        on.ObjectsListed(on.NODES, frozenset({NodeName("n1")})),
        on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")),
        on.ObjectsListed(on.NAMESPACES, frozenset({"default"})),
        on.PodsListed(frozenset()),
    ):
        rig.ledger.apply(listed, now=rig.time)
    rig.synced.set()


async def test_a_managed_pod_is_held_until_the_caches_are_synced() -> None:
    rig = Rig(ledger=Ledger())
    rig.api.pods["default", "p"] = make_pod("p")
    call = asyncio.create_task(rig.bind("p"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not call.done()
    now_synced(rig)
    assert await call == {}
    assert usage(rig.ledger, "root.a") == (1000, 0, 0)


async def test_a_managed_pod_is_held_no_longer_than_the_deadline() -> None:
    rig = Rig(ledger=Ledger())
    rig.bind_verb.deadline = 0.05
    rig.api.pods["default", "p"] = make_pod("p")
    with pytest.raises(NotReady):
        await rig.bind("p")
    assert rig.api.posted == []


async def test_an_unmanaged_pod_does_not_wait_for_the_caches() -> None:
    rig = Rig(ledger=Ledger())
    rig.filter("dns", namespace="kube-system")
    assert await rig.bind("dns", namespace="kube-system") == {}


async def test_a_class_found_by_filter_is_remembered_before_the_sync() -> None:
    rig = Rig(ledger=Ledger())
    rig.bind_verb.deadline = 0.05
    with pytest.raises(NotReady):
        rig.filter("p")
    with pytest.raises(NotReady):
        await rig.bind("p")
    assert rig.api.posted == []


async def test_after_the_deadline_nothing_is_sent() -> None:
    rig = Rig()
    rig.filter("p")
    rig.api.open = asyncio.Event()
    rig.api.outcomes = [BindOutcome(False, certain=False, message="no answer")]
    rig.bind_verb.deadline = 0.05
    first = asyncio.create_task(rig.bind("p"))
    await until(lambda: bool(rig.api.posted))
    second = asyncio.create_task(rig.bind("p"))
    await passed(0.06)
    rig.api.open.set()
    with pytest.raises(CallFault, match="no answer"):
        await first
    with pytest.raises(DeadlinePassed, match="nothing was sent"):
        await second
    assert len(rig.api.posted) == 1
    # The first Binding may still succeed.
    assert usage(rig.ledger, "root.a") == (0, 1000, 0)
