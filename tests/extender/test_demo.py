"""The demo at high speed: it serves, simulates, answers meanwhile, and leaves its page."""

import json
import re
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from extender import cli
from extender.demo import DAY, Demo, run_demo
from tests.extender.telemetry.yunikorn.reading import Read, read

COUNTERS = (
    "paddock_decisions_total",
    "paddock_verb_seconds_count",
    "paddock_leading",
    "yunikorn_queue_resource",
    "yunikorn_scheduler_application_submission_total",
    "yunikorn_scheduler_container_allocation_attempt_total",
    "yunikorn_scheduler_scheduling_latency_milliseconds_count",
    "yunikorn_scheduler_trynode_latency_milliseconds_sum",
)
"""Series that rise above 0 during the day."""


def still_zero(found: Read) -> list[str]:
    """The names of `COUNTERS` whose samples are all 0."""
    return [name for name in COUNTERS if found.total(name) == 0]


def _fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310
        found: bytes = answer.read()
        return found


def test_it_plays_the_day_and_answers_meanwhile(tmp_path: Path) -> None:
    lines: list[str] = []
    page = tmp_path / "page.html"
    seen: list[dict[str, object]] = []
    counted: list[Read] = []

    def ask() -> None:
        """Request the pod's story and the metrics until both are available."""
        until = time.monotonic() + 100
        while time.monotonic() < until and not (seen and counted and not still_zero(counted[-1])):
            found = re.search(r"(http://\S+)/debug/pods/default/nightly-23", "\n".join(lines))
            if found:
                try:
                    if not seen:
                        seen.append(json.loads(_fetched(found[0])))
                    counted.append(read(_fetched(f"{found[1]}/metrics")))
                except urllib.error.URLError as error:
                    if isinstance(error, urllib.error.HTTPError):
                        error.close()
            time.sleep(0.25 if seen else 0.01)

    asking = threading.Thread(target=ask)
    asking.start()
    run_demo(Demo(3.0, page, 0, 0), lines.append)
    asking.join()
    output = "\n".join(lines)
    assert "24:00  root.tenants.analytics" in output
    assert "evicted from" in output
    assert "configuration refused" in output
    assert seen
    assert seen[0]["queue"] == "root.tenants.analytics"
    assert still_zero(counted[-1]) == []
    text = page.read_text()
    assert "two tenants" in text


def test_e7_counts_and_hints_are_right(tmp_path: Path) -> None:
    lines: list[str] = []
    page, answers = tmp_path / "page.html", []

    def say(line: str) -> None:
        """Follow the hint when the day prints its first event."""
        lines.append(line)
        hint = re.search(r"http://\S+/debug/pods/\S+", "\n".join(lines))
        if line.startswith("00:00") and hint:
            threading.Thread(target=lambda: answers.append(_status(hint[0]))).start()

    run_demo(Demo(2.0, page, 0, 0), say)
    refusals = re.search(r"(\d+) refusals", "\n".join(lines))
    on_page = re.search(r'"refusals":(\d+)', page.read_text())
    assert refusals is not None
    assert on_page is not None
    assert int(refusals[1]) == int(on_page[1]) > 0
    assert answers == [200]


def test_e8_the_page_tells_nothing_of_its_author(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    lines: list[str] = []
    run_demo(Demo(0.5, page, 0, 0), lines.append)
    assert '"file":"two-tenant-day.yaml"' in page.read_text()
    assert "two-tenant-day.yaml: A day of two tenants" in "\n".join(lines)
    assert str(DAY.parent) not in "\n".join(lines)


def _status(url: str) -> int:
    """Status of the first answer that is no 404, or of the last try within a second."""
    until = time.monotonic() + 1.0
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            if time.monotonic() > until:
                return error.code
        time.sleep(0.005)


def test_it_says_when_a_port_is_taken(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments = ["demo", "--verbs-port", port, "--admin-port", "0", "--html", str(tmp_path / "p.html")]
        assert cli.main(arguments) == cli.FAILED
