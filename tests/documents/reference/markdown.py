"""Markdown of a page that is written by a program."""

from collections.abc import Iterable, Sequence

NOTICE = "<!-- Written by `python -m tests.documents.reference`; do not edit. -->"


def page(*parts: str) -> str:
    """A page of paragraphs and tables, with the notice above."""
    return "\n\n".join([NOTICE, *parts]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. A bar inside a cell is escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(each.replace('|', '&#124;') for each in line)} |" for line in lines)


def code(text: object) -> str:
    """Text in the font of code; nothing for an empty one."""
    return f"`{text}`" if str(text) else ""


def codes(texts: Iterable[str]) -> str:
    return ", ".join(code(each) for each in texts)


def sentence(text: str) -> str:
    """The text with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
