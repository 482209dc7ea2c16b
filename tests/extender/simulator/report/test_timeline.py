"""The timeline as lines: columns, folding, the sum, and names that are harmless to a terminal."""

import re

import pytest

from extender.simulator.report.recording import Happening
from extender.simulator.report.timeline import summary, timeline, totals_of
from tests.extender.simulator.report.recordings import REFUSAL, five_pods, make_pod, make_recording


def refused(pod: str, *, at: int = 0, queue: str = "root.web", why: str = REFUSAL) -> Happening:
    return Happening(at, "refused", "QuotaExceeded", pod=pod, queue=queue, why=why, code="QuotaExceeded")


def lines_of(*entries: Happening, **options: int | bool) -> list[str]:
    """The lines below the head, their blanks made one."""
    recording = make_recording(timeline=entries, end=max((entry.at for entry in entries), default=0))
    return [re.sub(" +", " ", line) for line in list(timeline(recording, **options))[1:]]  # type: ignore[arg-type]


def test_a_run_reads_from_top_to_bottom_in_aligned_columns() -> None:
    lines = list(timeline(five_pods()))
    assert lines[0] == "TIME       POD                     QUEUE       WHAT"
    assert lines[1] == "00:00.000  web-0 … web-2 (3 pods)  root.web    submitted"
    assert lines[4] == f"00:00.000  web-2                   root.web    refused: {REFUSAL}"
    assert lines[5] == "00:06.000                                      node n2 added"
    assert "00:12.500  web-1                   root.web    preempted on n1: for batch-1 (LAW-4)" in lines


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(width: int) -> None:
    long = make_recording(
        timeline=(
            refused("a-pod-with-quite-a-long-name-of-its-own-5f7d9-x2x4q", queue="root.one.two.three.four"),
            *five_pods().timeline,
        )
    )
    lines = list(timeline(long, width=width))
    assert max(map(len, lines)) <= width
    joined = re.sub(r"\s", "", "".join(lines))
    for part in ("a-pod-with-", "x2x4q", "root.one.", "four", "Insufficient", "(LAW-4)"):
        assert part in joined


def test_a_row_that_does_not_fit_goes_on_in_its_own_column() -> None:
    lines = list(timeline(make_recording(timeline=(refused("web-0"), refused("db", why="short"))), width=60))
    column = lines[0].index("WHAT")
    assert lines[2].startswith(" " * column)
    assert lines[2][column] != " "


def test_many_pods_of_one_name_are_one_line() -> None:
    lines = lines_of(*(refused(f"web-{number}") for number in range(3, 213)))
    assert lines == [f"00:00.000 web-3 … web-212 (210 pods) root.web refused: {REFUSAL}"]


def test_others_between_them_do_not_hinder() -> None:
    mixed = [refused(f"{name}-{number}") for number in range(4) for name in ("web", "db")]
    assert [line.split(" refused")[0] for line in lines_of(*mixed)] == [
        "00:00.000 web-0 … web-3 (4 pods) root.web",
        "00:00.000 db-0 … db-3 (4 pods) root.web",
    ]


@pytest.mark.parametrize(
    "entries",
    [
        [refused("web-0"), refused("web-1")],
        [refused("web-0"), refused("web-1", at=1), refused("web-2", at=2)],
        [refused("web-0"), refused("db-1"), refused("cache-2")],
        [refused(f"web-{number}", why=f"QuotaExceeded: {number}") for number in range(3)],
        [refused(f"web-{number}", queue=f"root.q{number}") for number in range(3)],
    ],
    ids=["two", "other instants", "other names", "other reasons", "other queues"],
)
def test_what_differs_keeps_a_line_of_its_own(entries: list[Happening]) -> None:
    assert len(lines_of(*entries)) == len(entries)


def test_the_range_goes_by_number_and_counts_a_pod_once() -> None:
    (line,) = lines_of(*(refused(name) for name in ("web-10", "web-9", "web-2", "web-9")))
    assert line == f"00:00.000 web-2 … web-10 (3 pods) root.web refused: {REFUSAL} (4 times)"


def placed(pod: str, node: str) -> Happening:
    return Happening(0, "placed", f"placed on {node}", pod=pod, queue="root.web", node=node)


def test_placements_are_folded_only_when_they_are_many() -> None:
    few = [placed(f"web-{number}", f"n{number % 3}") for number in range(9)]
    assert len(lines_of(*few)) == 9
    assert lines_of(*few, placed("web-9", "n1")) == [
        "00:00.000 web-0 … web-9 (10 pods) root.web placed on 3 nodes"
    ]


def test_where_a_pod_ended_does_not_matter() -> None:
    ended = [Happening(0, "succeeded", "succeeded", pod=f"web-{each}", node=f"n{each}") for each in range(3)]
    assert lines_of(*ended) == ["00:00.000 web-0 … web-2 (3 pods) succeeded on 3 nodes"]


def test_what_is_no_refusal_keeps_its_place_between_others() -> None:
    def evicted(number: int) -> Happening:
        return Happening(0, "evicted", "evicted", pod=f"web-{number}", queue="root.web")

    entries = [evicted(0), evicted(1), evicted(2), placed("db-0", "n1"), evicted(3)]
    assert [line.split()[1] for line in lines_of(*entries)] == ["web-0", "db-0", "web-3"]


def test_a_code_and_a_node_are_said_once() -> None:
    entries = [
        Happening(0, "evicted", "evicted", pod="a", node="n1", why="for b"),
        Happening(0, "evicted", "evicted from n1", pod="b", node="n1"),
        Happening(0, "failed", "failed", pod="c", code="ReservationTimeout"),
    ]
    assert [line.split(" ", 2)[2] for line in lines_of(*entries)] == [
        "evicted on n1: for b",
        "evicted from n1",
        "failed: ReservationTimeout",
    ]


def test_a_hostile_name_cannot_rule_the_terminal() -> None:
    text = "\n".join(lines_of(refused("x\x1b]0;owned\x07\n", why="why\r\x1b[2J"), colour=False))
    assert "\x1b" not in text
    assert "\\x1b]0;owned\\x07" in text


def test_colour_is_there_only_when_asked_for_and_changes_no_text() -> None:
    plain = list(timeline(five_pods(), width=80))
    coloured = list(timeline(five_pods(), width=80, colour=True))
    assert "\x1b" not in "".join(plain)
    assert any("\x1b[33m" in line for line in coloured)
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in coloured] == plain


def test_nothing_happened() -> None:
    assert list(timeline(make_recording())) == ["TIME  POD  QUEUE  WHAT"]


def test_the_sum() -> None:
    assert summary(five_pods()) == "5 pods: 4 placed, 1 waiting, 1 eviction, 1 refusal in 00:30.000"


def test_a_pod_that_was_bound_and_deleted_was_placed_and_does_not_wait() -> None:
    pods = {
        "gone": make_pod(bound=1, gone=2),
        "deleted while pending": make_pod(gone=2),
        "failed": make_pod(phase="Failed"),
        "waits": make_pod(),
    }
    totals = totals_of(make_recording(pods=pods))
    assert (totals.pods, totals.placed, totals.waiting) == (4, 1, 1)


def test_placeholders_are_not_among_the_pods() -> None:
    pods = {"tg-0": make_pod(bound=1, placeholder=True), "tg-1": make_pod(placeholder=True), "m": make_pod()}
    totals = totals_of(make_recording(pods=pods))
    assert (totals.pods, totals.placed, totals.waiting) == (1, 0, 1)
