"""Histories of administration, for `tests.histories.runner`."""

from tests.histories.administration.orders import play

__all__ = ["play"]
