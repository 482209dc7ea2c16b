"""Changes of new pods by a webhook, in place of the policies that newer API servers have. No I/O."""
