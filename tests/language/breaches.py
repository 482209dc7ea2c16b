"""A breach of a rule of the language."""

from typing import NamedTuple


class Breach(NamedTuple):
    """A place that breaks a rule. ``kind``: the rule; ``detail``: the word or the sentence."""

    kind: str
    module: str
    name: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} {self.module} {self.name}: {self.detail}"
