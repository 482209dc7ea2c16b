"""Pages of `docs/reference` that are written from the code.

``python -m tests.documents.reference`` writes them.
"""
