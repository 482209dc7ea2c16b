"""Tests of the documents: what they say about rules exists, and what they link to is there."""
