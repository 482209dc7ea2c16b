"""Translation of YuniKorn's queue documents into the queues of the core, or into all errors. Pure.

``load`` runs the steps in order. ``document`` and ``parsing`` read the text, ``rules`` check it, and
``translation`` makes the values. ``surprises`` finds valid parts with an unexpected effect.
"""
