"""Actions of administrators over HTTP."""
