"""Environments that isolate a command from this process."""

import contextlib
import io
import os
from collections.abc import Iterator
from unittest import mock

import structlog


@contextlib.contextmanager
def no_environment() -> Iterator[None]:
    """Run without the variables that Paddock may read."""
    inherited = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "TMPDIR")}
    with mock.patch.dict(os.environ, inherited, clear=True):
        yield


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Run a command without log output, and restore the process's log settings afterwards."""
    before = structlog.get_config()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            yield
        finally:
            structlog.configure(**before)
