"""Actions of administrators: how they are requested, stored and written to the audit log. No I/O."""
