"""Bytes that arrive in any pieces become the same lines."""

from hypothesis import given
from hypothesis import strategies as st

from extender.kube.connection.lines import Lines


@given(st.lists(st.text("ab\n", max_size=8).map(str.encode)))
def test_any_pieces_give_the_lines_of_the_whole(pieces: list[bytes]) -> None:
    lines = Lines()
    found = [line for piece in pieces for line in lines.take(piece)]
    *whole, rest = b"".join(pieces).split(b"\n")
    assert found == [line for line in whole if line]
    assert lines.unfinished == len(rest)
