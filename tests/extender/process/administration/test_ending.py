"""ACT-20 to ACT-24: applications that administrators end, against a whole server and a fake API server."""

import json
from typing import Any

import pytest

from extender.actions.stored import CONFIG_MAP, KEY
from tests.extender.app_bench import CONFIG_MAPS, kubeconfig, server, undone
from tests.extender.process.administration.test_actions import act, audit, begun, events
from tests.extender.process.test_front_door import Stage, stage
from tests.extender.reflector_bench import until

__all__ = ["kubeconfig", "server", "stage", "undone"]

END = {"action": "end", "application": "one", "namespace": "default", "reason": "runaway"}
LIFT = {"action": "lift", "application": "one", "namespace": "default"}


def stored(stage: Stage) -> list[Any]:
    found = stage.server.api.find(CONFIG_MAPS, CONFIG_MAP, "paddock-system")
    return json.loads(found["data"][KEY])["endedApplications"] if found else []


def evicted(stage: Stage) -> list[str]:
    """Names of the pods whose eviction was requested, in order."""
    paths = [each.path for each in stage.server.api.requests if each.path.endswith("/eviction")]
    return [path.split("/")[-2] for path in paths]


async def running(stage: Stage, *rights: str, **overrides: Any) -> None:
    """Start with two applications of one running pod each."""
    stage.server.pod("a", node="n1", app="one")
    stage.server.pod("b", node="n1", app="two")
    await begun(stage, *rights, **overrides)


@pytest.mark.rule("ACT-20", "ACT-21", "ACT-22")
async def test_an_application_is_ended_and_its_bar_lifted(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    await running(stage, "root.a")
    status, answer = await act(stage, {**END, "dryRun": True})
    assert (status, answer["changed"], answer["pods"], stored(stage)) == (200, True, ["default/a"], [])
    assert evicted(stage) == []
    status, answer = await act(stage, {**END, "bar": 300})
    assert (status, answer["queue"], answer["controllers"], answer["left"]) == (200, "root.a", [], [])
    assert answer["message"].startswith("default/one is ended (1 pod), and its id is barred until ")
    await until(lambda: evicted(stage) == ["a"])
    (entry,) = stored(stage)
    assert (entry["application"], entry["by"], entry["queue"], entry["reason"]) == (
        "one",
        "alice",
        "root.a",
        "runaway",
    )
    status, answer = await act(stage, {**END, "bar": 300})
    assert (status, answer["changed"], evicted(stage)) == (200, False, ["a"])
    assert stored(stage) == [entry]
    assert (await act(stage, LIFT))[1]["message"] == "default/one is barred no more"
    assert (await act(stage, LIFT))[1]["changed"] is False
    lines = audit(capsys)
    assert [(each["action"], each["target"], each["result"]) for each in lines] == [
        ("end", "default/one", "changed"),
        ("end", "default/one", "changed"),
        ("end", "default/one", "unchanged"),
        ("lift", "default/one", "changed"),
        ("lift", "default/one", "unchanged"),
    ]
    await until(lambda: {"ApplicationEnded", "BarLifted"} <= {reason for reason, _ in events(stage)})


@pytest.mark.rule("ACT-20")
@pytest.mark.parametrize(
    ("asked", "right", "status"),
    [
        (END, "root.b", 403),
        (END | {"application": "none"}, "root.a", 403),
        (END | {"application": "none"}, "root", 404),
        (END | {"namespace": "elsewhere"}, "root", 404),
        (LIFT, "root", 404),
        (END | {"bar": -1}, "root", 400),
        (END | {"bar": "10m"}, "root", 400),
        (END | {"namespace": "a/b"}, "root", 400),
        (END | {"queue": "root.a"}, "root", 400),
        (END, "root", 200),
    ],
)
async def test_the_right_it_needs(stage: Stage, asked: dict[str, Any], right: str, status: int) -> None:
    """The right is that to the application's queue, or to the root for an unknown application."""
    await running(stage, right)
    assert (await act(stage, asked))[0] == status
    assert len(stored(stage)) == (status == 200)


@pytest.mark.rule("ACT-24")
async def test_the_application_of_a_whole_namespace_needs_a_word_more(stage: Stage) -> None:
    stage.server.pod("c", node="n1", app="yunikorn-default-autogen")
    await running(stage, "root.a")
    asked = END | {"application": "yunikorn-default-autogen"}
    status, answer = await act(stage, asked)
    assert (status, "generated" in answer["message"], stored(stage)) == (409, True, [])
    assert (await act(stage, {**asked, "generated": True}))[1]["pods"] == ["default/c"]
    await until(lambda: evicted(stage) == ["c"])


@pytest.mark.rule("ACT-3", "ACT-20")
async def test_nothing_is_ended_before_the_order_is_stored(stage: Stage) -> None:
    await running(stage, "root.a")
    for _ in range(20):
        stage.server.api.fail_next(500, method="POST", path="/configmaps")
    assert (await act(stage, END))[0] == 503
    assert (stored(stage), evicted(stage)) == ([], [])


@pytest.mark.rule("ACT-20", "ACT-5")
async def test_a_process_that_ended_after_the_commit_goes_on_at_its_next_start(stage: Stage) -> None:
    times = dict.fromkeys(("since", "through"), "2026-01-01T00:00:00Z") | {"until": "2026-01-01T00:10:00Z"}
    entry = {"namespace": "default", "application": "one", "by": "ann", "queue": "root.a", **times}
    entry["through"] = "2100-01-01T00:00:00Z"
    entry["until"] = "2100-01-01T00:00:00Z"
    text = json.dumps({"version": 2, "endedApplications": [entry]})
    meta = {"name": CONFIG_MAP, "namespace": "paddock-system"}
    stage.server.api.apply(CONFIG_MAPS, {"metadata": meta, "data": {KEY: text}})
    await running(stage)
    await until(lambda: evicted(stage) == ["a"])


@pytest.mark.rule("ACT-4")
async def test_no_application_is_ended_while_the_store_is_full(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extender.actions.stored.MOST_ENTRIES", 0)
    await running(stage, "root.a")
    assert (await act(stage, END))[0] == 409
    assert evicted(stage) == []
