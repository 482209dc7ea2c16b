"""Rules of sentences, each with a text that breaks it."""

import pytest

from tests.architecture.reading.sources import Source
from tests.language.sentences import sentence_breaches, sentences
from tests.language.texts import Text, docstrings, prose, sections

LONG = "Seconds " + "and " * 24


def kinds_of(text: str) -> list[str]:
    return [each.kind for each in sentence_breaches(Text("core.a", "f", text), ["room", "told"])]


@pytest.mark.parametrize(
    "text",
    [
        "It ends the turn.",
        "Those that wait.",
        "One of the pods.",
        "The same for a node.",
        "What a pod uses.",
        "Who may submit.",
        "Whether a pod waits.",
        "**What** a queue gets back.",
        "Room on a node.",
        "Told to nobody.",
    ],
)
def test_a_first_word_that_stands_for_nothing_or_is_banned_is_found(text: str) -> None:
    assert kinds_of(text) == ["begins"]


@pytest.mark.parametrize(
    "text",
    [
        "End the turn.",
        "Pods that wait.",
        "Once a pod waits. It ends.",
        "Rooms.",
        "The sameness of two pods.",
        "`it` is a name.",
        "",
    ],
)
def test_an_imperative_or_a_noun_phrase_passes(text: str) -> None:
    assert kinds_of(text) == []


def test_the_length_of_a_sentence_is_bounded() -> None:
    assert kinds_of(LONG + "end.") == ["long"]
    assert kinds_of(LONG.replace("and ", "", 1) + "end.") == []
    assert kinds_of("Short. " + LONG + "end.") == ["long"]
    assert kinds_of(LONG + "end (QUO-3, LAW-2).") == ["long"]


def test_code_counts_as_one_word_and_rule_ids_as_none() -> None:
    text = LONG.replace("and ", "", 1) + "``a b c`` (QUO-3, QUO-4)."
    assert kinds_of(text) == []


def test_semicolons_do_not_chain_statements() -> None:
    assert kinds_of("A pod waits; it asks; it is refused.") == ["chain"]
    assert kinds_of("Seconds; None if it never was. Seconds; None if it is not known.") == []


def test_sentences_end_at_points_and_at_items_of_lists() -> None:
    assert list(
        sentences("A pod, e.g. one of a gang, waits. It\nasks: Yes.\n\nThen:\n- one item\n- `b` too")
    ) == [
        "A pod, e.g one of a gang, waits.",
        "It asks:",
        "Yes.",
        "Then:",
        "- one item",
        "- X too",
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("It waits. kube-scheduler tries again.", ["It waits.", "kube-scheduler tries again."]),
        ("A pod waits. totalNodes is 1.", ["A pod waits.", "totalNodes is 1."]),
        ("Is it bound? etcd knows! kubectl, too.", ["Is it bound?", "etcd knows!", "kubectl, too."]),
        ("(A pod waits.) kube-scheduler tries.", ["(A pod waits.", "kube-scheduler tries."]),
        ("**It waits.** kube-scheduler tries.", ["**It waits.", "kube-scheduler tries."]),
        ("Pods etc. wait, i.e. vs. 1.36 or v1.2 alone.", ["Pods etc wait, i.e vs 1.36 or v1.2 alone."]),
        ("Three: one, two: and three.", ["Three: one, two: and three."]),
        ("1. the first\n2. the second", ["1 the first", "2 the second"]),
    ],
)
def test_a_sentence_may_begin_with_a_name_in_lower_case(text: str, read: list[str]) -> None:
    assert list(sentences(text)) == read


def test_a_long_sentence_is_found_beside_names_in_lower_case() -> None:
    assert kinds_of("Short. kube-scheduler " + LONG + "end.") == ["long"]
    assert kinds_of(LONG + "kube-scheduler. kubectl waits.") == ["long"]


def test_a_list_of_names_is_no_sentence() -> None:
    names = ", ".join(["`a`", "QUO-3", "CONTRACT-2.1"] * 10)
    assert kinds_of(names) == []
    assert kinds_of(f"[LAW-1](a.md#law-1) {names}; `b`; `c`.") == []
    assert kinds_of(f"Names: {names}; and `b`; and `c`.") == ["long", "chain"]


MODULE = '''"""Module."""

#: Outside,
#: on two lines.
LIMIT = 1

NAME = 2
"""Below a name."""

class A:
    """Class."""
    #: Field.
    b: int = 1
    c: int
    """Below a field."""

    def f(self):
        """Method."""
        if True:
            def inner():
                """Inner."""
'''


def test_docstrings_of_every_kind_are_read_with_their_names() -> None:
    assert [(each.name, each.text) for each in docstrings(Source("core.a", MODULE))] == [
        ("-", "Module."),
        ("NAME", "Below a name."),
        ("A", "Class."),
        ("A.c", "Below a field."),
        ("A.f", "Method."),
        ("A.f.inner", "Inner."),
        ("#:LIMIT", "Outside,\non two lines."),
        ("#:b", "Field."),
    ]


PAGE = """# Title

Prose of the page,
on two lines.

| What | It |
|---|---|

![It](it.svg)

```sh
# no heading
```

## A `part` of it

- It is an item.

More prose.
"""


def test_sections_of_a_page_are_read_without_tables_lists_and_code() -> None:
    assert list(sections("docs/a.md", PAGE)) == [
        Text("docs/a.md", "title", "Prose of the page,\non two lines."),
        Text("docs/a.md", "a-part-of-it", "More prose."),
    ]


def test_prose_that_begins_with_emphasis_is_read() -> None:
    assert prose("**Learn.** An event.\n\n*Kueue: a word.*") == "**Learn.** An event."
