"""Environments in which a command neither takes from this process nor leaves anything behind in it."""

import contextlib
import io
import os
from collections.abc import Iterator
from unittest import mock

import structlog


@contextlib.contextmanager
def no_environment() -> Iterator[None]:
    """Run with none of the variables that Paddock may read."""
    inherited = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "TMPDIR")}
    with mock.patch.dict(os.environ, inherited, clear=True):
        yield


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Run a command whose logs go nowhere, and the process's own settings for logs come back."""
    before = structlog.get_config()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            yield
        finally:
            structlog.configure(**before)
