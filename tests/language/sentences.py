"""Rules for sentences: the beginning of the first one, the length, and one statement for each."""

import re
from collections.abc import Iterable, Iterator

from tests.language.breaches import Breach
from tests.language.texts import Text

LONGEST_SENTENCE = 25
"""The most words in one sentence."""

BAD_BEGINNINGS = frozenset(
    {
        *("it", "its", "those", "these", "they", "one"),
        *("what", "whatever", "who", "whoever", "whom", "whose", "whether"),
        *("nobody", "he"),
    }
)
"""First words without a known reference."""

FIRST_PHRASES = ("the same",)

_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\|))")
"""The end of a paragraph: an empty line, or the next item of a list."""

_CODE = re.compile(r"``.*?``|`[^`]*`", re.DOTALL)

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")

_IDS = re.compile(r"\s*\((?:[A-Z][A-Z0-9]*-\d+[^)]*)\)")
"""Rule ids in brackets, which are no words of the sentence."""

_SHORT = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|No)\.|^\s*(\d+)\.(?=\s)")
"""Points that end no sentence: of abbreviations, and of the number of an item."""

_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+|(?<=:)[\"')*_]*\s+(?=[^a-z\s])")
"""The end of a sentence.

A sentence may begin with a name in lower case, such as kube-scheduler. A colon ends one only before a capital
letter or code.
"""

_NAMES_ONLY = re.compile(r"(?:\bX\b|\b[A-Z][A-Z0-9]*-\d[\d.]*|[\W_])+")
"""A list of code or of rule ids, which is no sentence."""


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a text on one line each, with ``X`` for code and rule ids left out."""
    for block in _BLOCK.split(text):
        if block.startswith((">>>", "    ")) or block.lstrip().startswith("|"):
            continue
        plain = _LINK.sub(r"\1", _CODE.sub("X", _IDS.sub("", block)))
        yield re.sub(r"\s+", " ", _SHORT.sub(r"\1\2", plain)).strip()


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text."""
    for paragraph in paragraphs(text):
        if not _NAMES_ONLY.fullmatch(paragraph):
            yield from (each for each in _END.split(paragraph) if each)


def parts_of(sentence: str) -> list[str]:
    """The parts of a sentence with a letter or a digit."""
    return [each for each in sentence.split() if re.search(r"\w", each)]


def begins_badly(text: str, banned: Iterable[str] = ()) -> bool:
    """True if the first word has no known reference, or is banned."""
    first = re.sub(r"[^\w ]", "", next(iter(paragraphs(text)), "")).lower()
    word = first.partition(" ")[0]
    return (
        word in BAD_BEGINNINGS
        or word in banned
        or first.startswith(tuple(f"{each} " for each in FIRST_PHRASES))
    )


def sentence_breaches(text: Text, banned: Iterable[str] = ()) -> Iterator[Breach]:
    """Breaches of the rules in one text, one of each kind at most."""
    read = [*sentences(text.text)]
    if begins_badly(text.text, frozenset(banned)):
        yield Breach("begins", text.module, text.name, read[0])
    if long := [each for each in read if len(parts_of(each)) > LONGEST_SENTENCE]:
        yield Breach("long", text.module, text.name, long[0])
    if chained := [each for each in read if each.count(";") > 1]:
        yield Breach("chain", text.module, text.name, chained[0])
