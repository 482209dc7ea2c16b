"""The engine: owner of the ledger between the verbs, the watches, the timers and the effects."""
