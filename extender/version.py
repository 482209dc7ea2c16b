"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

UNKNOWN = "unknown"


def version() -> str:
    """Version of Paddock, or `UNKNOWN` if it runs without being installed."""
    try:
        return version_of("paddock")
    except PackageNotFoundError:
        return UNKNOWN
