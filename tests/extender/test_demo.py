"""The demo, at speed: it serves, plays, answers while it plays, and leaves its page."""

import json
import re
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from extender import cli
from extender.demo import Demo, run_demo


def test_it_plays_the_day_and_answers_meanwhile(tmp_path: Path) -> None:
    lines: list[str] = []
    page = tmp_path / "page.html"
    seen: list[dict[str, object]] = []

    def ask() -> None:
        """Why does this report wait? Asked until the pod is there and waits."""
        until = time.monotonic() + 20
        while time.monotonic() < until and not seen:
            found = re.search(r"http://\S+/debug/pods/default/report-29", "\n".join(lines))
            if found:
                try:
                    with urllib.request.urlopen(found[0], timeout=5) as answer:  # noqa: S310
                        seen.append(json.load(answer))
                except urllib.error.HTTPError as error:
                    error.close()
            time.sleep(0.01)

    asking = threading.Thread(target=ask)
    asking.start()
    run_demo(Demo(3.0, page, 0, 0), lines.append)
    asking.join()
    told = "\n".join(lines)
    assert "24:00  root.tenants.analytics" in told
    assert "evicted from" in told
    assert "configuration refused" in told
    assert seen
    assert seen[0]["queue"] == "root.tenants.analytics"
    assert "two tenants" in page.read_text()


def test_it_says_when_a_port_is_taken(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments = ["demo", "--verbs-port", port, "--admin-port", "0", "--html", str(tmp_path / "p.html")]
        assert cli.main(arguments) == cli.FAILED
