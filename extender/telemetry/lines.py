"""Lines of the Prometheus text format, version 0.0.4. This module knows no particular series.

The library writes a counter only under a name that ends in ``_total``, and each number as a float. Some
names and numbers must be exact, so these are written here.
"""

import re
from typing import NamedTuple

_OTHER_SIGNS = re.compile(r"[^a-zA-Z0-9_]")


class Family(NamedTuple):
    """Series of one name. ``name`` may contain the variables ``<queue>`` or ``<type>``."""

    name: str
    #: ``counter``, ``gauge`` or ``histogram``.
    kind: str
    labels: tuple[str, ...]
    #: Text of the HELP line.
    meaning: str
    #: Rule of the specification; empty for a family of Paddock's own.
    rule: str = ""

    def named(self, part: str) -> "Family":
        """Return the family with ``part`` in place of the variable in its name."""
        return self._replace(name=re.sub("<[a-z]+>", part, self.name))


def heading(family: Family) -> str:
    """Return the two lines before the samples of a family."""
    meaning = family.meaning.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {family.name} {meaning}\n# TYPE {family.name} {family.kind}\n"


def sample(name: str, labels: tuple[tuple[str, str], ...], value: int | float) -> str:
    """Return a sample's line. A whole number is written with all of its digits."""
    inside = ",".join(f'{key}="{escaped(text)}"' for key, text in labels)
    return f"{name}{{{inside}}} {value}\n" if inside else f"{name} {value}\n"


def escaped(text: str) -> str:
    """Escape a label's value."""
    if "\\" in text or '"' in text or "\n" in text:
        return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return text


def name_part(text: str) -> str:
    """Convert a text to a part of a metric's name. Invalid characters become underscores."""
    return _OTHER_SIGNS.sub("_", text)
