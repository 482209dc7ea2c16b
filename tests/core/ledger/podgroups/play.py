"""Tools for tests of pod groups: show members, bring them to bind, read reports.

No tests, and nothing that only one file of tests needs.
"""

from collections.abc import Iterable
from typing import Any

from core.decisions.admission import refusal_of
from core.decisions.decision import Admitted, BindWaits
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, PostEvent
from core.ledger.ledger import Ledger
from core.reasons import Code
from core.workload.gangs.gang import PodGroup
from core.workload.pod_group import Group, GroupKey
from tests.builders import START, bind_called, filtered, make_pod, make_queue, woken

A, B = make_queue("root.a"), make_queue("root.b")
KEY = GroupKey("default", "g")
"""Default pod group of members."""


def seen(ledger: Ledger, name: str, *, at: float = START, least: int = 3, **facts: Any) -> tuple[Effect, ...]:
    facts.setdefault("pod_group", PodGroup("g", least))
    return ledger.apply(on.PodObserved(make_pod(name, **facts)), now=at)


def named(*names: str) -> list[str]:
    return [f"uid-{name}" for name in names]


def group_of(ledger: Ledger, name: str = "g") -> Group:
    return known(ledger)[GroupKey("default", name)]


def known(ledger: Ledger) -> dict[GroupKey, Group]:
    return {group.key: group for group in ledger.view.pod_groups()}


def code(ledger: Ledger, name: str) -> Code | None:
    record = ledger.view.pod(PodUid(f"uid-{name}"))
    assert record is not None
    refusal = refusal_of(ledger.view, record)
    return refusal.code if refusal is not None else None


def events_in(effects: Iterable[Effect]) -> list[tuple[str, str, str]]:
    return [(each.name, each.reason, each.message) for each in effects if isinstance(each, PostEvent)]


def ring(ledger: Ledger, *names: str, **facts: Any) -> None:
    """A group whose members all exist and have their turn."""
    for name in names:
        seen(ledger, name, **facts)
    woken(ledger, now=START)


def waits(ledger: Ledger, name: str, node: str = "n1", *, at: float = START) -> None:
    """Bring a member through filter to its bind call."""
    assert isinstance(filtered(ledger, f"uid-{name}", now=at), Admitted)
    assert isinstance(bind_called(ledger, f"uid-{name}", node, now=at), BindWaits)


def passed(ledger: Ledger, at: float) -> tuple[Effect, ...]:
    return ledger.apply(on.TimePassed(), now=at)
