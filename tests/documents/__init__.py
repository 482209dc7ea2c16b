"""Tests of the documents: cited rules and targets of links exist."""
