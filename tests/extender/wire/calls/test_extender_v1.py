"""The answer of prioritize on the wire: valid JSON with each node's score, for any names."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ids import NodeName
from extender.wire.calls.extender_v1 import BadBody, NodeRequest, node_request_from, priorities

names = st.text(st.sampled_from('",\\ab:{}[]\n\x00\x7fé') | st.characters(codec="utf-8"), max_size=6)


def asked(text: str, *, full: bool = False) -> NodeRequest:
    """A request with this JSON as its node list."""
    lists = f'"Nodes":{text},"NodeNames":null' if full else f'"Nodes":null,"NodeNames":{text}'
    return node_request_from(f'{{"Pod":{{"metadata":{{"uid":"u"}}}},{lists}}}'.encode())


def answered(request: NodeRequest, score: int = 3) -> list[dict[str, object]]:
    """The scores of all names of a request, by name."""
    found = priorities([(score, sorted(request.node_name_set()))], plain=request.is_plain)
    listed: list[dict[str, object]] = json.loads(found)
    return listed


@given(offered=st.lists(names, min_size=1, max_size=5), escapes=st.booleans(), full=st.booleans())
def test_whatever_the_names_are(offered: list[str], escapes: bool, full: bool) -> None:
    nodes = {"items": [{"metadata": {"name": name}} for name in offered]} if full else offered
    request = asked(json.dumps(nodes, ensure_ascii=escapes), full=full)
    assert request.node_name_set() == set(offered)
    assert answered(request) == [{"Host": name, "Score": 3} for name in sorted(set(offered))]


@given(bands=st.lists(st.tuples(st.integers(0, 10), st.lists(names, max_size=5))))
def test_bands_keep_their_order(bands: list[tuple[int, list[NodeName]]]) -> None:
    expected = [{"Host": name, "Score": score} for score, band in bands for name in band]
    assert json.loads(priorities(bands, plain=False)) == expected


@pytest.mark.parametrize("name", ['x",', '","', '","Score":9},{"Host":"x', "\\", ""])
def test_names_that_look_like_the_answer(name: str) -> None:
    """Nodes cannot have such names, but requests can."""
    found = answered(asked(json.dumps(["n1", name, "n2"])))
    assert [each["Host"] for each in found] == sorted(["n1", name, "n2"])


@pytest.mark.parametrize("character", ["\n", "\x00", "\x1f", '"'])
def test_what_json_must_escape_is_refused_without_an_escape(character: str) -> None:
    """So a list without a backslash has only names that need none."""
    with pytest.raises(BadBody):
        asked(f'["n{character}1"]').node_name_set()


def test_real_names_are_plain() -> None:
    assert asked('["n1","node-2.example"]').is_plain
    assert not asked('["n1","\\u006e2"]').is_plain
    assert asked('{"items":[{"metadata":{"name":"n1"}}]}', full=True).is_plain


def test_no_node_is_an_empty_list() -> None:
    for plain in (True, False):
        assert priorities([], plain=plain) == priorities([(10, [])], plain=plain) == b"[]"
