"""Sources of all answers: the ledger's view, stored data beside it, and facts about the process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from core.ids import PodUid
from core.ledger.view import LedgerView
from core.queues.spec import PartitionSpec
from core.resource import Resource
from core.workload.application import Application
from extender.queueconfig.schema import QueuesDocument
from extender.rest.model.applications import LogEntry, ResourceHistory

PARTITION = "default"
"""Name of the only partition."""


@dataclass(frozen=True, slots=True)
class Process:
    """Facts that do not change while the process runs."""

    #: Start time, in seconds since 1970.
    started: float = 0.0
    #: Id of the cluster, from the service key ``service.clusterId``.
    cluster_id: str = "mycluster"
    #: Version of Paddock.
    version: str = ""
    #: Build date; empty if unknown.
    build_date: str = ""
    #: Architecture of the machine; empty if unknown.
    arch: str = ""
    #: Random UUID of the process, in lower case.
    instance: str = ""


@dataclass(frozen=True, slots=True)
class InForce:
    """The configuration in force."""

    #: Partition in the ledger; None before the first document.
    partition: PartitionSpec | None = None
    #: Document as written; None before the first.
    document: QueuesDocument | None = None
    #: SHA-256 of the document (SRC-9).
    checksum: str = ""
    #: Service keys.
    keys: Mapping[str, str] = field(default_factory=dict)
    #: Time at which the first document was applied, in seconds since 1970.
    since: float = 0.0
    #: Time at which the document in force was applied, in seconds since 1970.
    applied: float = 0.0


class Past(Protocol):
    """Source of past data that the ledger does not store."""

    def peak(self, application: Application) -> Resource:
        """Return the peak usage of an application, by resource."""

    def history(self, application: Application) -> ResourceHistory:
        """Return the sums over the application's ended allocations."""

    def reasons(self, uid: PodUid) -> tuple[LogEntry, ...]:
        """Return the reasons given for a pod's wait, oldest first."""


class NoPast:
    """Past of a process that has just started: always empty."""

    def peak(self, application: Application) -> Resource:  # noqa: ARG002 - no application has a past
        """Return no amounts."""
        return Resource({})

    def history(self, application: Application) -> ResourceHistory:  # noqa: ARG002
        """Return no sums."""
        return ResourceHistory()

    def reasons(self, uid: PodUid) -> tuple[LogEntry, ...]:  # noqa: ARG002
        """Return no reasons."""
        return ()


NO_PAST = NoPast()


@dataclass(frozen=True, slots=True)
class Facts:
    """All sources of one answer. The view is live, so an instance must not be used after an ``await``."""

    view: LedgerView
    process: Process = Process()
    config: InForce = InForce()
    past: Past = NO_PAST
