"""Every breach in the repository: in names, docstrings, comments of fields, and documents."""

from functools import cache

from tests.architecture.reading.sources import sources
from tests.architecture.tables import tables
from tests.language.breaches import Breach
from tests.language.names import name_breaches
from tests.language.sentences import sentence_breaches
from tests.language.texts import every_docstring, every_section


@cache
def every_breach() -> tuple[Breach, ...]:
    """Breaches of all rules, with those that a list excepts."""
    house, read = tables(), sources()
    return (
        *(breach for source in read for breach in name_breaches(source, house)),
        *(breach for text in every_docstring(read) for breach in sentence_breaches(text, house.banned)),
        *(breach for text in every_section() for breach in sentence_breaches(text)),
    )
