"""ACT-6: the counters of actions equal the lines of the audit log, for every action and every result."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from extender.actions.stored import CONFIG_MAP
from tests.extender.app_bench import document, kubeconfig, server, undone
from tests.extender.process.administration.test_actions import (
    CLOSE,
    OPEN,
    act,
    audit,
    begun,
    status_of,
    stored,
)
from tests.extender.process.administration.test_configuring import AFTER, NAME, RIGHT, send
from tests.extender.process.test_front_door import ALICE, Stage, stage

__all__ = ["kubeconfig", "server", "stage", "undone"]

MOVE = {"action": "move", "application": "one", "namespace": "default", "queue": "root.b"}
END = {"action": "end", "application": "two", "namespace": "default", "bar": 60}
LIFT = {"action": "lift", "application": "two", "namespace": "default"}
BOB = {"X-Remote-User": "bob", "X-Remote-Group": "others"}
"""User with the right to send actions, and to none of them."""

Sent = Callable[[Stage], Awaitable[int]]


def acted(asked: Any, headers: dict[str, str] = ALICE) -> Sent:
    """An action that a user sends. Its result is the status of the answer."""

    async def sent(stage: Stage) -> int:
        return (await act(stage, asked, headers))[0]

    return sent


def wrote(body: str, query: str = "", headers: dict[str, str] | None = None) -> Sent:
    """A queue document that a user sends. Its result is the status of the answer."""

    async def sent(stage: Stage) -> int:
        return (await send(stage, body, query, headers))[0]

    return sent


ORDERS = (CLOSE, OPEN, MOVE, END, LIFT)
ONCE: tuple[Sent, ...] = (
    *(acted(each) for order in ORDERS for each in (order | {"dryRun": True}, order, order)),
    *(acted(order, BOB) for order in ORDERS),
    *(wrote(AFTER, "?dryRun=All"), wrote(AFTER), wrote(AFTER), wrote(AFTER, headers=BOB)),
)
"""Requests by which each action is carried out, then changes nothing, then is refused."""

ANY: tuple[Sent, ...] = (
    *ONCE,
    *(
        acted(CLOSE | {"reason": "other"}),
        acted(CLOSE | {"queue": "root.none"}),
        acted(OPEN | {"queue": "root"}),
    ),
    *(acted(CLOSE | {"queue": "root.b"}), acted(CLOSE | {"until": "2020-01-01T00:00:00Z"})),
    *(
        acted(MOVE | {"queue": "root.a"}),
        acted(MOVE | {"queue": "root"}),
        acted(MOVE | {"application": "none"}),
    ),
    *(acted(END | {"application": "three"}), acted(END | {"force": True}), acted(END | {"bar": -1})),
    *(acted(LIFT | {"application": "three"}), acted(LIFT | {"application": "none"})),
    *(
        acted(b"{"),
        acted({"action": "format"}),
        acted(b"x" * 20_000),
        acted(CLOSE, BOB | {"Audit-ID": "x y"}),
    ),
    *(wrote(document()), wrote("partitions: []"), wrote(AFTER, "?resourceVersion=1"), wrote("{")),
)
"""Requests that change something, change nothing, or are refused for any reason."""


@pytest.mark.rule("ACT-3", "ACT-6", "ACT-55")
@pytest.mark.parametrize("seed", range(3))
async def test_the_counters_equal_the_audit_log_in_any_order(
    stage: Stage, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """Several at a time, with a reload, a lost answer of the API server, and writes of another."""
    for name in ("one", "two", "three"):
        stage.server.pod(name, node="n1", app=name)
    users = {("bob", "create", "actions"), ("bob", "update", "ws/config"), ("alice", "update", "ws/config")}
    stage.played.rights |= users | {RIGHT}
    await begun(stage, "root.a", "root.b", "root.none", admin_config="true")
    statuses = [await each(stage) for each in ONCE]
    lines = audit(capsys)
    actions = {"close", "open", "move", "end", "lift", "configure"}
    assert {(each["action"], each["result"]) for each in lines} == set(
        product(actions, ("changed", "unchanged", "refused"))
    )
    picked = random.Random(seed)
    left = picked.sample(ANY, len(ANY))
    for turn in range((len(ANY) + 2) // 3):
        if turn == 4:
            settings = {"paddock__admin__enabled": "true", "paddock__admin__config": "true"}
            stage.server.configure(document() + "# edited\n", **settings)
        if turn == 8:
            for name in (CONFIG_MAP, NAME):
                stage.server.api.lose_next_reply(method="PATCH", path=name)
        several, left = left[:3], left[3:]
        statuses += await asyncio.gather(*(each(stage) for each in several))
    lines += audit(capsys)
    assert Counter(each["status"] for each in lines) == Counter(statuses)
    assert await counted(stage) == Counter((each["action"], each["result"]) for each in lines)
    # What the queue shows is what is stored.
    closed = [each["queue"] for each in stored(stage)]
    assert await status_of(stage) == ("Draining" if "root.a" in closed else "Active")


async def counted(stage: Stage) -> dict[tuple[str, str], int]:
    """Values of the counter, by action and result."""
    _, metrics = await stage.server.get("/metrics")
    return {
        (each.labels["action"], each.labels["result"]): int(each.value)
        for family in text_string_to_metric_families(metrics)
        for each in family.samples
        if each.name == "paddock_actions_total"
    }
