"""Lines of the Prometheus text format, version 0.0.4. No series of any kind is known here.

The library writes a counter only under a name that ends in ``_total``, and each number as a float. Some
names and numbers must be exact, so these are written here.
"""

import re
from typing import NamedTuple

_OTHER_SIGNS = re.compile(r"[^a-zA-Z0-9_]")


class Family(NamedTuple):
    """Series of one name. ``name`` may hold ``<queue>`` or ``<type>``, which stand for a part of it."""

    name: str
    #: ``counter``, ``gauge`` or ``histogram``.
    kind: str
    labels: tuple[str, ...]
    #: Text of HELP.
    meaning: str
    #: Rule of the specification; empty for a family of Paddock's own.
    rule: str = ""

    def named(self, part: str) -> "Family":
        """The family with ``part`` in the place that its name leaves open."""
        return self._replace(name=re.sub("<[a-z]+>", part, self.name))


def heading(family: Family) -> str:
    """Both lines before the samples of a family."""
    meaning = family.meaning.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {family.name} {meaning}\n# TYPE {family.name} {family.kind}\n"


def sample(name: str, labels: tuple[tuple[str, str], ...], value: int | float) -> str:
    """A line. A whole number is written in full, so no digit of it is lost."""
    inside = ",".join(f'{key}="{escaped(text)}"' for key, text in labels)
    return f"{name}{{{inside}}} {value}\n" if inside else f"{name} {value}\n"


def escaped(text: str) -> str:
    """The value of a label between its quotes."""
    if "\\" in text or '"' in text or "\n" in text:
        return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return text


def name_part(text: str) -> str:
    """A text as a part of a metric's name: every other sign becomes an underscore."""
    return _OTHER_SIGNS.sub("_", text)
