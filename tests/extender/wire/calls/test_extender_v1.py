"""The answer of prioritize on the wire: valid JSON with each node's score, for any names."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ids import NodeName
from extender.wire.calls.extender_v1 import priorities

names = st.text(st.sampled_from('",\\ab:{}[]\n\x00\x7fé') | st.characters(codec="utf-8"), max_size=6)


@given(bands=st.lists(st.tuples(st.integers(0, 10), st.lists(names, max_size=5))))
def test_whatever_the_names_are(bands: list[tuple[int, list[NodeName]]]) -> None:
    expected = [{"Host": name, "Score": score} for score, band in bands for name in band]
    assert json.loads(priorities(bands)) == expected


@pytest.mark.parametrize("name", ['x",', '","', '","Score":9},{"Host":"x', "\\", ""])
def test_names_that_look_like_the_answer(name: str) -> None:
    """Nodes cannot have such names, but requests can."""
    band = [NodeName("n1"), NodeName(name), NodeName("n2")]
    assert [each["Host"] for each in json.loads(priorities([(3, band)]))] == band


def test_no_node_is_an_empty_list() -> None:
    assert priorities([]) == priorities([(10, [])]) == b"[]"
