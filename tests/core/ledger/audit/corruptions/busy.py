"""A ledger with one pod in every situation, and values for its corruption. No tests."""

from collections.abc import Callable

from core.ids import AppId, NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.state.state import State
from core.queues.users.limits import Claimant
from core.reasons import Code, Refusal, SentRefusal
from core.resource import Resource
from tests.builders import (
    AGENTS,
    OF_AGENTS,
    START,
    make_gang,
    make_ledger,
    make_pod,
    make_queue,
    triggered,
)

ONE = Resource({"vcore": 1})


GHOST = Claimant(AppId("ghost", "default"), "ghost", "", True)


COUNTERS = ("allocated", "reserved", "pending", "preempting", "triggered", "bypassed")
"""Of a queue."""


def busy_ledger() -> Ledger:
    """A ledger with one pod in every situation that exists."""
    ledger = make_ledger(make_queue("root.a", max={"vcore": 9000}), make_queue("root.p", leaf=False))
    refusal = Refusal(Code.QUOTA_EXCEEDED, "root.a")
    for event in (
        on.PodObserved(make_pod("bound", node="n1")),
        on.PodObserved(make_pod("victim", node="n1")),
        on.PodObserved(make_pod("triggered")),
        on.PodObserved(make_pod("foreign", scheduler_name="x", app="", queue="", node="n1")),
        on.PodObserved(make_pod("reserved")),
        on.PodAdmitted(PodUid("uid-reserved"), 1),
        on.PodOffered(make_pod("provisional")),
        on.PodObserved(make_pod("waiting")),
        on.PodRefused(PodUid("uid-waiting"), refusal, SentRefusal("text", Code.QUOTA_EXCEEDED, 1)),
        on.PodObserved(make_pod("ungated", asks_filter=False)),
        on.PodObserved(make_pod("member", app="gang", gang=make_gang(3), task_group="g")),
        on.PodObserved(make_pod("tg-1", app="gang", placeholder=True, task_group="g", node="n2")),
        on.PodObserved(make_pod("tg-2", app="gang", placeholder=True, task_group="g")),
        on.ObjectObserved(on.DAEMON_SETS, AGENTS),
        on.PodObserved(make_pod("agent", app="agents", required_node=NodeName("n1"), **OF_AGENTS)),
        on.PodObserved(make_pod("early", scheduler_name="x", app="", queue="", namespace="unseen")),
    ):
        ledger.apply(event, now=START)
    triggered(ledger, "uid-triggered", "uid-victim")
    return ledger


Corruption = tuple[str, str, Callable[[State], object]]
"""A corrupted field of the state, the first finding of the audit about it, and the corruption."""
