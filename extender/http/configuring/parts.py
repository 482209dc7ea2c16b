"""Parts of the process that comparing and writing a queue document need."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.ledger.view import LedgerView
from extender.actions.audit import AuditLine
from extender.configuration.reload import LiveConfiguration

Read = Callable[[], Awaitable[Mapping[str, Any]]]
"""Function that reads the ConfigMap. Raises `NotThere` or `NotWritten` of `extender.configuration.edit`."""

Write = Callable[[str, str, str], Awaitable[str]]
"""Function that stores a text under a key over a version, and returns the new version.

Raises `Overtaken`, `NotThere` or `NotWritten`.
"""


@dataclass(frozen=True, slots=True)
class Configuring:
    """Parts of the process that comparing and writing a document need."""

    #: True if Paddock may write the ConfigMap for callers with the right.
    enabled: Callable[[], bool]
    #: Why no answer can be given now, or empty.
    unready: Callable[[], str]
    #: Configuration in force.
    configuration: LiveConfiguration
    #: The ledger as it is.
    view: Callable[[], LedgerView]
    #: Namespace of the ConfigMaps.
    namespace: str
    read: Read
    write: Write
    #: Seconds since the epoch.
    wall: Callable[[], float]
    #: Receives each line of the audit log.
    audit: Callable[[AuditLine], None]
    #: Each receives the message of an Event.
    tell_written: Callable[[str], None]
    tell_refused: Callable[[str], None]
