"""Every breach in the repository: in names, docstrings, comments of fields, and documents."""

from collections.abc import Iterable

from tests.architecture.reading.sources import Source, sources
from tests.architecture.tables import tables
from tests.language.breaches import Breach
from tests.language.names import name_breaches
from tests.language.sentences import sentence_breaches
from tests.language.texts import Text, every_docstring, every_section


def breaches_in(read: Iterable[Source], sections: Iterable[Text]) -> list[Breach]:
    """Return the breaches of all rules, in names and texts of modules and in sections of documents."""
    house, modules = tables(), list(read)
    return [
        *(breach for source in modules for breach in name_breaches(source, house)),
        *(breach for text in every_docstring(modules) for breach in sentence_breaches(text, house.banned)),
        *(breach for text in sections for breach in sentence_breaches(text)),
    ]


def every_breach() -> list[Breach]:
    """Return the breaches in all modules and documents."""
    return breaches_in(sources(), every_section())
