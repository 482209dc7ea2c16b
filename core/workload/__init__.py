"""Values about pods, applications, gangs, pod groups and nodes. No state of the ledger."""
