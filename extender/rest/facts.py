"""Facts that answers are made from: the ledger's view, memory beside it, and facts of the process."""

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
    """Facts that do not change while the process lives."""

    #: Time at which it began, in seconds since 1970.
    started: float = 0.0
    #: Id of the cluster: the service key ``service.clusterId``.
    cluster_id: str = "mycluster"
    #: Version of Paddock.
    version: str = ""
    #: Date of its build; empty if unknown.
    build_date: str = ""
    #: Architecture of the machine; empty if unknown.
    arch: str = ""
    #: Random id of the process, a UUID in lower case.
    instance: str = ""


@dataclass(frozen=True, slots=True)
class InForce:
    """The configuration in force."""

    #: Partition as the ledger has it; None before the first document.
    partition: PartitionSpec | None = None
    #: Document as written; None before the first.
    document: QueuesDocument | None = None
    #: SHA-256 of the document (SRC-9).
    checksum: str = ""
    #: Service keys.
    keys: Mapping[str, str] = field(default_factory=dict)
    #: Time at which the first document was applied, in seconds since 1970.
    since: float = 0.0


class Past(Protocol):
    """Memory of what the ledger does not keep."""

    def peak(self, application: Application) -> Resource:
        """Most that an application used of each resource."""

    def history(self, application: Application) -> ResourceHistory:
        """Sums over its allocations that have ended."""

    def reasons(self, uid: PodUid) -> tuple[LogEntry, ...]:
        """Reasons that a pod was given, the latest last."""


class NoPast:
    """Memory of a process that has just begun."""

    def peak(self, application: Application) -> Resource:  # noqa: ARG002 - nothing is known of any
        """Nothing."""
        return Resource({})

    def history(self, application: Application) -> ResourceHistory:  # noqa: ARG002
        """No sums."""
        return ResourceHistory()

    def reasons(self, uid: PodUid) -> tuple[LogEntry, ...]:  # noqa: ARG002
        """No reasons."""
        return ()


NO_PAST = NoPast()


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that an answer says, at one moment. Never kept over an ``await``: the view is live."""

    view: LedgerView
    process: Process = Process()
    config: InForce = InForce()
    past: Past = NO_PAST
