"""Histories of explanations, for `tests.histories.runner`."""

from tests.histories.explanation.frozen import figures, play

__all__ = ["figures", "play"]
