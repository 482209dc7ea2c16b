"""Histories of explanations, for `tests.histories.runner`."""

from tests.histories.explanation.checking import figures, play, unreached

__all__ = ["figures", "play", "unreached"]
