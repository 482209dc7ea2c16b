"""The ledger: state, the handlers of events, and read access for the rules."""
