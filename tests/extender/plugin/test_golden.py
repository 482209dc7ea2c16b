"""Output of every command, as golden files. Set ``PADDOCK_WRITE_GOLDEN`` to write them anew."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extender.plugin.answering import BIDI, HOSTILE, NOW, Fixed, answering, played_kubectl, run

GOLDEN = Path(__file__).parent / "golden"

CASES = {
    "queues": ("queues",),
    "queues-wide": ("queues", "-o", "wide", "--flat"),
    "queues-name": ("queues", "-o", "name"),
    "queues-raw": ("queues", "--units", "raw", "--no-headers"),
    "queue": ("queue", "root.a"),
    "apps": ("apps",),
    "apps-wide": ("apps", "-o", "wide"),
    "apps-json": ("apps", "-o", "json"),
    "apps-yaml": ("apps", "-o", "yaml"),
    "apps-jsonpath": ("apps", "-o", 'jsonpath={.items[*].applicationID}{"\\n"}'),
    "app": ("app", "spark-1"),
    "app-hostile": ("app", "-n", "default", "\x1b]0;x\x07[red]"),
    "pods": ("pods",),
    "explain": ("explain", "waiting", "-n", "default"),
    "users": ("users",),
    "groups": ("groups",),
    "nodes": ("nodes",),
    "events": ("events",),
    "preemptions": ("preemptions",),
    "config": ("config",),
    "check": ("check", "-f", os.devnull),
    "simulate": ("simulate", "-f", str(Path(__file__).parent / "job.json"), "-q", "root.a"),
    "status": ("status",),
    "version": ("version", "-o", "jsonpath={.server} {.started}"),
    "wait": ("wait", "app/spark-1"),
    "unknown": ("queue", "root.none"),
}
"""Arguments by the name of the golden file."""


def done(action: str, message: str, *, changed: bool = True, dry: bool = False) -> dict[str, Any]:
    return {
        "kind": "Action",
        "apiVersion": "paddock.dev/v1alpha1",
        "action": action,
        "queue": "root.a",
        "changed": changed,
        "dryRun": dry,
        "message": message,
    }


def ended(message: str, *, dry: bool = False) -> dict[str, Any]:
    pods = {
        "pods": [f"team/{HOSTILE}", "team/two"],
        "left": ["team/agent"],
        "controllers": [f"Job.batch/{BIDI}"],
    }
    return done("end", message, dry=dry) | {"application": "spark-1", "namespace": "team"} | pods


def moved(message: str, *, dry: bool = False) -> dict[str, Any]:
    more = {
        "source": "root.a",
        "pods": [f"team/{HOSTILE}", "team/two"],
        "changes": ["root.b has 4 vcore guaranteed and holds 1, then 3"],
    }
    return done("move", message, dry=dry) | {"application": "spark-1", "namespace": "team"} | more


REFUSED = "Error from server (Forbidden): the caller may not do this"
ACTIONS = {
    "close-queue": (
        ("close-queue", "root.A", "--reason", HOSTILE, "--until", "2027-01-31T18:00:00+01:00"),
        {"queue": "root.A", "reason": HOSTILE, "until": "2027-01-31T18:00:00+01:00"},
        done("close", "root.a is closed"),
    ),
    "close-queue-dry": (
        ("close-queue", "root.a", "--dry-run"),
        {"queue": "root.a", "dryRun": True},
        done("close", "root.a would be closed", dry=True),
    ),
    "close-queue-json": (
        ("close-queue", "root.a", "-o", "json"),
        {"queue": "root.a"},
        done("close", "root.a is closed already", changed=False),
    ),
    "close-queue-refused": (("close-queue", "root.a"), {"queue": "root.a"}, REFUSED),
    "end": (
        ("end", "spark-1", "-n", "team", "--reason", "runaway", "--bar", "5m", "--force"),
        {"application": "spark-1", "namespace": "team", "bar": 300, "reason": "runaway", "force": True},
        ended("team/spark-1 is ended (2 pods), and its id is barred until 2027-01-15T08:05:00Z"),
    ),
    "end-generated-dry": (
        ("end", "spark-1", "-n", "team", "--generated", "--dry-run"),
        {"application": "spark-1", "namespace": "team", "bar": 600, "generated": True, "dryRun": True},
        ended("team/spark-1 would be ended (2 pods)", dry=True),
    ),
    "end-name": (
        ("end", "spark-1", "-n", "team", "-o", "name"),
        {"application": "spark-1", "namespace": "team", "bar": 600},
        ended("team/spark-1 is ended (2 pods)"),
    ),
    "lift": (
        ("lift", "spark-1", "-n", "team"),
        {"application": "spark-1", "namespace": "team"},
        done("lift", "team/spark-1 is barred no more") | {"application": "spark-1"},
    ),
    "move": (
        ("move", "spark-1", "root.B", "-n", "team", "--reason", HOSTILE),
        {"application": "spark-1", "namespace": "team", "queue": "root.B", "reason": HOSTILE},
        moved("team/spark-1 is moved from root.a to root.b (2 pods)"),
    ),
    "move-generated-dry": (
        ("move", "spark-1", "root.b", "-n", "team", "--generated", "--dry-run"),
        {"application": "spark-1", "namespace": "team", "queue": "root.b", "generated": True, "dryRun": True},
        moved("team/spark-1 would be moved from root.a to root.b (2 pods)", dry=True),
    ),
    "move-refused": (
        ("move", "spark-1", "root.b", "-n", "team"),
        {"application": "spark-1", "namespace": "team", "queue": "root.b"},
        "Error from server (Conflict): Busy: pod team/two is being bound",
    ),
    "close-queue-hostile": (
        ("close-queue", "root.a"),
        {"queue": "root.a"},
        done("close", f"{HOSTILE} {BIDI}"),
    ),
    "open-queue": (("open-queue", "root.a"), {"queue": "root.a"}, done("open", "root.a is open")),
    "open-queue-name": (
        ("open-queue", "root.a", "-o", "name"),
        {"queue": "root.a"},
        done("open", "root.a is open, but root above it is closed"),
    ),
}
"""Arguments, what is sent beside the action, and the answer, by the name of the golden file."""


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fixed]:
    monkeypatch.setattr(time, "time", lambda: float(NOW))
    with answering() as found:
        yield found


@pytest.mark.parametrize("name", CASES)
def test_the_output_is_the_golden_one(fixed: Fixed, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = run(capsys, *CASES[name], "--server", fixed.url)
    check_golden(name, code, out, err)


def check_golden(name: str, code: int, out: str, err: str) -> None:
    shown = f"exit {code}\n-- stdout\n{out}-- stderr\n{err}"
    path = GOLDEN / f"{name}.txt"
    if "PADDOCK_WRITE_GOLDEN" in os.environ:
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_sent_by_kubectl_and_its_answer_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    arguments, order, answer = ACTIONS[name]
    monkeypatch.setenv("KUBECTL", str(played_kubectl(tmp_path, answer)))
    code, out, err = run(capsys, *arguments, "--as", "ann")
    check_golden(name, code, out, err)
    assert_plain(out, err, wide=name.endswith("-json"))
    kubectl, body = json.loads((tmp_path / "sent").read_text())
    assert kubectl == ["--as=ann", "create", "--raw", "/apis/paddock.dev/v1alpha1/actions", "-f", "-"]
    assert body == {"action": arguments[0].removesuffix("-queue"), "dryRun": False} | order


def assert_plain(*texts: str, wide: bool) -> None:
    """Fail for output that can steer a terminal or is too wide. ``wide``: its width is not bounded."""
    for line in "\n".join(texts).split("\n"):
        assert line.isascii()
        assert line.isprintable()
        assert wide or len(line) <= 80


@pytest.mark.parametrize("name", CASES)
def test_no_output_can_steer_a_terminal_or_is_wider_than_80_columns(
    fixed: Fixed, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    _, out, err = run(capsys, *CASES[name], "--server", fixed.url)
    assert_plain(out, err, wide=name.endswith(("-wide", "-json", "-yaml")))


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {each.stem for each in GOLDEN.iterdir()} == {*CASES, *ACTIONS}
