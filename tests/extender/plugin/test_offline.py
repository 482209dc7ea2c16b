"""Commands without a server, and a stream of events for programs."""

import json
from pathlib import Path

import pytest

from extender.plugin.commands import cluster
from tests.extender.plugin.answering import ANSWERS, answering, run

_DOCUMENT = """partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: a
      resources:
        max: {{vcore: "{cpu}", "x\\e[31m": 1}}
"""


def test_two_documents_are_compared_without_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECTL", "no-such-program")
    files = [tmp_path / "new.yaml", tmp_path / "old.yaml"]
    for file, cpu in zip(files, (2, 1), strict=True):
        file.write_text(_DOCUMENT.format(cpu=cpu))
    code, out, err = run(capsys, "diff", "-f", str(files[0]), "--against", str(files[1]))
    assert (code, err) == (0, "")
    changed = [line for line in out.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert len(changed) == 2
    assert changed[0].endswith("resources.max.vcore: 1")
    assert changed[1].endswith("resources.max.vcore: 2")
    assert "\x1b" not in out


def test_followed_events_are_one_a_line_without_gaps_or_duplicates(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process restarts once, so that its ids begin again."""
    path = "/ws/v1/events/batch"
    batches = [
        _batch("one", 0, 0, []),
        _batch("one", 0, 2, ["a", "b"]),
        _batch("one", 0, 3, ["c"]),
        _batch("two", 0, 0, []),
        _batch("two", 0, 1, ["d"]),
    ]
    answers = {**ANSWERS, path: batches.pop(0)}

    def next_batch(_seconds: float) -> None:
        if not batches:
            raise KeyboardInterrupt
        answers[path] = batches.pop(0)

    monkeypatch.setattr(cluster.time, "sleep", next_batch)
    with answering(answers) as fixed:
        code, out, _ = run(capsys, "events", "-f", "-o", "json", "--last=0", "--server", fixed.url)
    assert code == 130
    assert [json.loads(line)["objectID"] for line in out.splitlines()] == ["a", "b", "c", "d"]


def _batch(instance: str, lowest: int, highest: int, names: list[str]) -> dict[str, object]:
    records = [{"type": 2, "objectID": each, "message": "added", "timestampNano": 0} for each in names]
    return {"InstanceUUID": instance, "LowestID": lowest, "HighestID": highest, "EventRecords": records}
