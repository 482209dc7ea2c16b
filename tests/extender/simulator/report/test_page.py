"""The page as text: its contents, and escaping of everything in a recording."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from extender.simulator.report.page import page_of
from extender.simulator.report.recording import (
    Difference,
    Happening,
    NodeHistory,
    QueueHistory,
    Recording,
    Stay,
)
from tests.extender.simulator.report.recordings import (
    five_pods,
    large,
    make_history,
    make_pod,
    make_recording,
    make_sample,
)

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028\x1b'\"&${name}$style"


class Parsed(HTMLParser):
    """The elements of a page, and the text of its styles and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style", "title", "h1"):
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    @property
    def data(self) -> Any:
        return json.loads(self.texts["script"][0])

    @property
    def policy(self) -> str:
        return next(
            str(attributes["content"])
            for tag, attributes in self.elements
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        )


def hostile() -> Recording:
    return make_recording(
        name=HOSTILE,
        file=HOSTILE,
        timeline=(
            Happening(
                0, "refused", HOSTILE, pod=HOSTILE, queue=HOSTILE, node=HOSTILE, why=HOSTILE, code=HOSTILE
            ),
        ),
        queues=(make_history(HOSTILE, make_sample(used={HOSTILE: 1})),),
        nodes=(
            NodeHistory(HOSTILE, {HOSTILE: 1}, 0, None, (Stay(HOSTILE, HOSTILE, {HOSTILE: 1}, 0, None),)),
        ),
        pods={HOSTILE: make_pod(HOSTILE, message=HOSTILE)},
    )


def test_a_hostile_recording_adds_no_element() -> None:
    plain, attacked = Parsed(page_of(five_pods())), Parsed(page_of(hostile()))
    assert [tag for tag, _ in attacked.elements] == [tag for tag, _ in plain.elements]
    assert attacked.texts["script"][1] == plain.texts["script"][1]
    assert attacked.texts["style"] == plain.texts["style"]


def test_a_hostile_name_is_shown_as_it_is_but_for_control_characters() -> None:
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\u2028", "\\u2028")
    parsed = Parsed(page_of(hostile()))
    assert parsed.texts["h1"] == [shown]
    assert parsed.data["queues"][0]["path"] == shown
    assert parsed.data["nodes"][0]["name"] == shown


def test_the_data_cannot_end_its_element() -> None:
    page = page_of(hostile())
    data = page[page.index('id="recording">') : page.rindex("<script>")]
    assert data.count("<") == 1
    assert page.isascii()


def test_the_policy_lets_only_the_pages_own_style_and_script_run() -> None:
    parsed = Parsed(page_of(five_pods()))
    for name, text in (("script-src", parsed.texts["script"][1]), ("style-src", parsed.texts["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in parsed.policy
    assert "default-src 'none'" in parsed.policy
    assert "unsafe" not in parsed.policy


def test_nothing_is_fetched_and_no_attribute_runs_a_script() -> None:
    parsed = Parsed(page_of(five_pods()))
    for tag, attributes in parsed.elements:
        assert not any(name.startswith("on") or name in ("src", "style") for name in attributes), tag
        assert attributes.get("href", "data:,") == "data:,"
    script = parsed.texts["script"][1]
    assert not re.search(
        r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|fetch|XMLHttpRequest)\b", script
    )
    assert not re.search(r"https?://", page_of(five_pods()))


def test_the_data_tells_values_only_where_they_change() -> None:
    web = Parsed(page_of(five_pods())).data["queues"][1]
    assert web["usage"]["vcore"] == [[0, 12_500, 24_000], [2000, 1000, 1000], [1000, 2000, 1000]]
    assert web["bounds"]["vcore"] == [[0], [1000], [2000]]


def test_no_bound_and_a_bound_of_zero_differ() -> None:
    history = make_history(
        "root", make_sample(0, max={"vcore": 0}), make_sample(5, max=None, used={"vcore": 1})
    )
    queue = Parsed(page_of(make_recording(queues=(history,)))).data["queues"][0]
    assert queue["bounds"]["vcore"] == [[0, 5], [None, None], [0, None]]


def test_a_recording_of_nothing_still_is_a_page() -> None:
    empty = Parsed(page_of(make_recording(queues=(QueueHistory("root", False, ()),))))
    assert empty.data["resources"] == [{"name": "vcore", "unit": "cores"}]
    assert empty.data["queues"][0]["usage"] == {}


@pytest.mark.parametrize("make", [five_pods, lambda: large(400, 20, 12)])
def test_the_same_recording_gives_the_same_bytes(make: Any) -> None:
    assert page_of(make()) == page_of(make())


def test_five_thousand_pods_are_a_page_of_a_few_megabytes() -> None:
    recording = large()
    assert (len(recording.pods), len(recording.nodes), len(recording.queues)) == (5000, 500, 200)
    assert len(page_of(recording)) < 4_000_000


def test_differences_are_made_printable() -> None:
    strange = Difference("pods.a\u202eb", 0, 1, "x\x1b[2J", "y\u2028", ("line\x07",))
    page = Parsed(page_of(make_recording(differences=(strange,))))
    (shown,) = page.data["differences"]
    texts = [shown["entry"], shown["expected"], shown["actual"], *shown["story"]]
    assert texts == ["pods.a\\u202eb", "x\\x1b[2J", "y\\u2028", "line\\x07"]
