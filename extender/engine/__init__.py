"""The engine, which owns the ledger and connects it with verbs, watches, timers and effects."""
