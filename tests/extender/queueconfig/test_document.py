"""YAML in queue documents: the allowed parts, and clear errors for hostile texts."""

import pytest

from extender.queueconfig.document import LONG_TEXT, MAX_BYTES, MAX_DEPTH, MAX_NODES
from extender.queueconfig.load import check_document, load_document
from extender.queueconfig.parsing import MAX_QUEUES


def only_problem(text: str | bytes) -> str:
    (problem,) = check_document(text)
    assert problem.rule == "CFG-2"
    return problem.message


def nested_queues(levels: int) -> str:
    """Nested queues. With the two lists at the top these are 2 * levels + 2 levels of YAML."""
    text = "[]"
    for _ in range(levels):
        text = f"[{{name: a, queues: {text}}}]"
    return f"partitions: [{{queues: {text}}}]"


@pytest.mark.rule("CFG-2", verdict="rejected")
def test_a_repeated_key_rejects_and_the_rest_is_still_checked() -> None:
    queue = "  - name: a\n    name: b c\n    resources: {max: {vcore: 1, vcore: x}}\n"
    text = f"partitions:\n- queues:\n{queue}  queues:\n"
    problems = [(problem.rule, problem.path, problem.line) for problem in check_document(text)]
    assert problems == [
        ("CFG-2", "partitions[0].queues[0].name", 4),
        ("CFG-2", "partitions[0].queues[0].resources.max.vcore", 5),
        ("CFG-2", "partitions[0].queues", 6),
    ]


@pytest.mark.rule("CFG-2", verdict="accepted")
def test_only_the_first_document_of_a_stream_is_read() -> None:
    spec = load_document("partitions: [{queues: [{name: a}]}]\n---\npartitions: 7\n--- [\n")
    assert [queue.path for queue in spec.queues] == ["root", "root.a"]


def test_a_byte_order_mark_and_bytes_are_read() -> None:
    assert load_document("\ufeffpartitions: [{queues: [{name: a}]}]".encode()).queues[1].path == "root.a"


def test_anchors_aliases_and_merges_work_and_own_keys_win() -> None:
    text = """
partitions:
- queues:
  - &base {name: a, resources: {max: &max {vcore: 1, memory: 2}}, submitacl: "*"}
  - {<<: *base, name: b, resources: {max: {<<: *max, memory: 3}}}
  - {<<: [{name: c}, *base]}
"""
    _, a, b, c = load_document(text).queues
    assert (a.path, b.path, c.path) == ("root.a", "root.b", "root.c")
    assert {queue.submit_acl for queue in (a, b, c)} == {"*"}
    assert b.max is not None
    assert dict(b.max.items()) == {"vcore": 1000, "memory": 3}
    assert a.max == c.max


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"partitions: \xc3\x28", "not UTF-8"),
        ("a: \ud800", "not UTF-8"),
        ("a: \x00", "control characters"),
        ("a: b: c", "not valid YAML"),
        ("a: [1", "not valid YAML"),
        ("\tpartitions: []", "not valid YAML"),
        ("a: *b", "no anchor"),
        ("a: &a [*a]", "refers to the value it stands in"),
        ("? [a]\n: b", "a key must be text"),
        ("~: b", "a key must be text"),
        ("a: {<<: 5}", "a merge takes"),
        ("a: !!python/object/apply:os.getpid []", "leave the tag out"),
        ("a: !secret x", "leave the tag out"),
        ("- a", "must be a mapping, not a list"),
        ("queues", "must be a mapping"),
    ],
)
def test_text_that_is_no_usable_yaml(text: str | bytes, message: str) -> None:
    assert message in only_problem(text)


def test_tags_of_the_core_schema_change_nothing_but_quote() -> None:
    text = "partitions: !!seq [{queues: [!!map {name: !!str 5, maxapplications: !!int 5}]}]"
    assert load_document(text).queues[1].path == "root.5"
    assert "whole number" in only_problem(text.replace("!!int", "!!str"))


def test_a_document_over_the_size_limit() -> None:
    assert "larger than 16 MiB" in only_problem("#" * (MAX_BYTES + 1))
    assert "larger than 16 MiB" in only_problem("é" * (MAX_BYTES // 2 + 1))


def test_one_huge_name_is_cut_in_the_report() -> None:
    problems = check_document("partitions: [{queues: [{name: %s}]}]" % ("x" * 1_000_000))
    assert [problem.rule for problem in problems] == ["CFG-9"]
    (unknown,) = check_document("%s: 1" % ('"' + "k" * 1_000_000 + '"'))
    assert len(str(problems[0])) < 1_000
    assert len(str(unknown)) < 1_000


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_nesting_over_the_limit(opening: str) -> None:
    assert "nested deeper" in only_problem(opening * 50_000) or "a key must be" in only_problem(
        opening * 50_000
    )


def test_the_deepest_tree_of_queues_allowed() -> None:
    levels = (MAX_DEPTH - 4) // 2
    assert len(load_document(nested_queues(levels)).queues) == levels + 1
    assert "nested deeper" in only_problem(nested_queues(levels + 1))


def test_an_alias_bomb_is_refused_before_it_is_built() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    assert f"more than {MAX_NODES} values" in only_problem("\n".join(lines))


def test_long_texts_count_by_their_length_when_aliases_repeat_them() -> None:
    length = 1_000_000
    copies = MAX_NODES * LONG_TEXT // length
    start = f"a: &a {'x' * length}\nb: ["
    assert f"more than {MAX_NODES} values" in only_problem(start + "*a, " * copies + "]")
    assert [problem.rule for problem in check_document(start + "*a, " * (copies - 2) + "]")] == [
        "CFG-1",
        "CFG-1",
    ]


def test_items_of_nothing_are_dropped_and_the_others_keep_their_lines() -> None:
    text = "partitions:\n- queues:\n  -\n  - name: a b\n  - ~\n  - name: c\n    limits:\n    -\n"
    text += "    - users: [~, 1]\n"
    problems = [(problem.rule, problem.path, problem.line) for problem in check_document(text)]
    at = "partitions[0].queues"
    assert problems == [
        ("CFG-9", f"{at}[0].name", 4),
        ("CFG-14", f"{at}[1].limits[0].users[0]", 9),
        ("CFG-19", f"{at}[1].limits[0]", 9),
    ]


def test_a_merge_counts_what_it_copies() -> None:
    lines = ["k0: &k0 {" + ", ".join(f"x{n}: 1" for n in range(100)) + "}"]
    lines += [f"k{n}: &k{n} {{<<: [{', '.join([f'*k{n - 1}'] * 100)}]}}" for n in range(1, 4)]
    assert f"more than {MAX_NODES} values" in only_problem("\n".join(lines))


def test_a_flat_document_of_too_many_values() -> None:
    assert f"more than {MAX_NODES} values" in only_problem("partitions: [" + "a," * MAX_NODES + "]")


def test_too_many_queues() -> None:
    text = "partitions: [{queues: [" + "{}," * (MAX_QUEUES + 1) + "]}]"
    assert f"at most {MAX_QUEUES}" in only_problem(text)
