"""ACT-7: the page of commands for administrators shows what a whole server answers to each of them."""

import re
from pathlib import Path
from typing import Any

import pytest

from extender.plugin.commands.closing import acted
from tests.extender.app_bench import kubeconfig, server, undone
from tests.extender.process.administration.test_actions import act, begun
from tests.extender.process.test_front_door import Stage, stage

__all__ = ["kubeconfig", "server", "stage", "undone"]

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "administer.md"
APP = {"application": "one", "namespace": "default"}
COMMANDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("close-queue root.a --reason upgrade --dry-run", {"action": "close", "queue": "root.a", "dryRun": True}),
    ("close-queue root.a --reason upgrade", {"action": "close", "queue": "root.a", "reason": "upgrade"}),
    ("open-queue root.a", {"action": "open", "queue": "root.a"}),
    ("open-queue root.none", {"action": "open", "queue": "root.none"}),
    ("move one root.b --dry-run", {"action": "move", **APP, "queue": "root.b", "dryRun": True}),
    ("move one root.b", {"action": "move", **APP, "queue": "root.b"}),
    ("move one root", {"action": "move", **APP, "queue": "root"}),
    ("end one --dry-run", {"action": "end", **APP, "dryRun": True}),
    ("end one --reason runaway", {"action": "end", **APP, "reason": "runaway"}),
    ("lift one", {"action": "lift", **APP}),
    ("lift none", {"action": "lift", **APP, "application": "none"}),
)
"""Commands of the page in their order, with the request of each."""

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Answered:
    """A server that has answered."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self._answer = answer

    def act(self, _body: bytes) -> dict[str, Any]:
        return self._answer


@pytest.mark.rule("ACT-7")
async def test_the_page_shows_what_each_command_prints(stage: Stage) -> None:
    for name, app in (("a", "one"), ("b", "two")):
        stage.server.pod(name, node="n1", app=app)
    await begun(stage, "root")
    shown = []
    for command, order in COMMANDS:
        status, answer = await act(stage, order)
        if status == 200:
            lines = [str(each) for each in acted(Answered(answer), order).parts]  # type: ignore[arg-type]
        else:
            lines = [f"kubectl paddock: {answer['message']}"]
        shown.append(TIME.sub("TIME", "\n".join([f"$ kubectl paddock {command}", *lines])))
    blocks = re.findall(r"```console\n(.*?)\n```", TIME.sub("TIME", PAGE.read_text()), re.DOTALL)
    found = [each for block in blocks for each in re.split(r"\n(?=\$ )", block)]
    assert found == shown
