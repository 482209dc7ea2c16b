"""Commands of `kubectl paddock`, one module for each subject."""
