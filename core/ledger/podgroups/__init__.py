"""Pod groups in the ledger: membership, attempts, admission."""
