"""JSON with line breaks, from pieces that are cut anywhere."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.rest.indented import AT_ONCE, indented

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def cut(text: bytes, places: list[int]) -> Iterator[bytes]:
    ends = sorted(each % (len(text) + 1) for each in places)
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        yield text[start:end]


@pytest.mark.rule("REST-14")
@settings(deadline=None, derandomize=True)
@given(value=VALUES, places=st.lists(st.integers(0, 10**4), max_size=8), ascii_only=st.booleans())
def test_it_is_what_json_writes(value: object, places: list[int], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    found = b"".join(indented(cut(text, places)))
    assert found.decode() == json.dumps(value, indent=2, ensure_ascii=ascii_only) + "\n"


def test_a_long_value_is_written_in_steps() -> None:
    text = json.dumps([{"a": "x" * 100}] * 1000).encode()
    assert max(len(each) for each in indented([text])) < 2 * AT_ONCE
